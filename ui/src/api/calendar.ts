// What the calendar asks: a week at a time, and what a drop would do.
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { localOffsetMs } from "@/lib/offset";
import { call, getZone } from "./door";
import type * as wire from "./types";
import type { Allowed, CalendarDay, JobSpec, Words } from "./types";

/** A firing with what its job and its notes say of it. */
export type CalendarEntry = Omit<wire.CalendarEntry, "job" | "reason" | "fixed"> & {
  job: string;
  name: string;
  words: Words;
  /** For a colour that stays with the job: 0 to 11. */
  hue: number;
  reason: Words | null;
  can_move: Allowed;
};

/** A job too frequent to be drawn one by one, on one day. */
export type CalendarBand = Omit<wire.CalendarBand, "job"> & { job: string; name: string; words: Words; hue: number };

export type CalendarView = Omit<wire.CalendarView, "jobs" | "notes" | "entries" | "bands"> & {
  entries: CalendarEntry[];
  bands: CalendarBand[];
};

/** Puts each job's words and each note where they are shown; they are shared, not copied. */
export function joined({ jobs, notes, ...view }: wire.CalendarView): CalendarView {
  const of = (index: number) => {
    const job = jobs[index];
    if (!job) throw new Error(`the calendar names job ${index} and tells ${jobs.length}`);
    return { job: job.id, name: job.name, words: job.words, hue: job.hue };
  };
  const note = (index: number | null) => (index === null ? null : (notes[index] ?? null));
  return {
    ...view,
    entries: view.entries.map(({ fixed, reason, ...entry }) => ({
      ...entry,
      ...of(entry.job),
      reason: note(reason),
      can_move: { ok: fixed === null, why: note(fixed) },
    })),
    bands: view.bands.map((band) => ({ ...band, ...of(band.job) })),
  };
}

/**
 * One week, from `monday` on; the present one where that is null. Whatever shows fewer days shows a part of it, so that
 * going from day to day asks nothing.
 */
export const weekQuery = (monday: string | null, text: string) =>
  queryOptions({
    queryKey: ["calendar", monday, text],
    queryFn: async () => {
      const week = joined(await call("calendar", { date: monday, days: 7, text: text === "" ? null : text }));
      const today = week.days.find((day) => day.today);
      if (today && getZone() === "local") tellOffset(today);
      return week;
    },
    // With a job each second something ends all the time; the picture of a week need not follow each of them.
    meta: { topics: ["jobs", "instances", "settings"], paceMs: 1_000 },
    placeholderData: keepPreviousData,
    // Midnight comes without an event.
    refetchInterval: 60_000,
  });

/** The whole weeks of a month. */
export const monthQuery = (first: string, days: number, text: string) =>
  queryOptions({
    queryKey: ["calendar", first, text, days],
    queryFn: async () => joined(await call("calendar", { date: first, days, text: text === "" ? null : text })),
    meta: { topics: ["jobs", "instances", "settings"], paceMs: 1_000 },
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });

/** Midnight on the wall, less the instant of it, is the offset; on a day on which the clocks change there are two, and neither is told. */
function tellOffset(day: CalendarDay) {
  const atStart = Date.parse(`${day.date}T00:00:00Z`) - day.start;
  const atEnd = Date.parse(`${day.date}T00:00:00Z`) + 86_400_000 - day.end;
  if (atStart !== atEnd) return;
  const minutes = Math.round(Math.abs(atStart) / 60_000);
  const two = (n: number) => String(n).padStart(2, "0");
  localOffsetMs.set(`${atStart < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`);
}

export const rescheduleQuery = (ask: { job: string; planned: number; to_local: string }) =>
  queryOptions({
    queryKey: ["reschedule", ask.job, ask.planned, ask.to_local],
    queryFn: () => call("reschedule", ask),
    meta: { topics: ["jobs"] },
    gcTime: 0,
  });

/** Saves what a drop would do. The dialog that asked shows a refusal itself. */
export function useSaveMove() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { spec: JobSpec; job: string; seen_version: number }) => call("save_job", input),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["jobs"] }),
        client.invalidateQueries({ queryKey: ["calendar"] }),
      ]),
    meta: { quiet: true },
  });
}

/** A run put down a second time, at a reading of the wall; or another window over which the runs are spread. */
export type Adjust = { is: "copy"; to_local: string } | { is: "spread"; seconds: number };

/** What that would come to: the job as it would be saved, its next runs as they are and as they would be. */
export const adjustQuery = (job: string, adjust: Adjust) =>
  queryOptions({
    queryKey: ["adjust", job, adjust],
    queryFn: () =>
      adjust.is === "copy"
        ? call("copy_run", { job, to_local: adjust.to_local })
        : call("spread_runs", { job, seconds: adjust.seconds }),
    meta: { topics: ["jobs"] },
    gcTime: 0,
    retry: false,
  });

/** What was changed by hand about single runs and would mean nothing to the job as it would be saved. */
export const lapsedQuery = (job: string, spec: JobSpec | null) =>
  queryOptions({
    queryKey: ["lapsed", job, spec?.schedule, spec?.effectiveFrom],
    enabled: spec !== null,
    queryFn: async () => {
      const { exceptions } = (await call("get_job", { job })).spec;
      if (!spec || !exceptions || exceptions.length === 0) return [];
      return (await call("check_job", { spec: { ...spec, exceptions }, job })).lapsed;
    },
    gcTime: 0,
  });

/** Leaves one run out, and says under which version, so that it can be taken back. */
export function useSkipRun() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ job, planned }: { job: string; planned: number }) => {
      const { spec, row } = await call("get_job", { job });
      const others = (spec.exceptions ?? []).filter((each) => each.change === "added" || each.planned !== planned);
      const added = (spec.exceptions ?? []).some((each) => each.change === "added" && each.at === planned);
      const exceptions = added
        ? others.filter((each) => each.change !== "added" || each.at !== planned)
        : [...others, { change: "skip" as const, planned }];
      const done = await call("save_job", { spec: { ...spec, exceptions }, job, seen_version: row.version });
      return { before: row.version, version: done.version };
    },
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["jobs"] }),
        client.invalidateQueries({ queryKey: ["calendar"] }),
      ]),
  });
}

/** Takes a move back: the version before it becomes the newest, unless somebody has changed the job since. */
export function useTakeBackMove() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { job: string; version: number; seen_version: number | null }) =>
      call("restore_version", input),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: ["jobs"] }),
        client.invalidateQueries({ queryKey: ["calendar"] }),
      ]),
  });
}
