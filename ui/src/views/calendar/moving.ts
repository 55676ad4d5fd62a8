// A firing that is being moved, copied, or whose spread is being pulled, from the grip to the drop: by the pointer, by keys, or dropped and asked about.
// Kept outside React, because it changes with every movement of the pointer and only the ghosts need to know.
import { useSyncExternalStore } from "react";
import type { CalendarEntry } from "@/api/calendar";

/** Moved; put down a second time; or its lower edge pulled, which is the window over which it is spread. */
export type Manner = "move" | "copy" | "stretch";

export interface Move {
  entry: CalendarEntry;
  manner: Manner;
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

  begin(entry: CalendarEntry, by: Move["by"], manner: Manner = "move") {
    this.#set({ entry, manner, day: entry.day, minute: entry.minute, by, asked: false, pointer: null });
  }

  /** Whether it is a copy may be decided until it is dropped. */
  copying(copy: boolean) {
    const move = this.#move;
    if (!move || move.manner === "stretch" || (move.manner === "copy") === copy) return;
    this.#set({ ...move, manner: copy ? "copy" : "move" });
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
