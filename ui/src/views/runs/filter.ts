// What is asked for, as the address carries it: states and codes as lists with commas.
import type { RunsFilter } from "@/api/instances";
import type { InstanceState } from "@/api/types";

export interface RunsSearch {
  /** `failed,running` */
  state?: string;
  /** `302,403` */
  code?: string;
  /** A job's name. */
  job?: string;
  /** `group/name` of an executor. */
  executor?: string;
}

export const STATES: readonly InstanceState[] = [
  "waiting",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "superseded",
];

export function statesOf(search: RunsSearch): InstanceState[] {
  const named = (search.state ?? "").split(",");
  return STATES.filter((state) => named.includes(state));
}

export function codesOf(search: RunsSearch, known: readonly number[]): number[] {
  const named = (search.code ?? "").split(",").map(Number);
  return known.filter((code) => named.includes(code));
}

export function executorOf(search: RunsSearch): RunsFilter["executor"] {
  const [group, ...name] = (search.executor ?? "").split("/");
  return group && name.length > 0 ? { group, name: name.join("/") } : null;
}

/** The list with one more, or one less. */
export function toggled<T>(list: readonly T[], one: T): string | undefined {
  const next = list.includes(one) ? list.filter((each) => each !== one) : [...list, one];
  return next.length === 0 ? undefined : next.join(",");
}

export function filterOf(search: RunsSearch, known: readonly number[]): RunsFilter {
  return {
    executor: executorOf(search),
    job: search.job ?? null,
    states: statesOf(search),
    task_states: codesOf(search, known),
  };
}
