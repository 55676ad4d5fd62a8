import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { AlarmsView } from "./AlarmsView";

export const alarmsRoute = createRoute({ getParentRoute: () => rootRoute, path: "/alarms", component: AlarmsView });
