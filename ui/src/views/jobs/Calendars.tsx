import type { PartProps } from "./fields";

export function Calendars(_: PartProps) {
  return null;
}
