// The node's clock, as the window sees it: a clock of the window that is never put, plus the offset that the node's
// frames tell. One ticking source for every relative time on the page, so that a hundred rows cost one timer and all of
// them turn over together.
import { useSyncExternalStore } from "react";

/** What frames told of the offset: the greatest of the present stretch of time, and of the one before it. */
export interface Heard {
  best: number;
  before: number;
  since: number;
}

/** How long a stretch is: within two of them a clock that was put back at the node is followed. */
export const STRETCH_MS = 30_000;

/**
 * What is known once a frame came in `at`, by the window's clock, that was sent `told`, by the node's. A frame that was
 * long on its way makes the node's clock seem slow, so the one that was quickest is believed.
 */
export function hear(heard: Heard | null, told: number, at: number): Heard {
  const offset = told - at;
  if (heard && at - heard.since < STRETCH_MS) return { ...heard, best: Math.max(heard.best, offset) };
  return { best: offset, before: heard?.best ?? offset, since: at };
}

export const offsetOf = (heard: Heard) => Math.max(heard.best, heard.before);

let heard: Heard | null = null;
let tick = Date.now();
let timer: number | undefined;
const listeners = new Set<() => void>();

/** Called by the door whenever the node says what time it is. */
export function nodeSays(now: number) {
  heard = hear(heard, now, performance.now());
}

/** Now, by the node's clock, in epoch milliseconds. */
export function now(): number {
  return Math.round(performance.now() + (heard ? offsetOf(heard) : performance.timeOrigin));
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  if (timer === undefined) {
    timer = window.setInterval(() => {
      tick = now();
      for (const each of listeners) each();
    }, 1_000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      window.clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Now, by the node's clock, renewed every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => tick);
}

/** The present minute's beginning, for what need not be drawn again each second. */
export function useMinute(): number {
  return useSyncExternalStore(subscribe, () => tick - (tick % 60_000));
}
