// A job while it is being written: each kind of schedule keeps what was typed for it, so that switching there and back
// loses nothing, and times stand as the wall clock reads. `toSpec` makes of it what the node understands.
import type { QueryClient } from "@tanstack/react-query";
import type { AfterNeed, AfterOutcome, Exception, Lane, Schedule } from "@/api/types";
import { instantOf, wallAt } from "@/api/walltime";

export type Kind = "repeat" | "cron" | "interval" | "once" | "after" | "manual";
export type Level = "hour" | "day" | "week" | "month" | "year" | "workday";
export type Unit = "s" | "min" | "h" | "d";

/** One occurrence changed by hand; times that are typed stand as the wall clock reads. */
export type ExceptionDraft =
  | { change: "skip"; planned: number; wall: string }
  | { change: "moveTo"; planned: number; wall: string; at: string }
  | { change: "added"; at: string };

export type OnNonWorkday = "run" | "skip" | "nextWorkday" | "previousWorkday";

const UNIT_SECONDS: Record<Unit, number> = { s: 1, min: 60, h: 3_600, d: 86_400 };

export interface Draft {
  name: string;
  description: string;
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
  calendar: string | null;
  onNonWorkday: OnNonWorkday;
  exceptions: ExceptionDraft[];
  /** Empty: from the moment it is saved. */
  effectiveFrom: string;
  /** Empty: for ever. */
  effectiveUntil: string;
  processor: string;
  group: string;
  parameters: Record<string, unknown>;
  priority: Lane;
  misfire: "fireOnce" | "catchUp" | "skip" | "ask";
  graceSeconds: number | null;
  /** The most missed firings that are made up for. */
  catchUpMost: number | null;
  overlap: "queue" | "skip" | "allow" | "replace";
  /** Of those that wait, the newest stays. */
  supersede: boolean;
  spreadSeconds: number | null;
  timeoutSeconds: number | null;
  overrun: "note" | "kill";
  retries: number | null;
  retryBase: number | null;
  retryMax: number | null;
  retryTimes: number | null;
  tenant: string;
  owner: string;
  tags: string;
  /** Fields of the document that the form does not show, carried through untouched. */
  rest: Record<string, unknown>;
}

/** Changes a part. Two fields may change before the page is drawn again: what builds on the old draft takes it as it is then. */
export type SetDraft = (
  change: Partial<Draft> | ((old: Draft) => Partial<Draft>),
  /** Where one has been, as paths into the document; what was changed, where absent. */
  where?: readonly string[],
) => void;

export function emptyDraft(zone: string, soon: string): Draft {
  return {
    name: "",
    description: "",
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
    calendar: null,
    onNonWorkday: "run",
    exceptions: [],
    effectiveFrom: "",
    effectiveUntil: "",
    processor: "shell",
    group: "local",
    parameters: {},
    priority: "normal",
    misfire: "fireOnce",
    graceSeconds: 60,
    catchUpMost: 100,
    overlap: "queue",
    supersede: false,
    spreadSeconds: 0,
    timeoutSeconds: null,
    overrun: "note",
    retries: 3,
    retryBase: 1,
    retryMax: 60,
    retryTimes: 2,
    tenant: "",
    owner: "",
    tags: "",
    rest: {},
  };
}

type Spec = Record<string, unknown>;

export async function fromSpec(client: QueryClient, spec: Spec, zone: string, soon: string): Promise<Draft> {
  const draft = emptyDraft(zone, soon);
  const { name, description, schedule, processor, executorGroup, parameters, priority, misfire, overlap, ...others } =
    spec;
  const { spreadSeconds, timeoutSeconds, overrun, retry, tenant, owner, tags, apiVersion: _, ...more } = others;
  const { calendar, onNonWorkday, exceptions, effectiveFrom, effectiveUntil, supersede, ...rest } = more;
  const late = misfire as { policy: Draft["misfire"]; graceSeconds: number; max?: number } | undefined;
  const again = retry as { retries: number; baseSeconds: number; maxSeconds: number; multiplier: number } | undefined;
  Object.assign(draft, {
    name: name ?? "",
    description: description ?? "",
    processor: processor ?? draft.processor,
    group: executorGroup ?? draft.group,
    parameters: parameters ?? {},
    priority: priority ?? draft.priority,
    misfire: late?.policy ?? draft.misfire,
    graceSeconds: late?.graceSeconds ?? draft.graceSeconds,
    catchUpMost: late?.max ?? draft.catchUpMost,
    overlap: overlap ?? draft.overlap,
    supersede: supersede === "latest",
    calendar: calendar ?? null,
    onNonWorkday: onNonWorkday ?? draft.onNonWorkday,
    spreadSeconds: spreadSeconds ?? 0,
    timeoutSeconds: timeoutSeconds ?? null,
    overrun: overrun ?? draft.overrun,
    retries: again?.retries ?? draft.retries,
    retryBase: again?.baseSeconds ?? draft.retryBase,
    retryMax: again?.maxSeconds ?? draft.retryMax,
    retryTimes: again?.multiplier ?? draft.retryTimes,
    tenant: tenant ?? "",
    owner: owner ?? "",
    tags: Array.isArray(tags) ? tags.join(", ") : "",
    rest,
  });
  const s = schedule as Schedule;
  const wall = async (ms: number, at: string) => (await wallAt(client, ms, at)).slice(0, ms % 60_000 === 0 ? 16 : 19);
  switch (s.kind) {
    case "cron":
      draft.kind = "cron";
      draft.zone = s.timeZone;
      draft.cron = { expression: s.expression, dialect: s.dialect ?? "auto" };
      draft.dstGap = s.dstGap;
      draft.dstOverlap = s.dstOverlap;
      break;
    case "repeat": {
      draft.kind = "repeat";
      draft.zone = s.timeZone;
      draft.dstGap = s.dstGap;
      draft.dstOverlap = s.dstOverlap;
      const days = s.repeatDays ?? [];
      draft.repeat = {
        start: await wall(s.startTime, s.timeZone),
        level: s.repeatLevel,
        interval: s.repeatInterval,
        weekdays: s.repeatLevel === "week" ? days : [],
        monthDays: s.repeatLevel === "month" ? days.join(", ") : "",
        ends: s.endTime !== undefined ? "on" : s.count !== undefined ? "count" : "never",
        endsOn: s.endTime !== undefined ? await wall(s.endTime, s.timeZone) : draft.repeat.endsOn,
        count: s.count ?? draft.repeat.count,
      };
      break;
    }
    case "fixedRate":
    case "fixedDelay": {
      draft.kind = "interval";
      const unit = (["d", "h", "min", "s"] as const).find((each) => s.everySeconds % UNIT_SECONDS[each] === 0) ?? "s";
      draft.interval = {
        kind: s.kind,
        every: s.everySeconds / UNIT_SECONDS[unit],
        unit,
        starts: s.startTime === undefined ? "now" : "at",
        start: s.startTime === undefined ? soon : await wall(s.startTime, zone),
      };
      break;
    }
    case "once":
      draft.kind = "once";
      draft.once = { at: await wall(s.at, zone) };
      break;
    case "after":
      draft.kind = "after";
      draft.after = { jobs: s.jobs, on: s.on, need: s.need };
      break;
    case "manual":
      draft.kind = "manual";
  }
  const held = async (at: unknown) => (typeof at === "number" ? await wall(at, draft.zone) : "");
  draft.effectiveFrom = await held(effectiveFrom);
  draft.effectiveUntil = await held(effectiveUntil);
  for (const each of (exceptions as Exception[] | undefined) ?? []) {
    if (each.change === "added") draft.exceptions.push({ change: "added", at: await held(each.at) });
    else {
      const { planned } = each;
      const shown = await held(planned);
      if (each.change === "skip") draft.exceptions.push({ change: "skip", planned, wall: shown });
      else draft.exceptions.push({ change: "moveTo", planned, wall: shown, at: await held(each.at) });
    }
  }
  return draft;
}

/** Something the window itself sees is wrong, before the node is asked. */
export class DraftError extends Error {
  readonly field: string;

  constructor(field: string) {
    super(field);
    this.field = field;
  }
}

export async function toSpec(client: QueryClient, draft: Draft): Promise<Spec> {
  const { rest } = draft;
  const spec: Spec = { ...rest, apiVersion: "campanile/v1", name: draft.name.trim() };
  if (draft.description.trim() !== "") spec.description = draft.description.trim();
  spec.schedule = await scheduleOf(client, draft);
  if (draft.calendar !== null) spec.calendar = draft.calendar;
  if (draft.onNonWorkday !== "run") spec.onNonWorkday = draft.onNonWorkday;
  const exceptions = await exceptionsOf(client, draft);
  if (exceptions.length > 0) spec.exceptions = exceptions;
  if (draft.effectiveFrom.trim() !== "")
    spec.effectiveFrom = await instantIn(client, draft, "effectiveFrom", draft.effectiveFrom);
  if (draft.effectiveUntil.trim() !== "")
    spec.effectiveUntil = await instantIn(client, draft, "effectiveUntil", draft.effectiveUntil);
  spec.misfire = {
    policy: draft.misfire,
    graceSeconds: draft.graceSeconds ?? 60,
    max: draft.catchUpMost ?? 100,
  };
  spec.overlap = draft.overlap;
  if (draft.overlap === "queue" && draft.supersede) spec.supersede = "latest";
  spec.spreadSeconds = draft.spreadSeconds ?? 0;
  spec.executorGroup = draft.group;
  spec.processor = draft.processor;
  spec.parameters = draft.parameters;
  spec.priority = draft.priority;
  if (draft.tenant.trim() !== "") spec.tenant = draft.tenant.trim();
  if (draft.owner.trim() !== "") spec.owner = draft.owner.trim();
  const tags = draft.tags
    .split(/[,，\s]+/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
  if (tags.length > 0) spec.tags = [...new Set(tags)];
  if (draft.timeoutSeconds !== null) spec.timeoutSeconds = draft.timeoutSeconds;
  spec.overrun = draft.overrun;
  spec.retry = {
    retries: draft.retries ?? 0,
    baseSeconds: draft.retryBase ?? 1,
    maxSeconds: draft.retryMax ?? 60,
    multiplier: draft.retryTimes ?? 2,
  };
  return spec;
}

async function instantIn(client: QueryClient, draft: Draft, field: string, local: string): Promise<number> {
  const time = readWall(local);
  if (time === null) throw new DraftError(field);
  return instantOf(client, time, draft.zone);
}

async function exceptionsOf(client: QueryClient, draft: Draft): Promise<Exception[]> {
  const out: Exception[] = [];
  for (const [i, each] of draft.exceptions.entries()) {
    const at = async (local: string) => instantIn(client, draft, `exceptions.${i}.at`, local);
    if (each.change === "skip") out.push({ change: "skip", planned: each.planned });
    else if (each.change === "moveTo") out.push({ change: "moveTo", planned: each.planned, at: await at(each.at) });
    else out.push({ change: "added", at: await at(each.at) });
  }
  return out;
}

async function scheduleOf(client: QueryClient, draft: Draft): Promise<Record<string, unknown>> {
  const clocks = { timeZone: draft.zone, dstGap: draft.dstGap, dstOverlap: draft.dstOverlap };
  const instant = (field: string, local: string) => instantIn(client, draft, field, local);
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
        everySeconds: Math.round((every ?? 0) * UNIT_SECONDS[unit]),
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
