// A firing that is being moved, copied, or whose spread is being pulled, from the grip to the drop: by the pointer, by keys,
// or dropped and asked about.
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

/** Something in the hand: kept outside React, because it changes with every movement of the pointer. */
export class Held<T> {
  #held: T | null = null;
  readonly #listeners = new Set<() => void>();

  readonly get = () => this.#held;

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  };

  leave() {
    this.hold(null);
  }

  protected hold(held: T | null) {
    this.#held = held;
    for (const listener of this.#listeners) listener();
  }
}

export class Moving extends Held<Move> {
  begin(entry: CalendarEntry, by: Move["by"], manner: Manner = "move") {
    this.hold({ entry, manner, day: entry.day, minute: entry.minute, by, asked: false, pointer: null });
  }

  /** Whether it is a copy may be decided until it is dropped. */
  copying(copy: boolean) {
    const move = this.get();
    if (!move || move.manner === "stretch" || (move.manner === "copy") === copy) return;
    this.hold({ ...move, manner: copy ? "copy" : "move" });
  }

  to(day: number, minute: number, pointer: Move["pointer"] = null) {
    const move = this.get();
    if (move) this.hold({ ...move, day, minute, pointer });
  }

  /** Lets go. True when it is somewhere else than before, so that there is something to ask. */
  drop(): boolean {
    const move = this.get();
    if (!move) return false;
    if (move.day === move.entry.day && move.minute === move.entry.minute) {
      this.hold(null);
      return false;
    }
    this.hold({ ...move, asked: true, pointer: null });
    return true;
  }
}

export function useHeld<T>(held: Held<T>): T | null {
  return useSyncExternalStore(held.subscribe, held.get);
}

export function keyOf(entry: CalendarEntry): string {
  return `${entry.job}|${entry.planned ?? entry.instance ?? entry.due.ms}`;
}
