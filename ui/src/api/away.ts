// What the policies did while nobody looked, and what waits to be answered; and when somebody last looked.
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { now } from "@/lib/clock";
import { call } from "./door";

const DAY = 86_400_000;
/** So long without a look is an absence: a lid that was shut, a night. */
export const ABSENCE_MS = 15 * 60_000;
const KEY = "campanile.looked";

/** Since when somebody has been away, going by the looks before this one; null where nobody was. */
export function awaySince(lastLook: number | null, at: number): number | null {
  return lastLook !== null && at - lastLook > ABSENCE_MS ? Math.max(lastLook, at - 30 * DAY) : null;
}

let since: number | null = null;
let looked: number | null = null;
const listeners = new Set<() => void>();

function look() {
  if (document.visibilityState !== "visible") return;
  const at = now();
  looked ??= Number(window.localStorage.getItem(KEY)) || null;
  const found = awaySince(looked, at);
  looked = at;
  window.localStorage.setItem(KEY, String(at));
  if (found === null) return;
  // Whoever comes back twice wants to know of all of it.
  since ??= found;
  for (const listener of listeners) listener();
}

/** Since when somebody has been away; stays until it is said that it was seen. */
export function useAwaySince(): [since: number | null, seen: () => void] {
  useEffect(() => {
    look();
    const timer = window.setInterval(look, 30_000);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
  const value = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => since,
  );
  const seen = () => {
    since = null;
    for (const listener of listeners) listener();
  };
  return [value, seen];
}

/** From a moment on, or of the last day; anew with each quarter of an hour, so that the last day goes along. */
export const awayQuery = (from: number | null, quarter: number) =>
  queryOptions({
    queryKey: ["away", from, from === null ? quarter : 0],
    queryFn: () => call("away", { since: from ?? now() - DAY }),
    meta: { topics: ["jobs", "instances"], paceMs: 1_000 },
    placeholderData: keepPreviousData,
  });

export function useAnswerQuestions() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { questions: string[]; run: boolean }) => call("answer_questions", input),
    onSettled: () =>
      Promise.all(["away", "pulse", "instances"].map((topic) => client.invalidateQueries({ queryKey: [topic] }))),
  });
}
