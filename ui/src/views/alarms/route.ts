import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";

export type AlarmsShow = "open" | "resolved" | "all";

export interface AlarmsSearch {
  show?: AlarmsShow;
  /** The one whose detail is shown. */
  alarm?: string;
}

export const alarmsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/alarms",
  component: lazyRouteComponent(() => import("./AlarmsView"), "AlarmsView"),
  validateSearch: (search: Record<string, unknown>): AlarmsSearch => ({
    ...(search.show === "resolved" || search.show === "all" ? { show: search.show } : {}),
    ...(typeof search.alarm === "string" ? { alarm: search.alarm } : {}),
  }),
});
