// Fields that several parts of the form have: a zone, a wall-clock time, a choice made of its words.
import { useWords } from "@/lib/words";
import { type Option, Select, TextField } from "@/primitives";
import type { Draft, SetDraft } from "./draft";
import { jobWords } from "./words";

export interface PartProps {
  draft: Draft;
  set: SetDraft;
  error: (field: string) => string | null;
  zones: readonly string[];
}

export function optionsOf<T extends string>(labels: Record<T, string>): Option<T>[] {
  return (Object.keys(labels) as T[]).map((value) => ({ value, label: labels[value] }));
}

export function ZoneField({ draft, set, error, zones }: PartProps) {
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
