// Which days a month shows, and what of a day's firings has room in its square.
import { addDays, mondayOf, parts } from "@/lib/civil";

/** The Monday on or before the first, and whole weeks up to the last: 28 to 42 days. */
export function monthDays(date: string): { first: string; days: number } {
  const { year, month } = parts(date);
  const one = `${year}-${String(month).padStart(2, "0")}-01`;
  const next = nextMonth(one);
  const first = mondayOf(one);
  const gap = (Date.parse(`${mondayOf(addDays(next, -1))}T00:00:00Z`) - Date.parse(`${first}T00:00:00Z`)) / 86_400_000;
  return { first, days: gap + 7 };
}

/** The first day of the month after, or of the one before. */
export function nextMonth(date: string, by: 1 | -1 = 1): string {
  const { year, month } = parts(date);
  return new Date(Date.UTC(year, month - 1 + by, 1)).toISOString().slice(0, 10);
}

export interface Shown<E, B> {
  bands: B[];
  entries: E[];
  /** Firings, of both sorts, for which there was no line. */
  hidden: number;
}

/** The lines of a square: firings first, since each is one thing to take hold of; what does not fit is counted. */
export function lines<E, B extends { count: number }>(
  entries: readonly E[],
  bands: readonly B[],
  most: number,
): Shown<E, B> {
  const rest = (from: readonly B[]) => from.reduce((sum, band) => sum + band.count, 0);
  if (entries.length + bands.length <= most) return { bands: [...bands], entries: [...entries], hidden: 0 };
  const room = Math.max(0, most - 1);
  // Bands are the same each day, so they keep one line at most while there are firings to show, and none where there is but one.
  const forBands = Math.max(
    0,
    Math.min(bands.length, entries.length >= room ? Math.min(1, room - 1) : room - entries.length),
  );
  const own = entries.slice(0, Math.max(0, room - forBands));
  return {
    bands: bands.slice(0, forBands),
    entries: own,
    hidden: entries.length - own.length + rest(bands.slice(forBands)),
  };
}
