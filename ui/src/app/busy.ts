// What is in progress as one whole, for the bar in the rail. Runs that have ended while others went on are counted as done,
// so that the bar does not go back when one of them leaves. Pure.
import type { ShardedNow } from "@/api/types";

export interface Busy {
  runs: ReadonlyMap<string, { done: number; total: number }>;
  /** Of them those that are in progress. */
  now: readonly string[];
}

export const NOT_BUSY: Busy = { runs: new Map(), now: [] };

/** What is known after the node said what is in progress. */
export function busyWith(before: Busy, sharded: readonly Pick<ShardedNow, "instance" | "tally" | "round">[]): Busy {
  if (sharded.length === 0) return NOT_BUSY;
  const runs = new Map<string, { done: number; total: number }>();
  const now = sharded.map((each) => `${each.instance} ${each.round}`);
  for (const [key, { total }] of before.runs) if (!now.includes(key)) runs.set(key, { done: total, total });
  sharded.forEach(({ tally }, i) => {
    const key = now[i] as string;
    const { done, total } = tally;
    // A late word takes nothing back.
    runs.set(key, {
      done: Math.max(done, total === before.runs.get(key)?.total ? (before.runs.get(key)?.done ?? 0) : 0),
      total,
    });
  });
  return { runs, now: sharded.map((each) => each.instance) };
}

export function wholeOf(busy: Busy): { done: number; total: number } {
  let [done, total] = [0, 0];
  for (const each of busy.runs.values()) {
    done += each.done;
    total += each.total;
  }
  return { done, total };
}
