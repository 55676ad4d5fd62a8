import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("./SettingsView"), "SettingsView"),
  /** A blackout window that is to be edited, by its name; a team that is to be connected to. */
  validateSearch: (search: Record<string, unknown>): { blackout?: string; team?: "new" } => ({
    ...(typeof search.blackout === "string" && search.blackout !== "" ? { blackout: search.blackout } : {}),
    ...(search.team === "new" ? { team: "new" } : {}),
  }),
});

export const calendarRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings/calendars/$calendar",
  component: lazyRouteComponent(() => import("./CalendarEditor"), "CalendarEditorView"),
  validateSearch: (search: Record<string, unknown>): { year?: number } => {
    const year = Number(search.year);
    return Number.isInteger(year) && year >= 1970 && year <= 2200 ? { year } : {};
  },
});
