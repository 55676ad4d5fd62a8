import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import type { RunsSearch } from "./filter";

// One code alone reads as a number in an address.
const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? String(value) : "");

export const runsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs",
  component: lazyRouteComponent(() => import("./RunsView"), "RunsView"),
  validateSearch: (search: Record<string, unknown>): RunsSearch => ({
    ...(text(search.state) ? { state: text(search.state) } : {}),
    ...(text(search.code) ? { code: text(search.code) } : {}),
    ...(text(search.job) ? { job: text(search.job) } : {}),
    ...(text(search.executor) ? { executor: text(search.executor) } : {}),
  }),
});
