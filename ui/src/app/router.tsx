// The views and their addresses. The address lives behind the # of the page, so that the same page works in the desktop
// and from any folder of a server, and a filter can be shared by copying it.
import { createHashHistory, createRouter } from "@tanstack/react-router";
import { alarmsRoute } from "@/views/alarms/route";
import { calendarRoute } from "@/views/calendar/route";
import { executorsRoute } from "@/views/executors/route";
import { editJobRoute, jobRoute, jobsRoute, newJobRoute } from "@/views/jobs/route";
import { pulseRoute } from "@/views/pulse/route";
import { runRoute } from "@/views/run/route";
import { runsRoute } from "@/views/runs/route";
import { settingsRoute, calendarRoute as workingDaysRoute } from "@/views/settings/route";
import { rootRoute } from "./root";

const routeTree = rootRoute.addChildren([
  pulseRoute,
  calendarRoute,
  jobsRoute,
  newJobRoute,
  jobRoute,
  editJobRoute,
  runsRoute,
  runRoute,
  executorsRoute,
  alarmsRoute,
  settingsRoute,
  workingDaysRoute,
]);

export const router = createRouter({ routeTree, history: createHashHistory(), defaultPreload: false });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
