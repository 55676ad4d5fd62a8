import type { JobRow } from "@/api/types";
import type { Outcome } from "@/components";

/** The last firings of a job for the strip: the oldest first, whatever order they came in. */
export function outcomesOf(job: JobRow): Outcome[] {
  return job.last.toSorted((a, b) => a.due - b.due).map((each) => ({ id: each.instance, state: each.state }));
}
