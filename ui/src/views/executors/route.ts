import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { ExecutorsView } from "./ExecutorsView";

export interface ExecutorsSearch {
  /** `group/name` of the one whose detail is open. */
  executor?: string;
}

export const executorsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/executors",
  component: ExecutorsView,
  validateSearch: (search: Record<string, unknown>): ExecutorsSearch =>
    typeof search.executor === "string" ? { executor: search.executor } : {},
});
