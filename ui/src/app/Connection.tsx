// Where this window is connected, and whether it still is. In the desktop it is also the way to another place: this
// machine, or one of the teams that it knows.
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Check, ChevronsUpDown, Database, Plug } from "lucide-react";
import { Button as Pressable } from "react-aria-components";
import { inDesktop } from "@/api/door";
import { useLive } from "@/api/live";
import { placesQuery, useLookAt, useTeam } from "@/api/places";
import type { Fault } from "@/api/types";
import { type LinkColour, linkGround, linkPill } from "@/components/link";
import { cx } from "@/lib/cx";
import { span } from "@/lib/relative";
import { useLang, useSaid, useWords } from "@/lib/words";
import { Hint, Menu, type MenuEntry, toast } from "@/primitives";
import { teamWords } from "./teamWords";
import { useEverySecond } from "./useEverySecond";
import { shellWords } from "./words";

/** The machine and port of a node's address. */
export const nodeName = (address: string) => address.replace(/^https?:\/\//, "");

export function Connection({ name }: { name: string }) {
  const w = useWords(shellWords);
  const t = useWords(teamWords);
  const { team, node, reads } = useTeam();
  const phase = useLive((live) => live.phase);
  const colour: LinkColour = team?.colour ?? "local";
  const shown = team?.name ?? (name === "local" ? w.local : name);
  const pill = (
    <Pressable
      aria-label={inDesktop ? `${t.menu}: ${shown}` : undefined}
      data-testid="place"
      data-place={team?.name ?? "local"}
      className={cx(
        "flex h-6 min-w-0 shrink-0 items-center gap-1.5 rounded-sm px-2 font-medium text-xs outline-none focus-visible:outline-2 focus-visible:outline-focus",
        linkPill[colour],
      )}
    >
      <span className={cx("size-1.5 shrink-0 rounded-full", linkGround[colour])} />
      <span className="max-w-40 truncate">{shown}</span>
      {inDesktop && <ChevronsUpDown size={12} className="-mr-0.5 shrink-0 opacity-70" />}
    </Pressable>
  );
  return (
    <div className="flex min-w-0 items-center gap-2.5">
      {inDesktop ? <Places>{pill}</Places> : <Hint text={w.localHint}>{pill}</Hint>}
      {team && reads && phase !== "lost" ? (
        <ReadFromDatabase why={reads} />
      ) : (
        <NodeState node={team && node ? nodeName(node) : null} />
      )}
    </div>
  );
}

function Places({ children }: { children: React.ReactElement }) {
  const t = useWords(teamWords);
  const navigate = useNavigate();
  const { data } = useQuery(placesQuery());
  const lookAt = useLookAt();
  const current = data?.current ?? null;
  const place = (id: string | null, name: string, colour: LinkColour): MenuEntry => ({
    id: id ?? "local",
    label: name,
    icon: (
      <span className="flex w-6 items-center justify-between">
        <span className={cx("size-2 rounded-full", linkGround[colour])} />
        {current === id && <Check size={14} />}
      </span>
    ),
    run: () => {
      if (current === id) return;
      // What was open belongs to the place before.
      void navigate({ to: "/" });
      lookAt.mutate(id, { onSuccess: () => toast({ text: t.now(name) }) });
    },
  });
  const rows = data?.rows ?? [];
  return (
    <Menu
      label={t.menu}
      items={[
        place(null, t.here, "local"),
        ...rows.map((row) => place(row.id, row.name, row.colour)),
        "line",
        {
          id: "connect",
          label: rows.length === 0 ? t.connect : t.manage,
          icon: (
            <span className="flex w-6">
              <Plug />
            </span>
          ),
          run: () => void navigate({ to: "/settings", search: rows.length === 0 ? { team: "new" } : {} }),
        },
      ]}
    >
      {children}
    </Menu>
  );
}

/** No node of the team can be reached; what there is to see is seen all the same. */
function ReadFromDatabase({ why }: { why: Fault }) {
  const t = useWords(teamWords);
  const said = useSaid();
  return (
    <Hint text={`${said(why.message)} (${why.code}). ${t.readsHint}`}>
      <Pressable
        className="flex min-w-0 items-center gap-1.5 rounded-sm bg-warn-soft px-2 py-0.5 text-ink-2 text-xs outline-none focus-visible:outline-2 focus-visible:outline-focus"
        data-testid="reads-database"
      >
        <Database size={12} className="shrink-0" aria-hidden="true" />
        <span className="truncate">{t.reads}</span>
      </Pressable>
    </Hint>
  );
}

function NodeState({ node }: { node: string | null }) {
  const w = useWords(shellWords);
  const t = useWords(teamWords);
  const lang = useLang();
  const phase = useLive((live) => live.phase);
  const heardAt = useLive((live) => (live.phase === "lost" ? live.heardAt : null));
  const state = useLive(({ status }) => status?.node ?? null);
  useEverySecond();
  const age = heardAt === null ? null : span(Math.max(1_000, Date.now() - heardAt), lang);
  const lost = node
    ? age === null
      ? t.trying(node)
      : t.tryingFor(node, age)
    : age === null
      ? w.node.lost
      : w.lostFor(age);
  const said =
    phase === "lost"
      ? lost
      : state === null
        ? w.node.connecting
        : state === "leading"
          ? w.node.leader
          : state === "standby"
            ? w.node.follower
            : w.node.starting;
  const by = node && phase !== "lost" ? `${said} · ${t.by(node)}` : said;
  return (
    <output
      className={cx(
        "flex min-w-0 items-center gap-1.5 text-xs",
        phase === "lost" ? "rounded-sm bg-bad-soft px-2 py-0.5 font-medium text-bad" : "text-ink-3",
      )}
      title={by}
      data-testid="node-state"
      data-phase={phase}
      data-node={node ?? ""}
    >
      <span
        aria-hidden="true"
        className={cx(
          "size-2 shrink-0",
          phase === "lost"
            ? "rotate-45 bg-bad"
            : state === "leading"
              ? "rounded-full bg-ok"
              : "rounded-full border-[1.5px] border-ink-3",
        )}
      />
      <span className="truncate">{by}</span>
    </output>
  );
}
