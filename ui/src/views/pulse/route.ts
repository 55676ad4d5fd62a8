import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { PulseView } from "./PulseView";

export const pulseRoute = createRoute({ getParentRoute: () => rootRoute, path: "/", component: PulseView });
