// The node's clock, as the window sees it: its own clock plus the offset the node's frames tell. One ticking source for
// every relative time on the page, so that a hundred rows cost one timer and all of them turn over together.
import { useSyncExternalStore } from "react";

let offset = 0;
let tick = Date.now();
let timer: number | undefined;
const listeners = new Set<() => void>();

/** Called by the door whenever the node says what time it is. */
export function nodeSays(now: number) {
  offset = now - Date.now();
}

/** Now, by the node's clock, in epoch milliseconds. */
export function now(): number {
  return Date.now() + offset;
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
