import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";

export const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/runs/$instance",
  component: lazyRouteComponent(() => import("./RunView"), "RunView"),
});
