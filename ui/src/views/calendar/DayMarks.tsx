import type { CalendarDay } from "@/api/types";

export function DayMarks(_: { day: CalendarDay; brief?: boolean }) {
  return null;
}
