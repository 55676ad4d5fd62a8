// How far a run is that is cut into shards: a bar of its items with the share and the count, and where there is room how
// fast it goes and when it may be done. Within a round it never goes back.
//
//   <ShardBar of={row.sharding} run={row.id} over={row.finished !== null} />     in a list
//   <PaceWords of={progress} run={id} since={since} />                            beside it, where it is looked at
import type { ShardProgress } from "@/api/types";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { type Pace, paceOf, percent } from "@/lib/pace";
import { span } from "@/lib/relative";
import { figure, useLang, useWords, words } from "@/lib/words";

export const shardWords = words(
  {
    items: (done: string, total: string) => `${done} of ${total} items`,
    noItems: "no items",
    bar: (percent: string) => `${percent} of the items are done`,
    rate: (n: string) => `${n} items/s`,
    left: (time: string) => `about ${time} left`,
    standsStill: "nothing moves",
    measuring: "measuring the rate",
    round: (n: number) => `round ${n}`,
    phases: {
      loading: "taking in the data",
      preProcess: "in pre_process",
      levels: "at its shards",
      postProcess: "in post_process",
      reopening: "going into another round",
      over: "over",
    },
    stopping: "being stopped",
    levels: (n: number) => (n === 1 ? "1 level" : `${n} levels`),
  },
  {
    items: (done: string, total: string) => `${done} / ${total} 项`,
    noItems: "没有数据项",
    bar: (percent: string) => `已完成 ${percent} 的数据项`,
    rate: (n: string) => `${n} 项/秒`,
    left: (time: string) => `约剩 ${time}`,
    standsStill: "没有进展",
    measuring: "正在测算速率",
    round: (n: number) => `第 ${n} 轮`,
    phases: {
      loading: "正在接收数据",
      preProcess: "运行 pre_process",
      levels: "处理分片",
      postProcess: "运行 post_process",
      reopening: "进入新一轮",
      over: "已结束",
    },
    stopping: "正在停止",
    levels: (n: number) => `${n} 个层级`,
  },
);

/** While it is not known how much there is, there is no share of it. */
function isCounted(phase: ShardProgress["phase"]): boolean {
  return phase !== "loading" && phase !== "preProcess" && phase !== "reopening";
}

export function shownPercent(of: Pick<ShardProgress, "tally">): string {
  const share = percent(of.tally.done, of.tally.total);
  return share === 100 ? "100 %" : `${share < 10 ? share.toFixed(1) : Math.floor(share)} %`;
}

interface ShardBarProps {
  of: ShardProgress;
  tone?: "running" | "ok" | "bad" | "stopped";
  /** With the share beside it. */
  figures?: boolean;
  tall?: boolean;
}

const FILL = { running: "bg-running", ok: "bg-ok", bad: "bg-bad", stopped: "bg-stopped" };

export function ShardBar({ of, tone = "running", figures = true, tall = false }: ShardBarProps) {
  const w = useWords(shardWords);
  const counted = isCounted(of.phase);
  const share = counted ? percent(of.tally.done, of.tally.total) : 0;
  const text = counted ? shownPercent(of) : w.phases[of.phase];
  const label = counted ? w.bar(text) : text;
  return (
    <span
      className="flex min-w-0 flex-1 items-center gap-2"
      title={counted ? w.items(figure(of.tally.done), figure(of.tally.total)) : text}
      data-testid="shard-bar"
      data-done={of.tally.done}
    >
      <span
        role="progressbar"
        aria-label={label}
        {...(counted ? { "aria-valuenow": Math.floor(share), "aria-valuemin": 0, "aria-valuemax": 100 } : {})}
        className={cx(
          "relative min-w-10 flex-1 overflow-hidden rounded-full bg-sunken ring-1 ring-line ring-inset",
          tall ? "h-2.5" : "h-1.5",
        )}
      >
        <span
          className={cx(
            "absolute inset-y-0 left-0 rounded-full transition-[width] duration-200",
            FILL[tone],
            !counted && "breathing w-1/4",
          )}
          style={counted ? { width: `${share}%` } : undefined}
        />
      </span>
      {figures && <span className="shrink-0 text-2xs text-ink-2 tabular-nums">{text}</span>}
    </span>
  );
}

export interface PaceWordsProps {
  of: ShardProgress;
  run: string;
  /** When the round began with its items. */
  since: number | null;
}

/** How fast a run goes that is at its shards; null while it is at something else. */
export function useShardPace({ of, run, since }: PaceWordsProps): Pace | null {
  // Asked again each second: where nothing comes, the rate goes down.
  useNow();
  const { done, total } = of.tally;
  const pace = paceOf(`${run} ${of.round}`, done, total, since);
  return of.phase === "levels" && !of.stopping ? pace : null;
}

export function PaceWords(props: PaceWordsProps) {
  const w = useWords(shardWords);
  const lang = useLang();
  const pace = useShardPace(props);
  const { of } = props;
  if (of.stopping) return <span className="text-stopped">{w.stopping}</span>;
  if (pace === null) return <span>{w.phases[of.phase]}</span>;
  const { rate, leftMs } = pace;
  if (rate === null) return <span className="text-ink-3">{w.measuring}</span>;
  if (rate === 0) return <span className="text-warn">{w.standsStill}</span>;
  return (
    <>
      <span>{w.rate(rate >= 10 ? figure(Math.round(rate)) : rate.toFixed(1))}</span>
      {leftMs !== null && leftMs > 0 && <span>{w.left(span(roughly(leftMs), lang))}</span>}
    </>
  );
}

/** No more precise than it is known. */
function roughly(ms: number): number {
  const step = ms > 3_600_000 ? 300_000 : ms > 600_000 ? 60_000 : ms > 60_000 ? 10_000 : 1_000;
  return Math.max(step, Math.round(ms / step) * step);
}
