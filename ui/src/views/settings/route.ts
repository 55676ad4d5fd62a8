import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { CalendarEditorView } from "./CalendarEditor";
import { SettingsView } from "./SettingsView";

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  component: SettingsView,
  /** A blackout window that is to be edited, by its name. */
  validateSearch: (search: Record<string, unknown>): { blackout?: string } =>
    typeof search.blackout === "string" && search.blackout !== "" ? { blackout: search.blackout } : {},
});

export const calendarRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings/calendars/$calendar",
  component: CalendarEditorView,
  validateSearch: (search: Record<string, unknown>): { year?: number } => {
    const year = Number(search.year);
    return Number.isInteger(year) && year >= 1970 && year <= 2200 ? { year } : {};
  },
});
