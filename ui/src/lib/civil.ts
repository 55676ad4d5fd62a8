// Dates and times as a wall shows them: '2026-11-16', minutes since midnight. Adding days to a date needs no zone, and
// nothing here knows one: which instant a reading means is the node's to say.

export function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}

/** 1 (Monday) to 7. */
export function weekdayOf(date: string): number {
  return ((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7) + 1;
}

export function mondayOf(date: string): string {
  return addDays(date, 1 - weekdayOf(date));
}

export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`));
}

export function parts(date: string): { year: number; month: number; day: number } {
  const [year = 0, month = 1, day = 1] = date.split("-").map(Number);
  return { year, month, day };
}

/** '09:05' */
export function clock(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
}

/** '2026-11-18T10:30' */
export function localOf(date: string, minute: number): string {
  return `${date}T${clock(minute)}`;
}

/**
 * What the wall shows now, in minutes since midnight. Midnight on the wall less its instant is the zone's offset; where
 * the clocks change today it has two, and `knownOffset` (what the node last told) decides.
 */
export function wallMinute(
  day: { date: string; start: number; end: number },
  now: number,
  knownOffset: number | null,
): number {
  const midnight = Date.parse(`${day.date}T00:00:00Z`);
  const atStart = midnight - day.start;
  const atEnd = midnight + 86_400_000 - day.end;
  const offset = atStart === atEnd || knownOffset === null ? atStart : knownOffset;
  return Math.max(0, Math.min(1439.99, (now + offset - midnight) / 60_000));
}
