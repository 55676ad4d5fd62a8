// When: the kinds of schedule, each with the few fields it needs. What it comes to stands beside it, as one types.
import type { Fault } from "@/api/types";
import { JobsField } from "@/components";
import { useWords } from "@/lib/words";
import { NumberField, Segmented } from "@/primitives";
import { CronFields } from "./CronFields";
import type { Draft, Kind, Unit } from "./draft";
import { optionsOf, type PartProps, WallField, ZoneField } from "./fields";
import { RepeatFields } from "./RepeatFields";
import { timeWords } from "./timeWords";
import { jobWords } from "./words";

interface ScheduleFieldsProps extends PartProps {
  faults: readonly Fault[];
  /** The job that is edited, by its name. */
  self: string | null;
}

export function ScheduleFields({ faults, self, ...props }: ScheduleFieldsProps) {
  const { draft, set, error } = props;
  const w = useWords(jobWords).form;
  const t = useWords(timeWords);
  const { kind } = draft;
  return (
    <div className="flex flex-col gap-1">
      <Segmented<Kind>
        label={w.kind}
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
            label={w.date}
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

function IntervalFields({ draft, set, error, zones }: PartProps) {
  const w = useWords(jobWords).form;
  const { interval } = draft;
  const change = (part: Partial<Draft["interval"]>) => set((old) => ({ interval: { ...old.interval, ...part } }));
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-1">
      <div className="col-span-2 flex items-start gap-2">
        <NumberField
          className="w-32"
          label={w.every}
          min={1}
          value={interval.every}
          onChange={(every) => change({ every })}
          error={error("schedule.everySeconds")}
        />
        <Segmented<Unit>
          bare
          className="mt-5.5"
          label={w.unit}
          value={interval.unit}
          onChange={(unit) => change({ unit })}
          options={optionsOf(w.units)}
        />
      </div>
      <Segmented
        className="col-span-2"
        label={w.intervalKind}
        value={interval.kind}
        onChange={(kind) => change({ kind })}
        options={optionsOf(w.intervalKinds)}
      />
      <Segmented
        label={w.starts}
        value={interval.starts}
        onChange={(starts) => change({ starts })}
        options={optionsOf(w.startsKinds)}
      />
      {interval.starts === "at" && (
        <>
          <WallField
            label={w.date}
            value={interval.start}
            onChange={(start) => change({ start })}
            error={error("schedule.startTime")}
          />
          <ZoneField draft={draft} set={set} error={error} zones={zones} />
        </>
      )}
    </div>
  );
}

function AfterFields({ draft, set, error, self }: PartProps & { self: string | null }) {
  const t = useWords(timeWords).after;
  const { after } = draft;
  const change = (part: Partial<Draft["after"]>) => set((old) => ({ after: { ...old.after, ...part } }));
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
