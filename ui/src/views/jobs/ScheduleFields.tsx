// When: the kinds of schedule, each with the few fields it needs. What it comes to stands beside it, as one types.

import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import type { Option } from "@/primitives";
import { Field, NumberField, Segmented, Select, TextField } from "@/primitives";
import type { Draft, Kind, Level, SetDraft, Unit } from "./draft";
import { jobWords } from "./words";

interface ScheduleFieldsProps {
  draft: Draft;
  set: SetDraft;
  error: (field: string) => string | null;
  zones: readonly string[];
}

function optionsOf<T extends string>(labels: Record<T, string>): Option<T>[] {
  return (Object.keys(labels) as T[]).map((value) => ({ value, label: labels[value] }));
}

export function ScheduleFields({ draft, set, error, zones }: ScheduleFieldsProps) {
  const w = useWords(jobWords).form;
  const { kind } = draft;
  return (
    <div className="flex flex-col gap-1">
      <Segmented<Kind>
        label={w.kind}
        bare
        value={kind}
        onChange={(next) => set({ kind: next })}
        options={optionsOf(w.kinds)}
        className="mb-2"
      />
      {kind === "cron" && <CronFields draft={draft} set={set} error={error} zones={zones} />}
      {kind === "repeat" && <RepeatFields draft={draft} set={set} error={error} zones={zones} />}
      {kind === "interval" && <IntervalFields draft={draft} set={set} error={error} zones={zones} />}
      {kind === "once" && (
        <div className="grid grid-cols-2 gap-x-4">
          <WallField
            label={w.date}
            value={draft.once.at}
            onChange={(at) => set({ once: { at } })}
            error={error("schedule.at")}
          />
          <ZoneField draft={draft} set={set} error={error} zones={zones} />
        </div>
      )}
      {kind === "manual" && <p className="py-1 text-ink-2">{w.manualHint}</p>}
    </div>
  );
}

function ZoneField({ draft, set, error, zones }: ScheduleFieldsProps) {
  const w = useWords(jobWords).form;
  const known = zones.includes(draft.zone) ? zones : [draft.zone, ...zones];
  return (
    <Select
      label={w.zone}
      value={draft.zone}
      onChange={(zone) => set({ zone })}
      error={error("schedule.timeZone")}
      options={known.map((zone) => ({ value: zone, label: zone }))}
    />
  );
}

function WallField(props: {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error: string | null;
  hint?: string;
  isDisabled?: boolean;
}) {
  const { value, onChange, ...rest } = props;
  return (
    <TextField
      {...rest}
      value={value.replace("T", " ")}
      onChange={onChange}
      placeholder="2026-12-01 03:00"
      inputClassName="tabular-nums"
    />
  );
}

function ClockFields({ draft, set, error }: Omit<ScheduleFieldsProps, "zones">) {
  const w = useWords(jobWords).form;
  return (
    <>
      <Select
        label={w.gap}
        value={draft.dstGap}
        onChange={(dstGap) => set({ dstGap })}
        error={error("schedule.dstGap")}
        options={optionsOf(w.gaps)}
      />
      <Select
        label={w.overlapTime}
        value={draft.dstOverlap}
        onChange={(dstOverlap) => set({ dstOverlap })}
        error={error("schedule.dstOverlap")}
        options={optionsOf(w.overlaps)}
      />
    </>
  );
}

function CronFields({ draft, set, error, zones }: ScheduleFieldsProps) {
  const w = useWords(jobWords).form;
  const { cron } = draft;
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-1">
      <TextField
        className="col-span-2"
        code
        required
        label={w.expression}
        hint={w.expressionHint}
        value={cron.expression}
        onChange={(expression) => set((old) => ({ cron: { ...old.cron, expression } }))}
        error={error("schedule.expression")}
        inputClassName="text-sm tracking-wide"
      />
      <ZoneField draft={draft} set={set} error={error} zones={zones} />
      <Select
        label={w.dialect}
        value={cron.dialect}
        onChange={(dialect) => set((old) => ({ cron: { ...old.cron, dialect } }))}
        error={error("schedule.dialect")}
        options={optionsOf(w.dialects)}
      />
      <ClockFields draft={draft} set={set} error={error} />
    </div>
  );
}

function RepeatFields({ draft, set, error, zones }: ScheduleFieldsProps) {
  const w = useWords(jobWords).form;
  const { repeat } = draft;
  const change = (part: Partial<Draft["repeat"]>) => set((old) => ({ repeat: { ...old.repeat, ...part } }));
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-1">
      <WallField
        label={w.firstRun}
        hint={w.firstRunHint}
        value={repeat.start}
        onChange={(start) => change({ start })}
        error={error("schedule.startTime")}
      />
      <ZoneField draft={draft} set={set} error={error} zones={zones} />
      <div className="col-span-2 flex items-start gap-2">
        <NumberField
          className="w-32"
          label={w.level}
          min={1}
          value={repeat.interval}
          onChange={(interval) => change({ interval })}
          error={error("schedule.repeatInterval")}
        />
        <Segmented<Level>
          bare
          className="mt-5.5"
          label={w.level}
          value={repeat.level}
          onChange={(level) => change({ level })}
          options={optionsOf(w.levels)}
        />
      </div>
      {repeat.level === "week" && (
        <Field className="col-span-2" label={w.weekdays} error={error("schedule.repeatDays")}>
          {(aria) => <Weekdays {...aria} value={repeat.weekdays} onChange={(weekdays) => change({ weekdays })} />}
        </Field>
      )}
      {repeat.level === "month" && (
        <TextField
          className="col-span-2"
          label={w.monthDays}
          hint={w.monthDaysHint}
          value={repeat.monthDays}
          onChange={(monthDays) => change({ monthDays })}
          error={error("schedule.repeatDays")}
          placeholder="1, 15, -1"
        />
      )}
      <div className="col-span-2 flex items-start gap-3">
        <Segmented
          label={w.ends}
          value={repeat.ends}
          onChange={(ends) => change({ ends })}
          options={optionsOf(w.endsKinds)}
        />
        {repeat.ends === "on" && (
          <WallField
            label={w.endsOn}
            value={repeat.endsOn}
            onChange={(endsOn) => change({ endsOn })}
            error={error("schedule.endTime")}
          />
        )}
        {repeat.ends === "count" && (
          <NumberField
            className="w-36"
            label={w.endsCount}
            min={1}
            value={repeat.count}
            onChange={(count) => change({ count })}
            error={error("schedule.count")}
          />
        )}
      </div>
      {repeat.level !== "hour" && <ClockFields draft={draft} set={set} error={error} />}
    </div>
  );
}

interface WeekdaysProps {
  id: string;
  "aria-describedby": string;
  value: readonly number[];
  onChange: (value: number[]) => void;
}

function Weekdays({ id, value, onChange, "aria-describedby": describedBy }: WeekdaysProps) {
  const names = useWords(jobWords).form.weekdayNames.split(" ");
  return (
    <div id={id} role="group" aria-describedby={describedBy} className="flex gap-1">
      {names.map((name, i) => {
        const day = i + 1;
        const on = value.includes(day);
        return (
          <button
            key={name}
            type="button"
            aria-pressed={on}
            onClick={() => onChange(on ? value.filter((each) => each !== day) : [...value, day])}
            className={cx(
              "h-8 min-w-11 rounded-md px-2 ring-1 ring-inset transition-colors duration-100",
              on
                ? "bg-accent-soft font-medium text-accent-ink ring-accent-ink"
                : "bg-surface text-ink-2 ring-line-strong hover:bg-hover",
            )}
          >
            {name}
          </button>
        );
      })}
    </div>
  );
}

function IntervalFields({ draft, set, error, zones }: ScheduleFieldsProps) {
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
