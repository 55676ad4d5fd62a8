import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { isDate } from "@/lib/civil";

export type Mode = "week" | "day" | "month" | "agenda";

export interface CalendarSearch {
  /** A day of the week that is shown; the present one where absent. */
  date?: string;
  mode?: Mode;
  text?: string;
}

export const calendarRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/calendar",
  component: lazyRouteComponent(() => import("./CalendarView"), "CalendarView"),
  validateSearch: (search: Record<string, unknown>): CalendarSearch => ({
    ...(typeof search.date === "string" && isDate(search.date) ? { date: search.date } : {}),
    ...(search.mode === "day" || search.mode === "month" || search.mode === "agenda" ? { mode: search.mode } : {}),
    ...(typeof search.text === "string" && search.text !== "" ? { text: search.text } : {}),
  }),
});
