// The blackout windows of one job: those of the workspace that it names, and windows of its own. Those that are for it
// anyway stand in the list of next runs, at the runs they hold back.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ban, Clock, Plus, X } from "lucide-react";
import { blackoutsQuery } from "@/api/blackouts";
import { emptyWindow, WindowFields } from "@/components/schedule";
import { useSaid, useWords } from "@/lib/words";
import { Button, IconButton, Menu } from "@/primitives";
import type { BlackoutDraft, PartProps } from "./draft";
import { timeWords } from "./timeWords";

export function JobBlackouts({ draft, set, error, zones }: PartProps) {
  const t = useWords(timeWords).blackouts;
  const said = useSaid();
  const rows = useQuery(blackoutsQuery()).data?.rows ?? [];
  const { blackouts } = draft;
  const free = rows.filter((row) => !blackouts.some((each) => "named" in each && each.named === row.name));
  const put = (next: (old: BlackoutDraft[]) => BlackoutDraft[]) =>
    set((old) => ({ blackouts: next(old.blackouts) }), []);
  const change = (i: number, next: (old: BlackoutDraft) => BlackoutDraft) =>
    set((old) => ({ blackouts: old.blackouts.map((each, k) => (k === i ? next(each) : each)) }), [`blackouts.${i}`]);
  return (
    <div role="group" aria-label={t.title} className="mb-2">
      <div className="flex min-h-8 flex-wrap items-center gap-x-2 gap-y-1">
        <span className="shrink-0 font-medium text-ink-2 text-xs">{t.title}</span>
        <span className="min-w-52 flex-1 text-ink-3 text-xs">
          {blackouts.length === 0 ? `${t.none} ` : ""}
          <Link to="/settings" className="text-accent-ink hover:underline">
            {t.hint}
          </Link>
        </span>
        <div className="ml-auto flex gap-2">
          <Menu
            label={t.name}
            items={free.map((row) => ({
              id: row.name,
              label: row.name,
              icon: <Ban />,
              run: () => put((old) => [...old, { named: row.name }]),
            }))}
          >
            <Button size="sm" icon={<Plus />} why={free.length === 0 ? t.noneToName : null}>
              {t.name}
            </Button>
          </Menu>
          <Button
            size="sm"
            icon={<Plus />}
            onPress={() => put((old) => [...old, { own: emptyWindow(draft.zone, draft.repeat.start.slice(0, 16)) }])}
          >
            {t.own}
          </Button>
        </div>
      </div>
      {error("blackouts") && blackouts.length === 0 && <p className="text-bad text-xs">{error("blackouts")}</p>}
      {blackouts.length > 0 && (
        <ul className="mt-1 rounded-md ring-1 ring-line ring-inset">
          {blackouts.map((each, i) => {
            const named = "named" in each ? rows.find((row) => row.name === each.named) : null;
            const wrong = error(`blackouts.${i}`);
            const drop = (
              <IconButton
                size="sm"
                label={"named" in each ? t.remove(each.named) : t.removeOwn}
                icon={<X />}
                onPress={() => put((old) => old.filter((_, k) => k !== i))}
              />
            );
            if ("named" in each)
              return (
                <li
                  key={each.named}
                  className="flex min-h-10 items-center gap-2 border-line border-b px-3 py-1 last:border-b-0"
                >
                  <Ban size={15} className="shrink-0 text-ink-3" />
                  <span className="prose-nums shrink-0 font-medium">{each.named}</span>
                  <span
                    className={wrong ? "min-w-0 flex-1 text-bad text-xs" : "min-w-0 flex-1 truncate text-ink-3 text-xs"}
                  >
                    {wrong ?? (named && said(named.words))}
                  </span>
                  {drop}
                </li>
              );
            return (
              <li key={i} className="flex items-start gap-2 border-line border-b px-3 py-2 last:border-b-0">
                <Clock size={15} className="mt-0.5 shrink-0 text-ink-3" />
                <div className="min-w-0 flex-1">
                  <div className="mb-1 font-medium">{t.ownTitle}</div>
                  <WindowFields
                    draft={each.own}
                    set={(next) => change(i, (old) => ("own" in old ? { own: next(old.own) } : old))}
                    error={(field) => error(`blackouts.${i}.${field}`)}
                    zones={zones}
                  />
                </div>
                {drop}
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
