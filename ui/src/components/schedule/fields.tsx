// Fields that several parts of a schedule have: a zone, a wall-clock time, a span, a choice made of its words.
import { useWords } from "@/lib/words";
import { NumberField, type Option, Segmented, Select, TextField } from "@/primitives";
import type { ScheduleDraft, SetSchedule, Unit } from "./schedule";
import { scheduleWords } from "./words";

export interface SchedulePartProps {
  draft: ScheduleDraft;
  set: SetSchedule;
  /** What is wrong at a path into the document, such as `schedule.timeZone`. */
  error: (field: string) => string | null;
  zones: readonly string[];
}

export function optionsOf<T extends string>(labels: Record<T, string>): Option<T>[] {
  return (Object.keys(labels) as T[]).map((value) => ({ value, label: labels[value] }));
}

export function ZoneField({ draft, set, error, zones }: SchedulePartProps) {
  const w = useWords(scheduleWords);
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

interface WallFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error: string | null;
  hint?: string;
  bare?: boolean;
  className?: string;
}

export function WallField({ value, onChange, ...rest }: WallFieldProps) {
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

interface SpanFieldProps {
  label: string;
  every: number | null;
  unit: Unit;
  onChange: (part: { every?: number | null; unit?: Unit }) => void;
  error: string | null;
}

/** So many seconds, minutes, hours or days. */
export function SpanField({ label, every, unit, onChange, error }: SpanFieldProps) {
  const w = useWords(scheduleWords);
  return (
    <div className="col-span-2 flex items-start gap-2">
      <NumberField
        className="w-32"
        label={label}
        min={1}
        value={every}
        onChange={(every) => onChange({ every })}
        error={error}
      />
      <Segmented<Unit>
        bare
        className="mt-5.5"
        label={w.unit}
        value={unit}
        onChange={(unit) => onChange({ unit })}
        options={optionsOf(w.units)}
      />
    </div>
  );
}
