// The filter of the job list, as it is typed: words, `tag:finance`, `is:paused`, `is:active`.
import type { ListJobs } from "@/api/types";

export type JobFilter = Required<Pick<ListJobs, "text" | "paused" | "tag">>;

export function parseFilter(typed: string): JobFilter {
  const filter: JobFilter = { text: null, paused: null, tag: null };
  const rest: string[] = [];
  for (const word of typed.split(/\s+/)) {
    const low = word.toLowerCase();
    if (low === "is:paused") filter.paused = true;
    else if (low === "is:active") filter.paused = false;
    else if (low.startsWith("tag:") && word.length > 4) filter.tag = word.slice(4);
    else if (word !== "") rest.push(word);
  }
  if (rest.length > 0) filter.text = rest.join(" ");
  return filter;
}

/** The same filter with another answer to 'paused or not'. */
export function withState(typed: string, state: "all" | "active" | "paused"): string {
  const words = typed.split(/\s+/).filter((word) => word !== "" && !/^is:/i.test(word));
  if (state !== "all") words.push(`is:${state}`);
  return words.join(" ");
}

export function withTag(typed: string, tag: string): string {
  const words = typed.split(/\s+/).filter((word) => word !== "" && !/^tag:/i.test(word));
  return [...words, `tag:${tag}`].join(" ");
}
