// Where blackout windows stand on the days, read off the node's own texts of their ends; and the end of one that is being
// pulled, from the grip to the drop. What a pulled end means is the node's to say.
import type { Blackout, BlackoutSpan, CalendarDay } from "@/api/types";
import { addDays, clock } from "@/lib/civil";
import { DAY_MINUTES } from "./layout";
import { Held } from "./moving";

/** More windows at once lie over one another. */
const MOST_LANES = 2;
/** A window is at least so long. */
const LEAST_MINUTES = 5;

export interface Painted {
  span: BlackoutSpan;
  /** Minutes of the day. */
  from: number;
  to: number;
  /** Its end is on this day, so that it can be taken hold of here. */
  ends: boolean;
  lane: number;
}

/** Minutes since midnight of `date` at which a moment stands, held within the day. */
export function minuteOn(date: string, { text }: { text: string }): number {
  if (text.slice(0, 10) < date) return 0;
  if (text.slice(0, 10) > date) return DAY_MINUTES;
  const [hours = 0, minutes = 0, seconds = 0] = text.slice(11).split(":").map(Number);
  return hours * 60 + minutes + seconds / 60;
}

/** What the windows take of a day, those that meet beside one another. */
export function paintedOn({ date, blackouts }: Pick<CalendarDay, "date" | "blackouts">): Painted[] {
  const ends: number[] = [];
  return [...blackouts]
    .sort((a, b) => a.from.ms - b.from.ms || a.name.localeCompare(b.name))
    .map((span) => {
      const [from, to] = [minuteOn(date, span.from), minuteOn(date, span.until)];
      const free = ends.findIndex((end) => end <= from);
      const lane = Math.min(MOST_LANES - 1, free < 0 ? ends.length : free);
      ends[lane] = Math.max(to, ends[lane] ?? 0);
      return { span, from, to, ends: span.until.text <= `${addDays(date, 1)} 00:00:00`, lane };
    })
    .filter(({ from, to }) => from < to);
}

export function lanesOf(painted: readonly Painted[]): number {
  return Math.max(0, ...painted.map(({ lane }) => lane + 1));
}

/** A reading of the wall in minutes since midnight of the first of the days. */
export function minutesSince(first: string, text: string): number {
  const midnight = Date.parse(`${first}T00:00:00Z`);
  return (Date.parse(`${text.slice(0, 10)}T${text.slice(11)}Z`) - midnight) / 60_000;
}

/** The reading of the wall that such a count stands for, `2026-11-18T10:30`. */
export function readingOf(first: string, minutes: number): string {
  return `${addDays(first, Math.floor(minutes / DAY_MINUTES))}T${clock(minutes % DAY_MINUTES)}`;
}

/** The window with its end elsewhere: one that comes again lasts otherwise, each time. */
export function withEnd(blackout: Blackout, from: number, end: number): Blackout {
  const { window } = blackout;
  return window.schedule === undefined
    ? { ...blackout, window: { ...window, until: end } }
    : { ...blackout, window: { ...window, durationSeconds: Math.round((end - from) / 1000) } };
}

/** An end that is being pulled. All of it in minutes since midnight of the first day. */
export interface Pull {
  span: BlackoutSpan;
  from: number;
  before: number;
  end: number;
  by: "pointer" | "keys";
  /** Dropped: the dialog asks. */
  asked: boolean;
  pointer: { x: number; y: number } | null;
}

export class Pulling extends Held<Pull> {
  begin(span: BlackoutSpan, first: string, by: Pull["by"]) {
    const [from, before] = [minutesSince(first, span.from.text), minutesSince(first, span.until.text)];
    this.hold({ span, from, before, end: before, by, asked: false, pointer: null });
  }

  /** Never before it begins, nor beyond `most`. */
  to(end: number, most: number, pointer: Pull["pointer"] = null) {
    const pull = this.get();
    if (pull) this.hold({ ...pull, end: Math.max(pull.from + LEAST_MINUTES, Math.min(most, end)), pointer });
  }

  /** Lets go. True where there is something to ask. */
  drop(): boolean {
    const pull = this.get();
    if (!pull || pull.end === pull.before) {
      this.hold(null);
      return false;
    }
    this.hold({ ...pull, asked: true, pointer: null });
    return true;
  }
}
