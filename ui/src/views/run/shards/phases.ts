// The phases of a sharded run in their order, as segments of a line: `pre_process`, its levels, `post_process`. Where there
// are many levels, those that follow one another in one state are one segment. Pure.
import type { LevelState, PhaseTask, ShardingView } from "@/api/types";

export type PhaseState = "toCome" | "waiting" | "running" | "succeeded" | "failed" | "cancelled" | "notCalled";

export interface Segment {
  key: string;
  kind: "pre" | "levels" | "post";
  /** The first and the last level. */
  from: number;
  to: number;
  count: number;
  state: PhaseState;
  items: number;
  shards: number;
  startedAt: number | null;
  endedAt: number | null;
  waitsSince: number | null;
}

/** More levels than this are drawn together where they can be. */
const FEW = 10;

const OF_LEVEL: Record<LevelState, PhaseState> = {
  waiting: "toCome",
  running: "running",
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "cancelled",
};

export function stateOf(task: PhaseTask): PhaseState {
  if (task.state === 301) return "succeeded";
  if (task.state === 303 || task.state === 304) return "cancelled";
  if (task.state >= 300) return "failed";
  return task.state >= 202 ? "running" : "waiting";
}

export function segmentsOf({ progress, pre, post, levels }: ShardingView): Segment[] {
  const segments: Segment[] = [];
  const single = (kind: "pre" | "post", task: PhaseTask | null, state: PhaseState): Segment => ({
    key: kind,
    kind,
    from: 0,
    to: 0,
    count: 1,
    state,
    items: 0,
    shards: 0,
    startedAt: task?.started?.ms ?? null,
    endedAt: task?.finished?.ms ?? null,
    waitsSince: null,
  });
  if (pre) segments.push(single("pre", pre, stateOf(pre)));
  const together = levels.level.length > FEW;
  levels.level.forEach((level, i) => {
    const segment: Segment = {
      key: `level-${level}`,
      kind: "levels",
      from: level,
      to: level,
      count: 1,
      state: levels.waits_since[i] ? "waiting" : OF_LEVEL[levels.state[i] ?? "waiting"],
      items: levels.items[i] ?? 0,
      shards: levels.shards[i] ?? 0,
      startedAt: levels.started[i] ?? null,
      endedAt: levels.ended[i] ?? null,
      waitsSince: levels.waits_since[i] ?? null,
    };
    const last = segments.at(-1);
    if (together && last?.kind === "levels" && last.state === segment.state && segment.state !== "running") {
      last.to = level;
      last.count += 1;
      last.items += segment.items;
      last.shards += segment.shards;
      last.startedAt ??= segment.startedAt;
      last.endedAt = segment.endedAt ?? last.endedAt;
    } else segments.push(segment);
  });
  if (post) segments.push(single("post", post, stateOf(post)));
  else if (progress.phase !== "over") segments.push(single("post", null, "toCome"));
  return segments;
}

/** How long it took, or has taken so far; null where it has not begun. */
export function tookMs(segment: Segment, now: number): number | null {
  if (segment.startedAt === null) return null;
  return Math.max(0, (segment.endedAt ?? now) - segment.startedAt);
}
