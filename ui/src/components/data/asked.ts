// Where any part of the console asks for the dialog that starts a run from a file: the shell shows it.
import { useSyncExternalStore } from "react";
import type { Handed } from "@/api/data";

export interface Asked {
  /** Null: the person is asked for a file. */
  handed: Handed | null;
  /** The job that it was asked from. */
  job: string | null;
}

let asked: Asked | null = null;
const listeners = new Set<() => void>();

export function askForData(next: Asked | null) {
  asked = next;
  for (const listener of listeners) listener();
}

export function useAskedForData(): Asked | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
}
