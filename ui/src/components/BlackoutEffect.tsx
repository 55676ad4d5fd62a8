// What a blackout window would hold back, before it is put: which jobs lose how many firings, and what becomes of them. For
// a window that is there already, against what it holds back now.
import { useQuery } from "@tanstack/react-query";
import { ArrowRight } from "lucide-react";
import { blackoutEffectQuery } from "@/api/blackouts";
import type { BlackoutEffect, EffectRow, PutBlackout } from "@/api/types";
import { cx } from "@/lib/cx";
import { stretch } from "@/lib/stretch";
import { figure, useSaid, useWords, words } from "@/lib/words";
import { Skeleton } from "@/primitives";

const FEW_SPANS = 4;
const FEW_JOBS = 12;

const effectWords = words(
  {
    title: "What it holds back",
    next: "In the next 31 days",
    never: "It does not come in the next 31 days.",
    nothing: "Nothing would have fired in it.",
    sums: (runs: number, jobs: number) =>
      `${figure(runs)} ${runs === 1 ? "firing" : "firings"} of ${figure(jobs)} ${jobs === 1 ? "job" : "jobs"}`,
    asNow: "No more and no less than now.",
    moreSpans: (n: number) => `and ${figure(n)} more ${n === 1 ? "time" : "times"}`,
    moreJobs: (n: number) => `and ${figure(n)} more ${n === 1 ? "job" : "jobs"}`,
    notAll: "More jobs are held back than are listed.",
    first: (at: string) => `first ${at}`,
    none: "none any more",
  },
  {
    title: "将被拦下的触发",
    next: "未来 31 天",
    never: "未来 31 天内不会出现。",
    nothing: "其间没有任何触发。",
    sums: (runs: number, jobs: number) => `${figure(jobs)} 个任务的 ${figure(runs)} 次触发`,
    asNow: "与现在相同。",
    moreSpans: (n: number) => `另有 ${figure(n)} 次`,
    moreJobs: (n: number) => `另有 ${figure(n)} 个任务`,
    notAll: "还有更多任务未列出。",
    first: (at: string) => `首次 ${at}`,
    none: "不再有",
  },
);

interface Change {
  name: string;
  job: string;
  before: number;
  /** None: it loses nothing any more. */
  row: EffectRow | null;
}

/** Each job that loses firings now or would, the one that would lose most first. */
export function changesOf(before: BlackoutEffect | null, after: BlackoutEffect): Change[] {
  const was = new Map((before ?? { rows: [] }).rows.map((row) => [row.job, row]));
  const kept = after.rows.map((row) => ({ name: row.name, job: row.job, before: was.get(row.job)?.count ?? 0, row }));
  const gone = [...was.values()].filter((row) => !after.rows.some((each) => each.job === row.job));
  return [
    ...kept.toSorted((a, b) => b.row.count - a.row.count),
    ...gone.map((row) => ({ name: row.name, job: row.job, before: row.count, row: null })),
  ];
}

/** As it is known: `effect` of what would be put; `put` asks for it and for what is `held` now. */
export function EffectOf({
  effect,
  held,
  stale,
}: {
  effect: BlackoutEffect;
  held: PutBlackout | null;
  stale: boolean;
}) {
  const w = useWords(effectWords);
  const said = useSaid();
  const now = useQuery({ ...blackoutEffectQuery(held ?? NOTHING), enabled: held !== null });
  const before = held === null ? null : (now.data ?? null);
  const changes = changesOf(before, effect);
  const runs = effect.rows.reduce((sum, row) => sum + row.count, 0);
  const same = before !== null && changes.every((each) => each.row?.count === each.before);
  const more = effect.windows.length - FEW_SPANS;
  return (
    <section data-testid="blackout-effect" aria-busy={stale} className={cx("min-w-0", stale && "opacity-60")}>
      <div className="eyebrow mb-1">{w.next}</div>
      {effect.windows.length === 0 ? (
        <p className="text-ink-2">{w.never}</p>
      ) : (
        <ul className="mb-3 text-xs">
          {effect.windows.slice(0, FEW_SPANS).map((span) => (
            <li key={span.from.ms} className="leading-5.5">
              {stretch(span.from, span.until)}
            </li>
          ))}
          {more > 0 && <li className="text-ink-3 leading-5.5">{w.moreSpans(more)}</li>}
        </ul>
      )}
      <div className="eyebrow mb-1">{w.title}</div>
      {changes.length === 0 ? (
        <p className="text-ok">✓ {w.nothing}</p>
      ) : (
        <p className={cx("mb-1.5 font-medium", runs > 0 && "text-warn")}>{w.sums(runs, effect.rows.length)}</p>
      )}
      {same && changes.length > 0 && <p className="mb-1.5 text-ink-3 text-xs">{w.asNow}</p>}
      <ul className="flex flex-col gap-1.5">
        {changes.slice(0, FEW_JOBS).map((each) => (
          <li key={each.job} data-testid="effect-row" data-name={each.name} className="min-w-0">
            <div className="flex items-baseline gap-2">
              <span className="prose-nums min-w-0 flex-1 truncate font-medium" title={each.name}>
                {each.name}
              </span>
              <span className="inline-flex shrink-0 items-center gap-1 text-xs">
                {before !== null && each.before !== (each.row?.count ?? 0) && (
                  <>
                    <span className="text-ink-3 line-through">×{figure(each.before)}</span>
                    <ArrowRight size={11} className="text-ink-3" aria-hidden="true" />
                  </>
                )}
                <span className={each.row ? "font-medium" : "text-ok"}>
                  {each.row ? `×${figure(each.row.count)}` : w.none}
                </span>
              </span>
            </div>
            {each.row && (
              <div className="text-ink-3 text-xs">
                {w.first(stretch(each.row.first, each.row.first))} · {said(each.row.words)}
              </div>
            )}
          </li>
        ))}
      </ul>
      {changes.length > FEW_JOBS && <p className="mt-1 text-ink-3 text-xs">{w.moreJobs(changes.length - FEW_JOBS)}</p>}
      {!effect.complete && <p className="mt-1 text-ink-3 text-xs">{w.notAll}</p>}
    </section>
  );
}

export function EffectSkeleton() {
  return (
    <div className="flex flex-col gap-2">
      <Skeleton className="h-12 w-full" />
      <Skeleton className="h-24 w-full" />
    </div>
  );
}

/** Stands where there is nothing to ask. */
const NOTHING: PutBlackout = { name: "", blackout: { window: {} } };
