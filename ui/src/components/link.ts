// What a place looks like: a colour for one's own machine, and one for each team that chose it, so that production is never
// mistaken for a laptop. Its name stands beside the colour wherever it is shown.
import type { TeamColour } from "@/api/types";

export type LinkColour = TeamColour | "local";

/** In the order in which they are offered. */
export const TEAM_COLOURS: readonly TeamColour[] = ["red", "amber", "violet", "blue"];

export const linkGround: Record<LinkColour, string> = {
  local: "bg-link-local",
  red: "bg-link-red",
  amber: "bg-link-amber",
  violet: "bg-link-violet",
  blue: "bg-link-blue",
};

export const linkPill: Record<LinkColour, string> = {
  local: "bg-link-local/12 text-link-local",
  red: "bg-link-red/12 text-link-red",
  amber: "bg-link-amber/12 text-link-amber",
  violet: "bg-link-violet/12 text-link-violet",
  blue: "bg-link-blue/12 text-link-blue",
};

/** On the rail, which is dark in both themes. */
export const linkOnRail: Record<LinkColour, string> = {
  local: "border-link-local",
  red: "border-rail-red",
  amber: "border-rail-amber",
  violet: "border-rail-violet",
  blue: "border-rail-blue",
};
