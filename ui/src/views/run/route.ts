import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { RunView } from "./RunView";

export const runRoute = createRoute({ getParentRoute: () => rootRoute, path: "/runs/$instance", component: RunView });
