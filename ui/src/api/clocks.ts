// Whether and when the clocks of a zone change in the year ahead: read off a year of weekly wall-clock times, which the
// node computes, for it alone knows zones.
import { queryOptions } from "@tanstack/react-query";
import { now } from "@/lib/clock";
import { call } from "./door";

const DAY = 86_400_000;

/** The days by which the offset is another one, as `2027-03-28`, each at most a day late. */
export function changesIn(locals: readonly string[]): string[] {
  const offset = (local: string) => /(?:[+-]\d\d:\d\d|Z)$/.exec(local)?.[0];
  return locals.flatMap((local, i) => {
    const before = locals[i - 1];
    return before !== undefined && offset(before) !== offset(local) ? [local.slice(0, 10)] : [];
  });
}

export const clockChangesQuery = (zone: string) =>
  queryOptions({
    queryKey: ["clocks", zone],
    staleTime: DAY,
    queryFn: async () => {
      // Three in the afternoon: no zone's clocks change then, so each day has the offset that it ends with.
      const from = Math.floor(now() / DAY) * DAY;
      const daily = (startTime: number, count: number) =>
        call("preview", {
          spec: {
            schedule: {
              kind: "repeat",
              startTime,
              timeZone: zone,
              repeatLevel: "day",
              repeatInterval: 1,
              dstGap: "shift",
              dstOverlap: "first",
            },
          },
          from: startTime - 1,
          count,
        });
      const halves = await Promise.all([daily(from, 200), daily(from + 199 * DAY, 170)]);
      return changesIn(halves.flatMap(({ runs }) => runs.map((run) => run.local)));
    },
  });
