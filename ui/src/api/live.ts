// The live connection, kept for as long as the window is open: connects, counts frames, asks again what they make stale,
// connects anew when it ends. What it knows (are we connected, since when not, the node's status bar) is read with `useLive`,
// which renders only where what it reads has changed.
import { type QueryClient, replaceEqualDeep } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { nodeSays } from "@/lib/clock";
import { type FeedLink, openFeed } from "./door";
import { backoffMs, Refresher, Sequence } from "./feed";
import type { Fault, Status } from "./types";

export interface Live {
  phase: "connecting" | "live" | "lost";
  /** By the window's own clock: when the last frame came. What is on the page is at most this fresh. */
  heardAt: number | null;
  status: Status | null;
  /** Why there is no connection, where the node said so. */
  fault: Fault | null;
}

let live: Live = { phase: "connecting", heardAt: null, status: null, fault: null };
/** The same, as it is shown where figures go by: nobody reads ten of them a second. */
let calm: Live = live;
const CALM_MS = 500;
let calmTimer: number | undefined;
const listeners = new Set<() => void>();

function become(next: Live) {
  // What says the same stays the same object, down to its parts.
  live = { ...next, status: replaceEqualDeep(live.status, next.status) };
  if (calm.phase !== live.phase) calm = live;
  for (const listener of listeners) listener();
  if (calmTimer !== undefined) return;
  calmTimer = window.setTimeout(() => {
    calmTimer = undefined;
    calm = live;
    for (const listener of listeners) listener();
  }, CALM_MS);
}

/** The node sends a frame at least this often, if only to say that nothing happened; silence beyond it is a lost link. */
const SILENCE_MS = 10_000;

/** Connects anew at once, and forgets what was heard: it was of another place. */
export let reconnect: () => void = () => {};

export function startLive(client: QueryClient): () => void {
  const sequence = new Sequence();
  const refresher = new Refresher(client);
  let link: FeedLink | null = null;
  let attempt = 0;
  let retry: number | undefined;
  let watch: number | undefined;
  let stopped = false;

  const connect = () => {
    sequence.forget();
    // One that is closed says nothing any more.
    link = openFeed((frame) => {
      attempt = 0;
      window.clearTimeout(watch);
      watch = window.setTimeout(() => lose(), SILENCE_MS);
      nodeSays(frame.status.now);
      const stale = sequence.take(frame);
      become({ phase: "live", heardAt: Date.now(), status: frame.status, fault: null });
      refresher.stale(stale);
    }, lose);
  };

  const lose = (fault: Fault | null = null) => {
    if (stopped) return;
    link?.close();
    link = null;
    window.clearTimeout(watch);
    window.clearTimeout(retry);
    become({ ...live, phase: "lost", fault });
    retry = window.setTimeout(connect, backoffMs(attempt++, Math.random()));
  };

  reconnect = () => {
    link?.close();
    link = null;
    attempt = 0;
    window.clearTimeout(watch);
    window.clearTimeout(retry);
    live = { phase: "connecting", heardAt: null, status: null, fault: null };
    become(live);
    connect();
  };

  connect();
  return () => {
    stopped = true;
    window.clearTimeout(retry);
    window.clearTimeout(watch);
    link?.close();
  };
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What `read` finds in it: a part of it, or a plain value. */
export function useLive<T>(read: (live: Live) => T): T {
  return useSyncExternalStore(subscribe, () => read(live));
}

/** The same for figures that go by: twice a second. */
export function useCalmly<T>(read: (live: Live) => T): T {
  return useSyncExternalStore(subscribe, () => read(calm));
}
