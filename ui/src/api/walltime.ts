// What a wall clock in some zone shows, and which instant it means: asked of the node, which alone knows zones.
import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { parseOffset } from "@/lib/offset";
import { call } from "./door";

/** The wall clock in `zone` at an instant, as `2026-11-21T09:30:00+08:00`. */
export function wallAt(client: QueryClient, ms: number, zone: string): Promise<string> {
  return client.fetchQuery({
    queryKey: ["wall", zone, ms],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const schedule = {
        kind: "repeat" as const,
        startTime: ms,
        timeZone: zone,
        repeatLevel: "day" as const,
        repeatInterval: 1,
        dstGap: "shift" as const,
        dstOverlap: "first" as const,
      };
      const { runs } = await call("preview", { spec: { schedule }, from: ms - 1, count: 1 });
      const first = runs[0];
      if (!first) throw new Error("a day's repetition has a first run");
      return first.local;
    },
  });
}

/**
 * The instant at which the wall clock in `zone` shows `local` (`2026-11-21T09:30`). Where it shows it twice, the first of
 * the two; where it never does, the instant as far after the gap as the time stood in it.
 */
export async function instantOf(client: QueryClient, local: string, zone: string): Promise<number> {
  const asUtc = Date.parse(`${local}Z`);
  if (Number.isNaN(asUtc)) throw new Error(`${local} is not a date and time`);
  const offsetAt = async (ms: number) => offsetOf(await wallAt(client, ms, zone));
  // The two offsets that could hold around that reading, the earlier instant first.
  const before = asUtc - (await offsetAt(asUtc - 86_400_000));
  const after = asUtc - (await offsetAt(asUtc + 86_400_000));
  const candidates = [Math.min(before, after), Math.max(before, after)];
  for (const candidate of candidates) {
    if ((await wallAt(client, candidate, zone)).slice(0, local.length) === local) return candidate;
  }
  return before;
}

/** How far `zone` is from UTC now. Asked anew every quarter of an hour: clocks change on the quarter. */
export const offsetQuery = (zone: string | undefined, quarter: number) =>
  queryOptions({
    queryKey: ["offset", zone, quarter],
    enabled: zone !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    queryFn: async ({ client }) => offsetOf(await wallAt(client, quarter * QUARTER_MS, zone ?? "UTC")),
  });

export const QUARTER_MS = 900_000;

function offsetOf(local: string): number {
  return parseOffset(/(?:[+-]\d\d:\d\d|Z)$/.exec(local)?.[0] ?? "") ?? 0;
}
