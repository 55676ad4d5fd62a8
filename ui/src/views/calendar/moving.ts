// A firing that is being moved, from the grip to the drop: by the pointer, by keys, or dropped and asked about.
// Kept outside React, because it changes with every movement of the pointer and only the ghosts need to know.
import { useSyncExternalStore } from "react";
import type { CalendarEntry } from "@/api/calendar";

export interface Move {
  entry: CalendarEntry;
  day: number;
  minute: number;
  by: "pointer" | "keys";
  /** Dropped: the dialog asks what is meant. */
  asked: boolean;
  pointer: { x: number; y: number } | null;
}

export class Moving {
  #move: Move | null = null;
  readonly #listeners = new Set<() => void>();

  readonly get = () => this.#move;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  begin(entry: CalendarEntry, by: Move["by"]) {
    this.#set({ entry, day: entry.day, minute: entry.minute, by, asked: false, pointer: null });
  }

  to(day: number, minute: number, pointer: Move["pointer"] = null) {
    if (this.#move) this.#set({ ...this.#move, day, minute, pointer });
  }

  /** Lets go. True when it is somewhere else than before, so that there is something to ask. */
  drop(): boolean {
    const move = this.#move;
    if (!move) return false;
    if (move.day === move.entry.day && move.minute === move.entry.minute) {
      this.#set(null);
      return false;
    }
    this.#set({ ...move, asked: true, pointer: null });
    return true;
  }

  leave() {
    this.#set(null);
  }

  #set(move: Move | null) {
    this.#move = move;
    for (const listener of this.#listeners) listener();
  }
}

export function useMove(moving: Moving): Move | null {
  return useSyncExternalStore(moving.subscribe, moving.get);
}

export function keyOf(entry: CalendarEntry): string {
  return `${entry.job}|${entry.planned ?? entry.instance ?? entry.due.ms}`;
}
