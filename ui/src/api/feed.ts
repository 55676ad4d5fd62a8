// What a frame of the live feed means for what is on the page: which questions must be asked again.
//
// Frames are numbered. One that does not follow the last by one means that some were lost, and what they would have said
// is not guessed: everything is asked again. The same holds for a snapshot, which is how the node begins.
import type { QueryClient } from "@tanstack/react-query";
import type { Frame } from "./types";

export type Stale = "everything" | readonly string[];

export class Sequence {
  #last: number | null = null;

  /** What this frame makes stale, given those seen before it. */
  take(frame: Pick<Frame, "seq" | "kind" | "stale">): Stale {
    const follows = this.#last !== null && frame.seq === this.#last + 1;
    this.#last = frame.seq;
    return frame.kind === "snapshot" || !follows ? "everything" : frame.stale;
  }

  /** A new connection counts anew. */
  forget() {
    this.#last = null;
  }
}

/**
 * Asks again what is stale, one question at a time for each topic.
 *
 * A change that comes while the answer to the last one is under way is remembered, and asked for once more when that
 * answer is there: an answer is never cut off by the next change (under a constant stream none would ever arrive),
 * and the last change is never missed.
 */
export class Refresher {
  readonly #client: QueryClient;
  readonly #busy = new Set<string>();
  readonly #again = new Set<string>();

  constructor(client: QueryClient) {
    this.#client = client;
  }

  stale(what: Stale) {
    if (what === "everything") {
      const topics = new Set(
        this.#client
          .getQueryCache()
          .getAll()
          .map((query) => String(query.queryKey[0])),
      );
      for (const topic of topics) void this.#refresh(topic);
      return;
    }
    for (const topic of what) void this.#refresh(topic);
  }

  async #refresh(topic: string) {
    if (this.#busy.has(topic)) {
      this.#again.add(topic);
      return;
    }
    this.#busy.add(topic);
    // A question asked before this change, whose answer may not know of it yet.
    if (this.#client.isFetching({ queryKey: [topic] }) > 0) this.#again.add(topic);
    try {
      await this.#client.invalidateQueries({ queryKey: [topic] }, { cancelRefetch: false });
    } finally {
      this.#busy.delete(topic);
      if (this.#again.delete(topic)) void this.#refresh(topic);
    }
  }
}

/** How long to wait before the nth attempt to connect again: 0.3 s doubling to 5 s, scattered so that windows do not march in step. */
export function backoffMs(attempt: number, scatter: number): number {
  return Math.min(5_000, 300 * 2 ** attempt) * (0.75 + scatter * 0.5);
}
