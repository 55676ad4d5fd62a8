// When a blackout window is: once, or again and again by a schedule, and for how long.
import { useWords } from "@/lib/words";
import { Segmented } from "@/primitives";
import { CronFields } from "./CronFields";
import { optionsOf, SpanField, WallField, ZoneField } from "./fields";
import { IntervalFields } from "./IntervalFields";
import { RepeatFields } from "./RepeatFields";
import type { SetSchedule } from "./schedule";
import type { WindowDraft } from "./window";
import { scheduleWords } from "./words";

interface WindowFieldsProps {
  draft: WindowDraft;
  /** Two fields may change before the page is drawn again. */
  set: (change: (old: WindowDraft) => WindowDraft) => void;
  /** What is wrong at a field of the window, such as `until`. */
  error: (field: string) => string | null;
  zones: readonly string[];
}

type Again = "repeat" | "cron" | "interval";

export function WindowFields({ draft, set, error, zones }: WindowFieldsProps) {
  const w = useWords(scheduleWords);
  const { schedule } = draft;
  const change = (part: Partial<WindowDraft>) => set((old) => ({ ...old, ...part }));
  const setSchedule: SetSchedule = (part) =>
    set((old) => ({
      ...old,
      schedule: { ...old.schedule, ...(typeof part === "function" ? part(old.schedule) : part) },
    }));
  const part = {
    draft: schedule,
    set: setSchedule,
    error: (field: string) => error(field.replace(/^schedule\./, "")),
    zones,
  };
  const { repeat, cron, interval } = w.kinds;
  return (
    <div className="@container flex min-w-0 flex-col gap-1">
      <div className="flex flex-wrap items-start gap-x-6">
        <Segmented
          label={w.window.kind}
          value={draft.kind}
          onChange={(kind) => change({ kind })}
          error={error("window")}
          options={optionsOf(w.window.kinds)}
        />
        {draft.kind === "again" && (
          <Segmented<Again>
            label={w.window.begins}
            value={schedule.kind as Again}
            onChange={(kind) => setSchedule({ kind })}
            error={error("schedule")}
            options={optionsOf({ repeat, cron, interval })}
          />
        )}
      </div>
      {draft.kind === "once" && (
        <div className="grid grid-cols-2 gap-x-4">
          <WallField
            label={w.window.from}
            value={draft.from}
            onChange={(from) => change({ from })}
            error={error("from")}
          />
          <WallField
            label={w.window.until}
            hint={w.window.untilHint}
            value={draft.until}
            onChange={(until) => change({ until })}
            error={error("until")}
          />
          <ZoneField {...part} />
        </div>
      )}
      {draft.kind === "again" && (
        <>
          <SpanField
            label={w.window.lasts}
            every={draft.lasts}
            unit={draft.unit}
            onChange={({ every = draft.lasts, unit = draft.unit }) => change({ lasts: every, unit })}
            error={error("durationSeconds")}
          />
          {schedule.kind === "cron" && <CronFields {...part} faults={[]} />}
          {schedule.kind === "repeat" && <RepeatFields {...part} windows />}
          {schedule.kind === "interval" && <IntervalFields {...part} rateOnly />}
        </>
      )}
    </div>
  );
}
