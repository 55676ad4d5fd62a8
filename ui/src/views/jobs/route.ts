import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { JobsView } from "./JobsView";
import { JobView } from "./JobView";

export const jobsRoute = createRoute({ getParentRoute: () => rootRoute, path: "/jobs", component: JobsView });

export const jobRoute = createRoute({ getParentRoute: () => rootRoute, path: "/jobs/$job", component: JobView });
