// How far the run is, and its phases on a line: each as wide as the order of its time, with its state and how long it took.
// Below them what was told by `notify`.
import { useQuery } from "@tanstack/react-query";
import { whyQuery } from "@/api/instances";
import type { PhaseTask, ShardingView } from "@/api/types";
import {
  Glyph,
  isTaskCode,
  METHODS,
  PaceWords,
  type PaceWordsProps,
  ShardBar,
  shardWords,
  shownPercent,
  type TaskCode,
  taskLook,
  useShardPace,
} from "@/components";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { percent } from "@/lib/pace";
import { span } from "@/lib/relative";
import { figure, marks, useLang, useSaid, useWords } from "@/lib/words";
import { share } from "../chain";
import { type PhaseState, type Segment, segmentsOf, tookMs } from "./phases";
import { shardsWords } from "./words";

const CODE: Record<PhaseState, TaskCode> = {
  toCome: 100,
  waiting: 101,
  running: 202,
  succeeded: 301,
  failed: 302,
  cancelled: 303,
  notCalled: 304,
};

const LINE: Record<PhaseState, string> = {
  toCome: "border-line-strong border-dashed border-t-2",
  waiting: "border-warn border-dotted border-t-3",
  running: "border-running border-t-4",
  succeeded: "border-ok border-t-3",
  failed: "border-bad border-dashed border-t-4",
  cancelled: "border-stopped border-t-2",
  notCalled: "border-line-strong border-dotted border-t-2",
};

interface PhaseLineProps {
  run: string;
  sharding: ShardingView;
  startedAt: number | null;
  tone: "running" | "ok" | "bad" | "stopped";
  actions?: React.ReactNode;
}

export function PhaseLine({ run, sharding, startedAt, tone, actions }: PhaseLineProps) {
  const w = useWords(shardsWords);
  const b = useWords(shardWords);
  const { progress } = sharding;
  const segments = segmentsOf(sharding);
  const { done, total } = progress.tally;
  const pace = { of: progress, run, since: sharding.since ?? startedAt };
  return (
    <section aria-label={w.progress} className="panel px-4 pt-3 pb-3" data-testid="shard-progress">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1.5">
        <span className="min-w-18 font-semibold text-xl tracking-tight" data-testid="shard-percent">
          {progress.phase === "loading" || progress.phase === "preProcess" ? "—" : shownPercent(progress)}
        </span>
        <span className="flex min-w-40 flex-1">
          <ShardBar of={progress} tone={tone} figures={false} tall />
        </span>
        <span className="flex flex-wrap items-baseline gap-x-3 text-ink-2 text-xs">
          <span className="text-ink">{total === 0 ? b.noItems : b.items(figure(done), figure(total))}</span>
          {progress.phase !== "over" && <PaceWords {...pace} />}
          {progress.round > 1 && (
            <span className="rounded-sm bg-sunken px-1.5 ring-1 ring-line ring-inset">{w.round(progress.round)}</span>
          )}
        </span>
        {actions && <span className="ml-auto flex gap-2">{actions}</span>}
      </div>
      {progress.phase === "levels" && <WhatItWaitsFor {...pace} />}
      <ol className="mt-3 flex overflow-x-auto" tabIndex={0} aria-label={w.phases} data-testid="shard-phases">
        {segments.map((segment) => (
          <Phase key={segment.key} segment={segment} startedAt={startedAt} />
        ))}
      </ol>
      {sharding.notices.length > 0 && <Notices of={sharding.notices} />}
    </section>
  );
}

/** Where nothing moves: what keeps it, and what would end that. */
function WhatItWaitsFor(pace: PaceWordsProps) {
  const said = useSaid();
  const m = useWords(marks);
  const standsStill = useShardPace(pace)?.rate === 0;
  // Asked again though it waits for nothing: what stands still may begin to wait without another change.
  const why = useQuery({ ...whyQuery({ id: pace.run }), enabled: standsStill, refetchInterval: 5_000 });
  const waiting = why.data?.waiting;
  if (!standsStill || !waiting) return null;
  return (
    <p className="mt-1.5 text-warn text-xs" data-testid="shard-waits">
      {said(waiting.words)}
      <span className="text-ink-3">
        {m.semicolon}
        {said(waiting.ends)}
      </span>
    </p>
  );
}

function Phase({ segment, startedAt }: { segment: Segment; startedAt: number | null }) {
  const w = useWords(shardsWords);
  const lang = useLang();
  const now = useNow();
  const took = tookMs(segment, now);
  const name =
    segment.kind === "pre"
      ? METHODS.preProcess
      : segment.kind === "post"
        ? METHODS.postProcess
        : segment.count > 1
          ? `${w.level(segment.from)} – ${figure(segment.to)}`
          : w.level(segment.from);
  const shape = taskLook[CODE[segment.state]];
  const time =
    segment.waitsSince !== null
      ? w.waitsFor(span(now - segment.waitsSince, lang))
      : took === null
        ? w.willRun
        : segment.endedAt === null
          ? w.soFar(span(took, lang))
          : span(took, lang);
  const parts = [
    name,
    segment.startedAt !== null && startedAt !== null ? w.startedAfter(span(segment.startedAt - startedAt, lang)) : null,
    time,
  ];
  return (
    <li
      data-phase={segment.key}
      data-state={segment.state}
      title={parts.filter((part) => part !== null).join("\n")}
      className="min-w-24 pr-1.5"
      style={{ flex: `${share(took)} 1 96px` }}
    >
      <div className={cx("mb-1.5", LINE[segment.state])} />
      <div className="flex items-center gap-1.5">
        <Glyph shape={shape.shape} tone={shape.tone} size={14} />
        <span className={cx("truncate font-medium text-xs", segment.state === "toCome" && "text-ink-3")}>{name}</span>
      </div>
      <div className={cx("truncate text-2xs", segment.waitsSince !== null ? "text-warn" : "text-ink-3")}>
        {time}
        {segment.kind === "levels" && ` · ${w.itemsOf(segment.items)}`}
      </div>
    </li>
  );
}

function Notices({ of: notices }: { of: readonly PhaseTask[] }) {
  const w = useWords(shardsWords);
  return (
    <div
      className="mt-1.5 flex flex-wrap items-center gap-x-2.5 gap-y-0.5 text-2xs text-ink-2"
      data-testid="shard-notices"
    >
      <span className="text-ink-3">{METHODS.notify}</span>
      {notices.map((notice) => {
        const told = notice.told ? `${Math.floor(percent(notice.told.done, notice.told.total))} %` : "";
        const look = isTaskCode(notice.state) ? taskLook[notice.state] : taskLook[100];
        return (
          <span
            key={notice.task}
            className="inline-flex items-center gap-1"
            title={w.noticeAt(told)}
            data-state={notice.state}
          >
            <Glyph shape={look.shape} tone={look.tone} size={12} />
            {told}
          </span>
        );
      })}
    </div>
  );
}
