import { createRoute } from "@tanstack/react-router";
import { rootRoute } from "@/app/root";
import { SettingsView } from "./SettingsView";

export const settingsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/settings",
  component: SettingsView,
});
