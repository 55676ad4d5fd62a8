// What becomes of a planned time when it cannot be kept as it stands: days off, single runs changed by hand, the span in
// which this version holds, missed times, runs that overlap, and the window over which runs are spread.
import { optionsOf, WallField } from "@/components/schedule";
import { useWords } from "@/lib/words";
import { NumberField, Segmented, Select } from "@/primitives";
import { Calendars } from "./Calendars";
import type { PartProps } from "./draft";
import { Exceptions } from "./Exceptions";
import { JobBlackouts } from "./JobBlackouts";
import { timeWords } from "./timeWords";

export function TimePolicies(props: PartProps) {
  const { draft, set, error } = props;
  const t = useWords(timeWords);
  const byTime = draft.kind !== "manual" && draft.kind !== "after";
  return (
    <div className="flex flex-col gap-1">
      {byTime && <Calendars {...props} />}
      {byTime && <Exceptions {...props} />}
      {draft.kind !== "manual" && <JobBlackouts {...props} />}
      <div className="grid grid-cols-2 gap-x-4 gap-y-1">
        <div className="min-w-0">
          <Select
            label={t.misfire.label}
            value={draft.misfire}
            onChange={(misfire) => set({ misfire })}
            error={error("misfire.policy")}
            hint={t.misfire.hints[draft.misfire]}
            options={optionsOf(t.misfire.kinds)}
          />
          {draft.misfire === "catchUp" && (
            <NumberField
              label={t.misfire.most}
              min={1}
              max={1_000}
              value={draft.catchUpMost}
              onChange={(catchUpMost) => set({ catchUpMost })}
              error={error("misfire.max")}
            />
          )}
        </div>
        <div className="min-w-0">
          <Select
            label={t.overlap.label}
            value={draft.overlap}
            onChange={(overlap) => set({ overlap })}
            error={error("overlap")}
            options={optionsOf(t.overlap.kinds)}
          />
          {draft.overlap === "queue" && (
            <Segmented<"skip" | "latest">
              label={t.overlap.full}
              value={draft.supersede ? "latest" : "skip"}
              onChange={(next) => set({ supersede: next === "latest" })}
              error={error("supersede")}
              options={optionsOf(t.overlap.fulls)}
            />
          )}
        </div>
        <NumberField
          label={t.misfire.grace}
          unit="s"
          min={0}
          value={draft.graceSeconds}
          onChange={(graceSeconds) => set({ graceSeconds })}
          error={error("misfire.graceSeconds")}
        />
        <NumberField
          label={t.spread}
          hint={t.spreadHint}
          unit="s"
          min={0}
          value={draft.spreadSeconds}
          onChange={(spreadSeconds) => set({ spreadSeconds })}
          error={error("spreadSeconds")}
        />
        {byTime && (
          <>
            <WallField
              label={t.effective.from}
              hint={t.effective.fromHint}
              value={draft.effectiveFrom}
              onChange={(effectiveFrom) => set({ effectiveFrom })}
              error={error("effectiveFrom")}
            />
            <WallField
              label={t.effective.until}
              hint={t.effective.untilHint}
              value={draft.effectiveUntil}
              onChange={(effectiveUntil) => set({ effectiveUntil })}
              error={error("effectiveUntil")}
            />
          </>
        )}
      </div>
    </div>
  );
}
