// When: the kinds of schedule, each with the few fields it needs. What it comes to stands beside it, as one types.
import type { Fault } from "@/api/types";
import { JobsField } from "@/components";
import {
  CronFields,
  IntervalFields,
  type Kind,
  optionsOf,
  RepeatFields,
  type ScheduleDraft,
  type SchedulePartProps,
  scheduleWords,
  WallField,
  ZoneField,
} from "@/components/schedule";
import { useWords } from "@/lib/words";
import { Segmented } from "@/primitives";
import { timeWords } from "./timeWords";
import { jobWords } from "./words";

interface ScheduleFieldsProps extends SchedulePartProps {
  faults: readonly Fault[];
  /** The job that is edited, by its name. */
  self: string | null;
}

export function ScheduleFields({ faults, self, ...props }: ScheduleFieldsProps) {
  const { draft, set, error } = props;
  const w = useWords(jobWords).form;
  const t = useWords(scheduleWords);
  const { kind } = draft;
  return (
    <div className="flex flex-col gap-1">
      <Segmented<Kind>
        label={t.kind}
        bare
        value={kind}
        onChange={(next) => set({ kind: next })}
        options={optionsOf(t.kinds)}
        className="mb-2"
      />
      {kind === "cron" && <CronFields {...props} faults={faults} />}
      {kind === "repeat" && <RepeatFields {...props} />}
      {kind === "interval" && <IntervalFields {...props} />}
      {kind === "once" && (
        <div className="grid grid-cols-2 gap-x-4">
          <WallField
            label={t.date}
            value={draft.once.at}
            onChange={(at) => set({ once: { at } })}
            error={error("schedule.at")}
          />
          <ZoneField {...props} />
        </div>
      )}
      {kind === "after" && <AfterFields {...props} self={self} />}
      {kind === "manual" && <p className="py-1 text-ink-2">{w.manualHint}</p>}
    </div>
  );
}

function AfterFields({ draft, set, error, self }: SchedulePartProps & { self: string | null }) {
  const t = useWords(timeWords).after;
  const { after } = draft;
  const change = (part: Partial<ScheduleDraft["after"]>) => set((old) => ({ after: { ...old.after, ...part } }));
  return (
    <div className="flex flex-col gap-1">
      <JobsField
        required
        label={t.jobs}
        value={after.jobs}
        onChange={(jobs) => change({ jobs })}
        error={error("schedule.jobs")}
        without={self}
      />
      <div className="flex flex-wrap gap-x-6">
        <Segmented
          label={t.on}
          value={after.on}
          onChange={(on) => change({ on })}
          error={error("schedule.on")}
          options={optionsOf(t.ons)}
        />
        <Segmented
          label={t.need}
          value={after.need}
          onChange={(need) => change({ need })}
          error={error("schedule.need")}
          hint={t.needHints[after.need]}
          options={optionsOf(t.needs)}
        />
      </div>
    </div>
  );
}
