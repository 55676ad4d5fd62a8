// A schedule while it is being written: each kind keeps what was typed for it, so that switching there and back loses
// nothing, and times stand as the wall clock reads. `scheduleOf` makes of it what the node understands.
import type { QueryClient } from "@tanstack/react-query";
import type { AfterNeed, AfterOutcome, Schedule } from "@/api/types";
import { instantOf, wallAt } from "@/api/walltime";

export type Kind = "repeat" | "cron" | "interval" | "once" | "after" | "manual";
export type Level = "hour" | "day" | "week" | "month" | "year" | "workday";
export type Unit = "s" | "min" | "h" | "d";

export interface ScheduleDraft {
  kind: Kind;
  zone: string;
  cron: { expression: string; dialect: "auto" | "unix" | "seconds" | "quartz" };
  dstGap: "shift" | "nextValid" | "skip";
  dstOverlap: "first" | "second" | "both";
  repeat: {
    /** `2026-11-21T09:30` on the wall clock of `zone`. */
    start: string;
    level: Level;
    interval: number | null;
    weekdays: number[];
    monthDays: string;
    ends: "never" | "on" | "count";
    endsOn: string;
    count: number | null;
  };
  interval: { kind: "fixedRate" | "fixedDelay"; every: number | null; unit: Unit; starts: "now" | "at"; start: string };
  once: { at: string };
  after: { jobs: string[]; on: AfterOutcome; need: AfterNeed };
}

/** Changes a part. Two fields may change before the page is drawn again: what builds on the old draft takes it as it is then. */
export type SetSchedule = (
  change: Partial<ScheduleDraft> | ((old: ScheduleDraft) => Partial<ScheduleDraft>),
  /** Where one has been, as paths into the document; what was changed, where absent. */
  where?: readonly string[],
) => void;

export function emptySchedule(zone: string, soon: string): ScheduleDraft {
  return {
    kind: "cron",
    zone,
    cron: { expression: "0 2 * * *", dialect: "auto" },
    dstGap: "shift",
    dstOverlap: "first",
    repeat: {
      start: soon,
      level: "day",
      interval: 1,
      weekdays: [],
      monthDays: "",
      ends: "never",
      endsOn: soon,
      count: 10,
    },
    interval: { kind: "fixedRate", every: 15, unit: "min", starts: "now", start: soon },
    once: { at: soon },
    after: { jobs: [], on: "success", need: "all" },
  };
}

/** The same span in the largest unit in which it is whole. */
export function spanOf(seconds: number): { every: number; unit: Unit } {
  const unit = (["d", "h", "min", "s"] as const).find((each) => seconds % UNIT_SECONDS[each] === 0) ?? "s";
  return { every: seconds / UNIT_SECONDS[unit], unit };
}

export function secondsOf(every: number | null, unit: Unit): number {
  return Math.round((every ?? 0) * UNIT_SECONDS[unit]);
}

const UNIT_SECONDS: Record<Unit, number> = { s: 1, min: 60, h: 3_600, d: 86_400 };

/** An instant as the wall of a zone shows it and as people type it, with seconds where it has some. */
export async function wallText(client: QueryClient, ms: number, zone: string): Promise<string> {
  return (await wallAt(client, ms, zone)).slice(0, ms % 60_000 === 0 ? 16 : 19);
}

export async function scheduleFrom(
  client: QueryClient,
  schedule: Schedule,
  zone: string,
  soon: string,
): Promise<ScheduleDraft> {
  const draft = emptySchedule(zone, soon);
  const wall = (ms: number, at: string) => wallText(client, ms, at);
  switch (schedule.kind) {
    case "cron": {
      const { expression, dialect, timeZone, dstGap, dstOverlap } = schedule;
      const cron = { expression, dialect: dialect ?? ("auto" as const) };
      return { ...draft, kind: "cron", zone: timeZone, cron, dstGap, dstOverlap };
    }
    case "repeat": {
      const { startTime, endTime, count, timeZone, repeatLevel, repeatInterval, dstGap, dstOverlap } = schedule;
      const days = schedule.repeatDays ?? [];
      const repeat: ScheduleDraft["repeat"] = {
        start: await wall(startTime, timeZone),
        level: repeatLevel,
        interval: repeatInterval,
        weekdays: repeatLevel === "week" ? days : [],
        monthDays: repeatLevel === "month" ? days.join(", ") : "",
        ends: endTime !== undefined ? "on" : count !== undefined ? "count" : "never",
        endsOn: endTime !== undefined ? await wall(endTime, timeZone) : draft.repeat.endsOn,
        count: count ?? draft.repeat.count,
      };
      return { ...draft, kind: "repeat", zone: timeZone, repeat, dstGap, dstOverlap };
    }
    case "fixedRate":
    case "fixedDelay": {
      const { kind, everySeconds, startTime } = schedule;
      const starts = startTime === undefined ? "now" : "at";
      const start = startTime === undefined ? soon : await wall(startTime, zone);
      return { ...draft, kind: "interval", interval: { kind, ...spanOf(everySeconds), starts, start } };
    }
    case "once":
      return { ...draft, kind: "once", once: { at: await wall(schedule.at, zone) } };
    case "after": {
      const { jobs, on, need } = schedule;
      return { ...draft, kind: "after", after: { jobs, on, need } };
    }
    case "manual":
      return { ...draft, kind: "manual" };
  }
}

/** Something the window itself sees is wrong, before the node is asked. */
export class DraftError extends Error {
  readonly field: string;

  constructor(field: string) {
    super(field);
    this.field = field;
  }
}

/** What was typed for `field`, as an instant. */
export async function instantIn(client: QueryClient, zone: string, field: string, local: string): Promise<number> {
  const time = readWall(local);
  if (time === null) throw new DraftError(field);
  return instantOf(client, time, zone);
}

export async function scheduleOf(client: QueryClient, draft: ScheduleDraft): Promise<Schedule> {
  const clocks = { timeZone: draft.zone, dstGap: draft.dstGap, dstOverlap: draft.dstOverlap };
  const instant = (field: string, local: string) => instantIn(client, draft.zone, field, local);
  switch (draft.kind) {
    case "cron": {
      const { expression, dialect } = draft.cron;
      return { kind: "cron", expression: expression.trim(), ...(dialect === "auto" ? {} : { dialect }), ...clocks };
    }
    case "repeat": {
      const { level, interval, weekdays, monthDays, ends, endsOn, count, start } = draft.repeat;
      const days =
        level === "week" ? [...weekdays].sort((a, b) => a - b) : level === "month" ? readDays(monthDays) : [];
      if (days === null) throw new DraftError("schedule.repeatDays");
      return {
        kind: "repeat",
        startTime: await instant("schedule.startTime", start),
        repeatLevel: level,
        repeatInterval: interval ?? 0,
        ...(days.length > 0 ? { repeatDays: days } : {}),
        ...(ends === "on" ? { endTime: await instant("schedule.endTime", endsOn) } : {}),
        ...(ends === "count" ? { count: count ?? 0 } : {}),
        ...clocks,
      };
    }
    case "interval": {
      const { kind, every, unit, starts, start } = draft.interval;
      return {
        kind,
        everySeconds: secondsOf(every, unit),
        ...(starts === "at" ? { startTime: await instant("schedule.startTime", start) } : {}),
      };
    }
    case "once":
      return { kind: "once", at: await instant("schedule.at", draft.once.at) };
    case "after":
      return { kind: "after", ...draft.after };
    case "manual":
      return { kind: "manual" };
  }
}

/** A date and a time as people write them, as `2026-12-01T03:00[:00]`; null where it is not one. */
export function readWall(text: string): string | null {
  const match = /^\s*(\d{4})-(\d{1,2})-(\d{1,2})[T\s]+(\d{1,2}):(\d{2})(?::(\d{2}))?\s*$/.exec(text);
  if (!match) return null;
  const [, year, month, day, hour, minute, second] = match;
  const two = (part: string | undefined) => (part ?? "0").padStart(2, "0");
  const read = `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}${second === undefined ? "" : `:${second}`}`;
  // A day that the month lacks reads back as another one.
  const back = new Date(`${read}Z`);
  return Number.isNaN(back.getTime()) || !back.toISOString().startsWith(read) ? null : read;
}

/** '3, 5, -1' as numbers; null where one of them is none. */
export function readDays(text: string): number[] | null {
  const days = text
    .split(/[,，\s]+/)
    .filter((part) => part !== "")
    .map(Number);
  return days.every(Number.isInteger) ? days : null;
}

/** The same days with one more, or one less, in the order of the month. */
export function withDay(days: readonly number[], day: number): number[] {
  const next = days.includes(day) ? days.filter((each) => each !== day) : [...days, day];
  // Those counted from the end come last.
  const place = (each: number) => (each > 0 ? each : 100 + each);
  return next.sort((a, b) => place(a) - place(b));
}
