// What stands in the rail, from the top. A view that does not exist is not here.
import { Activity, BellRing, CalendarDays, History, ListTodo, Network, Server, Settings } from "lucide-react";
import type { ComponentType } from "react";
import type { shellWords } from "./words";

type ViewName = keyof (typeof shellWords)["en"]["views"];

export interface RailEntry {
  to: "/" | "/calendar" | "/jobs" | "/runs" | "/executors" | "/alarms" | "/infrastructure" | "/settings";
  name: ViewName;
  /** Pressed after g. */
  letter: string;
  icon: ComponentType<{ size?: number; strokeWidth?: number }>;
}

export const RAIL: readonly RailEntry[] = [
  { to: "/", name: "pulse", letter: "p", icon: Activity },
  { to: "/calendar", name: "calendar", letter: "c", icon: CalendarDays },
  { to: "/jobs", name: "jobs", letter: "j", icon: ListTodo },
  { to: "/runs", name: "runs", letter: "r", icon: History },
  { to: "/executors", name: "executors", letter: "e", icon: Server },
  { to: "/alarms", name: "alarms", letter: "a", icon: BellRing },
  { to: "/infrastructure", name: "infrastructure", letter: "i", icon: Network },
  { to: "/settings", name: "settings", letter: "s", icon: Settings },
];
