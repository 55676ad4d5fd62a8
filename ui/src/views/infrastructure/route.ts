import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";

export interface InfrastructureSearch {
  /** What is looked for among the locks. */
  q?: string;
  /** The one whose detail is open. */
  lock?: string;
}

export const infrastructureRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/infrastructure",
  component: lazyRouteComponent(() => import("./InfrastructureView"), "InfrastructureView"),
  validateSearch: (search: Record<string, unknown>): InfrastructureSearch => ({
    ...(typeof search.q === "string" && search.q !== "" ? { q: search.q } : {}),
    ...(typeof search.lock === "string" ? { lock: search.lock } : {}),
  }),
});
