// The views and their addresses. The address lives behind the # of the page, so that the same page works in the desktop
// and from any folder of a server, and a filter can be shared by copying it.
import { createHashHistory, createRouter } from "@tanstack/react-router";
import { alarmsRoute } from "@/views/alarms/route";
import { calendarRoute } from "@/views/calendar/route";
import { executorsRoute } from "@/views/executors/route";
import { infrastructureRoute } from "@/views/infrastructure/route";
import { editJobRoute, jobRoute, jobsRoute, newJobRoute } from "@/views/jobs/route";
import { pulseRoute } from "@/views/pulse/route";
import { runRoute } from "@/views/run/route";
import { runsRoute } from "@/views/runs/route";
import { settingsRoute, calendarRoute as workingDaysRoute } from "@/views/settings/route";
import { rootRoute } from "./root";

// Where the console opens; the other views come in files of their own.
const first = pulseRoute;
const others = [
  calendarRoute,
  jobsRoute,
  newJobRoute,
  jobRoute,
  editJobRoute,
  runsRoute,
  runRoute,
  executorsRoute,
  alarmsRoute,
  infrastructureRoute,
  settingsRoute,
  workingDaysRoute,
];
const routeTree = rootRoute.addChildren([first, ...others]);

/** Fetches the other views, once the first one stands: going there never waits. */
export function fetchViews() {
  for (const { options } of others) {
    const { component } = options as { component?: { preload?: () => Promise<unknown> } };
    // One that cannot be fetched now is fetched again, and refused there, when someone goes to it.
    component?.preload?.().catch(() => {});
  }
}

export const router = createRouter({ routeTree, history: createHashHistory(), defaultPreload: false });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
