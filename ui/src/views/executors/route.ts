import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";

export interface ExecutorsSearch {
  /** `group/name` of the one whose detail is open. */
  executor?: string;
}

export const executorsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/executors",
  component: lazyRouteComponent(() => import("./ExecutorsView"), "ExecutorsView"),
  validateSearch: (search: Record<string, unknown>): ExecutorsSearch =>
    typeof search.executor === "string" ? { executor: search.executor } : {},
});
