import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";

export interface JobsSearch {
  /** As typed into the filter: free text, `tag:finance`, `is:paused`. */
  q?: string;
  import?: "crontab" | "yaml";
}

export interface NewJobSearch {
  /** The job to begin with. */
  like?: string;
  /** Where somebody clicked on the calendar: a wall-clock time in the zone that is shown. */
  at?: string;
}

export const jobsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs",
  component: lazyRouteComponent(() => import("./JobsView"), "JobsView"),
  validateSearch: (search: Record<string, unknown>): JobsSearch => ({
    ...(typeof search.q === "string" && search.q !== "" ? { q: search.q } : {}),
    ...(search.import === "crontab" || search.import === "yaml" ? { import: search.import } : {}),
  }),
});

export const newJobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs/new",
  component: lazyRouteComponent(() => import("./JobForm"), "NewJobView"),
  validateSearch: (search: Record<string, unknown>): NewJobSearch => ({
    ...(typeof search.like === "string" ? { like: search.like } : {}),
    ...(typeof search.at === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(search.at) ? { at: search.at } : {}),
  }),
});

export const jobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs/$job",
  component: lazyRouteComponent(() => import("./JobView"), "JobView"),
  validateSearch: (search: Record<string, unknown>): { tab?: "versions" } =>
    search.tab === "versions" ? { tab: "versions" } : {},
});

export const editJobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs/$job/edit",
  component: lazyRouteComponent(() => import("./JobForm"), "EditJobView"),
});
