// A job while it is being written: its schedule as it is typed, and beside it whatever else the form shows. `toSpec` makes
// of it what the node understands.
import type { QueryClient } from "@tanstack/react-query";
import type { Exception, JobBlackout, Lane, Schedule } from "@/api/types";
import {
  DraftError,
  emptySchedule,
  instantIn,
  type ScheduleDraft,
  scheduleFrom,
  scheduleOf,
  wallText,
} from "@/components/schedule/schedule";
import { type WindowDraft, windowFrom, windowOf } from "@/components/schedule/window";

/** One occurrence changed by hand; times that are typed stand as the wall clock reads. */
export type ExceptionDraft =
  | { change: "skip"; planned: number; wall: string }
  | { change: "moveTo"; planned: number; wall: string; at: string }
  | { change: "added"; at: string };

/** A window of the workspace by its name, or one of the job's own. */
export type BlackoutDraft = { named: string } | { own: WindowDraft };

export type OnNonWorkday = "run" | "skip" | "nextWorkday" | "previousWorkday";

export interface Draft extends ScheduleDraft {
  name: string;
  description: string;
  calendar: string | null;
  onNonWorkday: OnNonWorkday;
  exceptions: ExceptionDraft[];
  blackouts: BlackoutDraft[];
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

export interface PartProps {
  draft: Draft;
  set: SetDraft;
  /** What is wrong at a path into the document. */
  error: (field: string) => string | null;
  zones: readonly string[];
}

export function emptyDraft(zone: string, soon: string): Draft {
  return {
    name: "",
    description: "",
    ...emptySchedule(zone, soon),
    calendar: null,
    onNonWorkday: "run",
    exceptions: [],
    blackouts: [],
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
  const { calendar, onNonWorkday, exceptions, blackouts, effectiveFrom, effectiveUntil, supersede, ...rest } = more;
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
  Object.assign(draft, await scheduleFrom(client, schedule as Schedule, zone, soon));
  const held = async (at: unknown) => (typeof at === "number" ? await wallText(client, at, draft.zone) : "");
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
  draft.blackouts = await Promise.all(
    ((blackouts as JobBlackout[] | undefined) ?? []).map(async (each) =>
      typeof each === "string" ? { named: each } : { own: await windowFrom(client, each, draft.zone, soon) },
    ),
  );
  return draft;
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
  const blackouts = await blackoutsOf(client, draft);
  if (blackouts.length > 0) spec.blackouts = blackouts;
  if (draft.effectiveFrom.trim() !== "")
    spec.effectiveFrom = await instantIn(client, draft.zone, "effectiveFrom", draft.effectiveFrom);
  if (draft.effectiveUntil.trim() !== "")
    spec.effectiveUntil = await instantIn(client, draft.zone, "effectiveUntil", draft.effectiveUntil);
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

async function exceptionsOf(client: QueryClient, draft: Draft): Promise<Exception[]> {
  const out: Exception[] = [];
  for (const [i, each] of draft.exceptions.entries()) {
    const at = async (local: string) => instantIn(client, draft.zone, `exceptions.${i}.at`, local);
    if (each.change === "skip") out.push({ change: "skip", planned: each.planned });
    else if (each.change === "moveTo") out.push({ change: "moveTo", planned: each.planned, at: await at(each.at) });
    else out.push({ change: "added", at: await at(each.at) });
  }
  return out;
}

async function blackoutsOf(client: QueryClient, draft: Draft): Promise<JobBlackout[]> {
  const out: JobBlackout[] = [];
  for (const [i, each] of draft.blackouts.entries()) {
    try {
      out.push("named" in each ? each.named : await windowOf(client, each.own));
    } catch (error) {
      if (error instanceof DraftError) throw new DraftError(`blackouts.${i}.${error.field}`);
      throw error;
    }
  }
  return out;
}
