// What becomes of a time that the clocks skip or show twice. Asked only where it can matter: in a zone whose clocks change,
// for a schedule of fixed times.
import { useQuery } from "@tanstack/react-query";
import { clockChangesQuery } from "@/api/clocks";
import { marks, useWords } from "@/lib/words";
import { Select } from "@/primitives";
import { optionsOf, type SchedulePartProps } from "./fields";
import type { ScheduleDraft } from "./schedule";
import { scheduleWords } from "./words";

/** A cron that steps through every hour or minute fires at each real instant; so does a repetition of hours. */
export function clocksMatter(draft: ScheduleDraft): boolean {
  if (draft.kind === "repeat") return draft.repeat.level !== "hour";
  if (draft.kind !== "cron") return false;
  const fields = draft.cron.expression.trim().split(/\s+/);
  if (fields.length < 5) return true;
  const [minute, hour] = fields.length === 5 ? fields : fields.slice(1);
  return !minute?.startsWith("*") && !hour?.startsWith("*");
}

export function ClockFields({ draft, set, error }: SchedulePartProps) {
  const t = useWords(scheduleWords).clocks;
  const m = useWords(marks);
  const changes = useQuery(clockChangesQuery(draft.zone));
  if (!clocksMatter(draft)) return null;
  const usual = draft.dstGap === "shift" && draft.dstOverlap === "first";
  const dates = changes.data ?? [];
  if (changes.data && dates.length === 0 && usual)
    return <p className="col-span-2 min-h-4.5 text-ink-3 text-xs">{t.none(draft.zone)}</p>;
  return (
    <fieldset className="col-span-2 grid min-w-0 grid-cols-2 gap-x-4">
      <legend className="sr-only">{t.title}</legend>
      <Select
        label={t.gap}
        value={draft.dstGap}
        onChange={(dstGap) => set({ dstGap })}
        error={error("schedule.dstGap")}
        hint={dates.length > 0 ? t.next(draft.zone, dates.join(m.and)) : ""}
        options={optionsOf(t.gaps)}
      />
      <Select
        label={t.overlap}
        value={draft.dstOverlap}
        onChange={(dstOverlap) => set({ dstOverlap })}
        error={error("schedule.dstOverlap")}
        options={optionsOf(t.overlaps)}
      />
    </fieldset>
  );
}
