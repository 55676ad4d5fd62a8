// What the working-day calendar says of a day: a day off or a make-up day, by shape and name. Which calendar: the one that
// most jobs keep to, else China's in its own zones.
import { useQuery } from "@tanstack/react-query";
import { Briefcase, TreePalm } from "lucide-react";
import { calendarQuery, calendarsQuery } from "@/api/calendars";
import { bootstrapQuery } from "@/api/node";
import type { CalendarDay, DayMark, WorkCalendarRow } from "@/api/types";
import { cx } from "@/lib/cx";
import { marks, useSaid, useWords } from "@/lib/words";
import { calendarWords } from "./words";

const OF_CHINA = ["Asia/Shanghai", "Asia/Urumqi", "Asia/Chongqing", "Asia/Harbin", "PRC"];

/** The calendar that the days are painted by; none where nobody keeps to any. */
export function painted(rows: readonly WorkCalendarRow[], zone: string): WorkCalendarRow | null {
  const most = rows.filter((row) => row.jobs > 0).sort((a, b) => b.jobs - a.jobs)[0];
  return most ?? (OF_CHINA.includes(zone) ? rows.find((row) => row.name === "cn") : undefined) ?? null;
}

export function useDayMark(date: string): DayMark | null {
  const rows = useQuery(calendarsQuery()).data?.rows;
  const zone = useQuery(bootstrapQuery()).data?.zone;
  const by = rows && zone !== undefined ? painted(rows, zone) : null;
  const year = Number(date.slice(0, 4));
  const found = useQuery({ ...calendarQuery(by?.name ?? "", year), enabled: by !== null });
  return found.data?.year.days.find((day) => day.date === date)?.mark ?? null;
}

export function DayMarks({ day, brief = false }: { day: CalendarDay; brief?: boolean }) {
  const w = useWords(calendarWords);
  const said = useSaid();
  const m = useWords(marks);
  const mark = useDayMark(day.date);
  if (!mark) return null;
  const name = mark.name ? said(mark.name) : "";
  const what = mark.kind === "off" ? w.dayOff : w.makeUpDay;
  return (
    <span
      data-testid="day-mark"
      data-kind={mark.kind}
      title={name === "" ? what : what + m.colon + name}
      className={cx(
        "peer/mark flex h-5 min-w-0 items-center gap-1 px-1 text-2xs",
        mark.kind === "off" ? "rounded-full bg-lost-soft text-lost" : "rounded-xs bg-ok-soft text-ok",
      )}
    >
      {mark.kind === "off" ? <TreePalm size={12} className="shrink-0" /> : <Briefcase size={12} className="shrink-0" />}
      <span className={cx("truncate", brief && "max-w-28")}>{name === "" ? what : name}</span>
    </span>
  );
}

/** The ground of such a day, under what fires on it. */
export function DayGround({ date }: { date: string }) {
  const mark = useDayMark(date);
  if (!mark) return null;
  return (
    <div
      aria-hidden="true"
      className={cx("absolute inset-0", mark.kind === "off" ? "bg-lost-soft/45" : "bg-ok-soft/40")}
    />
  );
}
