// A blackout window while it is being written: once, from here to there, or again and again for so long. Times stand as the
// wall clock reads; `windowOf` makes of it what the node understands.
import type { QueryClient } from "@tanstack/react-query";
import type { Window } from "@/api/types";
import {
  DraftError,
  emptySchedule,
  instantIn,
  type ScheduleDraft,
  scheduleFrom,
  scheduleOf,
  secondsOf,
  spanOf,
  type Unit,
  wallText,
} from "./schedule";

export interface WindowDraft {
  kind: "once" | "again";
  /** On the wall clock of the schedule's zone. */
  from: string;
  until: string;
  schedule: ScheduleDraft;
  lasts: number | null;
  unit: Unit;
}

/** From `soon` (a reading of the wall, `2026-11-21T22:00`) for two hours; or, should it come again, from then each day. */
export function emptyWindow(zone: string, soon: string): WindowDraft {
  return {
    kind: "once",
    from: soon,
    until: hoursLater(soon, 2),
    schedule: { ...emptySchedule(zone, soon), kind: "repeat" },
    lasts: 2,
    unit: "h",
  };
}

/** On a wall clock that nothing changes: a proposal to type over. */
function hoursLater(wall: string, hours: number): string {
  const at = Date.parse(`${wall}Z`);
  return Number.isNaN(at) ? wall : new Date(at + hours * 3_600_000).toISOString().slice(0, 16);
}

export async function windowFrom(client: QueryClient, window: Window, zone: string, soon: string) {
  const draft = emptyWindow(zone, soon);
  const { from, until, schedule, durationSeconds } = window;
  if (schedule !== undefined) {
    const { every, unit } = spanOf(durationSeconds ?? 0);
    return {
      ...draft,
      kind: "again" as const,
      schedule: await scheduleFrom(client, schedule, zone, soon),
      lasts: every,
      unit,
    };
  }
  return {
    ...draft,
    from: from === undefined ? draft.from : await wallText(client, from, zone),
    until: until === undefined ? draft.until : await wallText(client, until, zone),
  };
}

/** Where a time cannot be read, a `DraftError` names its field as the node would. */
export async function windowOf(client: QueryClient, draft: WindowDraft): Promise<Window> {
  const { kind, schedule, lasts, unit } = draft;
  if (kind === "once") {
    const instant = (field: "from" | "until") => instantIn(client, schedule.zone, field, draft[field]);
    return { from: await instant("from"), until: await instant("until") };
  }
  try {
    return { schedule: await scheduleOf(client, schedule), durationSeconds: secondsOf(lasts, unit) };
  } catch (error) {
    if (error instanceof DraftError) throw new DraftError(error.field.replace(/^schedule\./, ""));
    throw error;
  }
}
