// From when a version of a job holds: from when it was saved, or from its `effectiveFrom` where that is later.
import type { VersionRow } from "@/api/types";

type Version = Pick<VersionRow, "version" | "saved_at"> & { spec: Pick<VersionRow["spec"], "effectiveFrom"> };

export function startsLater({ spec, saved_at }: Version): boolean {
  return (spec.effectiveFrom ?? 0) > saved_at.ms;
}

/** The newest whose time has come; `versions` are newest first. */
export function inForce<V extends Version>(versions: readonly V[], now: number): V | undefined {
  return versions.find((each) => !startsLater(each) || (each.spec.effectiveFrom ?? 0) <= now) ?? versions.at(-1);
}
