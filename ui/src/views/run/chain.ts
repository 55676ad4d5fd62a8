// What the chain of moments says of lateness: the gaps between its steps, and which of them it was.
import type { ChainLink, ChainStep } from "@/api/types";

/** For each link, how long after the one before it that has come; null for the first and for what has not come. */
export function gaps(chain: readonly ChainLink[]): (number | null)[] {
  let last: number | null = null;
  return chain.map(({ at }) => {
    if (!at) return null;
    const gap = last === null ? null : Math.max(0, at.ms - last);
    last = at.ms;
    return gap;
  });
}

const STEPS: readonly ChainStep[] = [
  "planned",
  "due",
  "created",
  "assigned",
  "admitted",
  "pushed",
  "started",
  "finished",
];

/**
 * The chain with the steps that nothing is known of yet behind it, so that the way that lies ahead is seen. What has
 * ended has no way ahead.
 */
export function wholeWay(chain: readonly ChainLink[], over: boolean): ChainLink[] {
  const last = STEPS.indexOf(chain.at(-1)?.step ?? "planned");
  const ahead = over ? [] : STEPS.slice(last + 1);
  return [...chain, ...ahead.map((step) => ({ step, at: null, words: { en: "", zh: "" } }))];
}

export interface Lateness {
  /** From due to started; null while it has not started. */
  ms: number | null;
  /** Of the steps up to the start, the one that was waited for longest. */
  worst: { from: ChainStep; to: ChainStep; ms: number; index: number } | null;
}

/**
 * Only what lies between due and started makes a run late: a planned time that was moved does not. Where there were
 * several attempts, the chain is the last one's, and how late the first started is the run's own to say.
 */
export function lateness(chain: readonly ChainLink[]): Lateness {
  const due = chain.find((link) => link.step === "due")?.at;
  const started = chain.find((link) => link.step === "started")?.at;
  const all = gaps(chain);
  const counted: ChainStep[] = ["created", "assigned", "admitted", "pushed", "started"];
  let worst: Lateness["worst"] = null;
  let before: ChainStep | null = null;
  chain.forEach((link, index) => {
    const ms = all[index];
    if (before && ms !== null && ms !== undefined && counted.includes(link.step) && ms > (worst?.ms ?? 0))
      worst = { from: before, to: link.step, ms, index };
    if (link.at) before = link.step;
  });
  return { ms: due && started ? Math.max(0, started.ms - due.ms) : null, worst };
}

/** How wide a step is drawn: by the order of its gap, so that a second and an hour both have a place. */
export function share(gapMs: number | null): number {
  return gapMs === null ? 1 : 1 + Math.log10(1 + gapMs / 20) * 0.55;
}
