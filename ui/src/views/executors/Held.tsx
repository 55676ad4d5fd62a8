// What is held and by which limit, live: a line for each reason, the one that holds most first. Nothing held, nothing said.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Cpu, Gauge, Hand, Hourglass, UserX } from "lucide-react";
import type { ReactNode } from "react";
import { heldQuery } from "@/api/limits";
import type { HeldKind, HeldRow } from "@/api/types";
import { DueIn } from "@/components";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { type Tone, toneText } from "@/primitives";
import { limitWords } from "./limitWords";

const LOOK: Record<HeldKind, { icon: ReactNode; tone: Tone }> = {
  hold: { icon: <Hand />, tone: "stopped" },
  absence: { icon: <UserX />, tone: "bad" },
  busy: { icon: <Hourglass />, tone: "idle" },
  machine: { icon: <Cpu />, tone: "warn" },
  limit: { icon: <Gauge />, tone: "warn" },
};

/** More reasons than these are counted. */
const SHOWN = 6;

export function Held() {
  const w = useWords(limitWords);
  const { data } = useQuery(heldQuery());
  if (!data || data.rows.length === 0) return null;
  const all = data.rows.reduce((sum, row) => sum + row.tasks, 0);
  const more = data.rows.length - SHOWN;
  return (
    <section aria-label={w.held(all)} data-testid="held" className="shrink-0 px-5 pb-3">
      <div className="panel overflow-hidden">
        <header className="flex items-baseline gap-2 border-line border-b px-3 py-1.5">
          <h2 className="font-medium">{w.held(all)}</h2>
          <span className="truncate text-ink-3 text-xs">{w.heldNote}</span>
        </header>
        <ul className="divide-y divide-line">
          {data.rows.slice(0, SHOWN).map((row) => (
            <Reason key={`${row.kind}-${row.words.en}`} of={row} />
          ))}
        </ul>
        {more > 0 && <p className="border-line border-t px-3 py-1 text-ink-3 text-xs">{w.more(more)}</p>}
      </div>
    </section>
  );
}

function Reason({ of: row }: { of: HeldRow }) {
  const w = useWords(limitWords);
  const said = useSaid();
  const { icon, tone } = LOOK[row.kind];
  return (
    <li data-kind={row.kind} className="flex min-h-8 items-center gap-3 px-3 py-1">
      <span className="prose-nums w-14 shrink-0 text-right font-semibold">{w.tasks(row.tasks)}</span>
      <span className={cx("inline-flex w-28 shrink-0 items-center gap-1.5 text-xs [&_svg]:size-3.5", toneText[tone])}>
        {icon}
        {w.kinds[row.kind]}
      </span>
      <span className="min-w-0 flex-1 truncate" title={said(row.words)}>
        {said(row.words)}
      </span>
      {row.job && (
        <Link
          to="/jobs/$job"
          params={{ job: row.job }}
          className="shrink-0 rounded-sm text-accent-ink text-xs outline-none hover:underline focus-visible:outline-2 focus-visible:outline-focus"
        >
          {w.openJob}
        </Link>
      )}
      <span className="shrink-0">
        <DueIn at={row.since.ms} quiet />
      </span>
    </li>
  );
}
