// Where things stand on a day: minutes to pixels and back, and firings that come together side by side.
// A firing is a moment and has no length; its chip takes as many minutes as its height covers.

export const DAY_MINUTES = 1_440;

export function toY(minute: number, hourPx: number): number {
  return (minute / 60) * hourPx;
}

/** The minute at a height, in steps; never outside the day. */
export function toMinute(y: number, hourPx: number, step: number): number {
  const exact = (y / hourPx) * 60;
  const last = DAY_MINUTES - step;
  return Math.max(0, Math.min(last, Math.round(exact / step) * step));
}

/** A day and a minute, moved; over midnight into the day beside it, but not out of the days shown. */
export function shifted(
  at: { day: number; minute: number },
  by: { days?: number; minutes?: number },
  days: number,
): { day: number; minute: number } {
  const day = at.day + (by.days ?? 0);
  const total = day * DAY_MINUTES + at.minute + (by.minutes ?? 0);
  if (day < 0 || day >= days || total < 0 || total >= days * DAY_MINUTES) return at;
  return { day: Math.floor(total / DAY_MINUTES), minute: total % DAY_MINUTES };
}

export interface Placed<T> {
  item: T;
  /** Where its chip begins: its minute, or a little earlier at the end of the day, so that all of it can be seen. */
  minute: number;
  column: number;
  /** Columns it may take, itself included. */
  span: number;
  columns: number;
}

/** Firings for which there is no room of their own. */
export interface Folded<T> {
  items: T[];
  minute: number;
  column: number;
  columns: number;
}

export interface DayLayout<T> {
  placed: Placed<T>[];
  folded: Folded<T>[];
}

/**
 * Side by side what would otherwise lie on one another, at most `most` beside each other: what is beyond that is folded,
 * in the last column, under one chip for each stretch as long as a chip.
 *
 * Those that touch, directly or through others, share one division of the width, so that columns line up; a chip takes
 * what is free at its right.
 */
export function layoutDay<T extends { minute: number }>(
  items: readonly T[],
  chipMinutes: number,
  most: number,
): DayLayout<T> {
  const sorted = items
    .map((item) => ({ item, minute: Math.min(item.minute, DAY_MINUTES - chipMinutes) }))
    .sort((a, b) => a.minute - b.minute);
  const out: DayLayout<T> = { placed: [], folded: [] };
  let group: { item: T; minute: number; column: number }[] = [];
  let ends: number[] = [];
  const close = () => {
    if (group.length > 0) divide(group, ends.length, chipMinutes, Math.max(1, most), out);
    group = [];
    ends = [];
  };
  for (const { item, minute } of sorted) {
    if (ends.every((end) => end <= minute)) close();
    const free = ends.findIndex((end) => end <= minute);
    const column = free < 0 ? ends.length : free;
    ends[column] = minute + chipMinutes;
    group.push({ item, minute, column });
  }
  close();
  return out;
}

function divide<T>(
  group: readonly { item: T; minute: number; column: number }[],
  wanted: number,
  chipMinutes: number,
  most: number,
  out: DayLayout<T>,
) {
  const columns = Math.min(wanted, most);
  const last = columns - 1;
  const crowded = wanted > most;
  const own = group.filter((each) => !crowded || each.column < last);
  const rest = group.filter((each) => crowded && each.column >= last);

  const folded: Folded<T>[] = [];
  for (const each of rest) {
    const open = folded.at(-1);
    if (open && each.minute < open.minute + chipMinutes) open.items.push(each.item);
    else folded.push({ items: [each.item], minute: each.minute, column: last, columns });
  }

  const taken = [...own, ...folded];
  for (const each of own) {
    let span = 1;
    while (
      each.column + span < columns &&
      !taken.some((other) => other.column === each.column + span && Math.abs(other.minute - each.minute) < chipMinutes)
    )
      span += 1;
    out.placed.push({ item: each.item, minute: each.minute, column: each.column, span, columns });
  }
  for (const fold of folded) {
    const [only] = fold.items;
    if (fold.items.length === 1 && only !== undefined)
      out.placed.push({ item: only, minute: fold.minute, column: last, span: 1, columns });
    else out.folded.push(fold);
  }
}

export type Direction = "up" | "down" | "left" | "right";

/** The firing one comes to with an arrow key: up and down in time, left and right to the nearest one on another day. */
export function neighbour<T extends { day: number; minute: number }>(
  items: readonly T[],
  from: T,
  direction: Direction,
): T | undefined {
  const inTime = [...items].sort((a, b) => a.day - b.day || a.minute - b.minute);
  if (direction === "up" || direction === "down") return inTime[inTime.indexOf(from) + (direction === "down" ? 1 : -1)];
  const step = direction === "right" ? 1 : -1;
  const days = [...new Set(inTime.map((item) => item.day))].filter((day) => (day - from.day) * step > 0);
  if (days.length === 0) return undefined;
  const day = step > 0 ? Math.min(...days) : Math.max(...days);
  return inTime
    .filter((item) => item.day === day)
    .reduce((best, item) => (Math.abs(item.minute - from.minute) < Math.abs(best.minute - from.minute) ? item : best));
}

export interface Stripe<B> {
  row: number;
  from: number;
  /** One past the last day. */
  end: number;
  bands: B[];
}

/** A job that is a band on days that follow one another is one stripe over them; stripes that meet lie in rows. */
export function stripes<B extends { job: string; day: number }>(bands: readonly B[]): Stripe<B>[] {
  const byJob = new Map<string, B[]>();
  for (const band of bands) {
    const known = byJob.get(band.job);
    if (known) known.push(band);
    else byJob.set(band.job, [band]);
  }
  const out: Stripe<B>[] = [];
  for (const own of byJob.values()) {
    own.sort((a, b) => a.day - b.day);
    let open: Stripe<B> | undefined;
    for (const band of own) {
      if (open && band.day <= open.end) {
        open.bands.push(band);
        open.end = Math.max(open.end, band.day + 1);
      } else {
        open = { row: 0, from: band.day, end: band.day + 1, bands: [band] };
        out.push(open);
      }
    }
  }
  out.sort((a, b) => a.from - b.from || b.end - a.end);
  const rows: number[] = [];
  for (const stripe of out) {
    const free = rows.findIndex((end) => end <= stripe.from);
    stripe.row = free < 0 ? rows.length : free;
    rows[stripe.row] = stripe.end;
  }
  return out;
}
