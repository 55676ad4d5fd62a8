// The nodes of a team, a line each: whether it is there, what of the work is with it, and how its clock goes.
import type { NodeRow } from "@/api/types";
import { DueIn, Glyph } from "@/components";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { Tag, toneText } from "@/primitives";
import { infrastructureWords } from "./words";

/** Beyond this a node starts nothing: it would be early or late. */
const CLOCK_OFF_MS = 1_000;

export function Nodes({ of: rows }: { of: readonly NodeRow[] }) {
  const w = useWords(infrastructureWords).nodes;
  return (
    <section aria-label={w.title} data-testid="nodes" className="shrink-0 px-5 pb-5">
      <h2 className="mb-2 font-semibold text-sm">{w.title}</h2>
      {/* A tab stop, so that more of them than fit are reached by keys. */}
      <ul tabIndex={0} className="panel max-h-60 divide-y divide-line overflow-y-auto">
        {rows.map((row) => (
          <Node key={row.node} of={row} />
        ))}
      </ul>
    </section>
  );
}

function Node({ of: row }: { of: NodeRow }) {
  const w = useWords(infrastructureWords).nodes;
  const tone = row.live ? "ok" : "bad";
  const off = Math.abs(row.offset_ms) >= CLOCK_OFF_MS;
  const offset = `${row.offset_ms > 0 ? "+" : row.offset_ms < 0 ? "−" : "±"}${Math.abs(row.offset_ms)}`;
  const reached = [row.console_at, row.executors_at].filter(Boolean).join(", ");
  return (
    <li data-node={row.name} className={cx("flex min-h-10 items-center gap-3 px-3 py-1.5", !row.live && "text-ink-3")}>
      <span className="min-w-0 flex-1" title={row.node}>
        <span className="prose-nums block truncate font-medium">{row.name}</span>
        <span className="block truncate text-2xs text-ink-3">
          {row.version}
          {reached && ` · ${reached}`}
        </span>
      </span>
      <span className={cx("inline-flex w-23 shrink-0 items-center gap-1.5 whitespace-nowrap", toneText[tone])}>
        <Glyph shape={row.live ? "check" : "broken"} tone={tone} />
        {row.live ? w.live : w.gone}
      </span>
      <span className="w-34 shrink-0 truncate" title={w.leadsTitle}>
        {w.leads(row.live ? row.partitions : 0, row.partitions_of)}
      </span>
      <span className="flex min-w-0 flex-1 flex-wrap gap-1">
        {row.duties.map((duty) => (
          <span key={duty} title={w.dutyMeaning[duty]}>
            <Tag whole>{w.duties[duty]}</Tag>
          </span>
        ))}
      </span>
      <span
        className={cx("w-30 shrink-0 text-right text-xs", off ? "font-medium text-warn" : "text-ink-3")}
        title={w.clockTitle}
      >
        {w.clock(offset)}
        {off && " ▲"}
      </span>
      <span className="w-18 shrink-0 text-right" title={row.live ? w.since : w.seen}>
        <DueIn at={(row.live ? row.since : row.seen).ms} quiet />
      </span>
    </li>
  );
}
