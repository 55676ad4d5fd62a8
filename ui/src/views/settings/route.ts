import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { CalendarEditorView } from "./CalendarEditor";
import { SettingsView } from "./SettingsView";

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  component: SettingsView,
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
