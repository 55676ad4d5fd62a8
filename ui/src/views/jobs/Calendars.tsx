// Which working-day calendar the job keeps to, and what becomes of a run that falls on a day off. What that moves stands in
// the list of next runs, with its reason.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { calendarsQuery } from "@/api/calendars";
import { optionsOf } from "@/components/schedule";
import { useSaid, useWords } from "@/lib/words";
import { Select } from "@/primitives";
import type { PartProps } from "./draft";
import { timeWords } from "./timeWords";

export function Calendars({ draft, set, error }: PartProps) {
  const t = useWords(timeWords);
  const said = useSaid();
  const rows = useQuery(calendarsQuery()).data?.rows ?? [];
  const { calendar } = draft;
  const known = calendar === null || rows.some((row) => row.name === calendar);
  return (
    <div className="grid grid-cols-2 gap-x-4">
      <Select
        label={t.calendar}
        value={calendar ?? ""}
        onChange={(next) => set({ calendar: next === "" ? null : next })}
        error={error("calendar")}
        hint={
          <Link to="/settings" className="text-accent-ink hover:underline">
            {t.calendarHint}
          </Link>
        }
        options={[
          { value: "", label: t.noCalendar },
          ...rows.map((row) => ({ value: row.name, label: said(row.title), detail: row.name })),
          ...(known ? [] : [{ value: calendar ?? "", label: calendar ?? "" }]),
        ]}
      />
      <Select
        label={t.onNonWorkday}
        value={draft.onNonWorkday}
        onChange={(onNonWorkday) => set({ onNonWorkday })}
        error={error("onNonWorkday")}
        options={optionsOf(t.onNonWorkdays)}
      />
    </div>
  );
}
