import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { EditJobView, NewJobView } from "./JobForm";
import { JobsView } from "./JobsView";
import { JobView } from "./JobView";

export interface JobsSearch {
  /** As typed into the filter: free text, `tag:finance`, `is:paused`. */
  q?: string;
  import?: "crontab" | "yaml";
}

export const jobsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs",
  component: JobsView,
  validateSearch: (search: Record<string, unknown>): JobsSearch => ({
    ...(typeof search.q === "string" && search.q !== "" ? { q: search.q } : {}),
    ...(search.import === "crontab" || search.import === "yaml" ? { import: search.import } : {}),
  }),
});

export const newJobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs/new",
  component: NewJobView,
  validateSearch: (search: Record<string, unknown>): { like?: string } =>
    typeof search.like === "string" ? { like: search.like } : {},
});

export const jobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs/$job",
  component: JobView,
  validateSearch: (search: Record<string, unknown>): { tab?: "versions" } =>
    search.tab === "versions" ? { tab: "versions" } : {},
});

export const editJobRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/jobs/$job/edit",
  component: EditJobView,
});
