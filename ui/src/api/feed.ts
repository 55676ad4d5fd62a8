// What a frame of the live feed means for what is on the page: which questions must be asked again.
//
// Frames are numbered. One that does not follow the last by one means that some were lost, and what they would have said
// is not guessed: everything is asked again. The same holds for a snapshot, which is how the node begins.
import type { Query, QueryClient } from "@tanstack/react-query";
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
 * No question is asked again sooner than this after its last answer; its `meta.paceMs` may say later, and one whose
 * answer took long waits twice that long, so that a heavy page never takes the node's time for itself.
 */
const PACE_MS = 200;

/**
 * Asks again what is stale. A question belongs to the topic that its key begins with, and to those in its `meta.topics`.
 *
 * A change that comes while the answer to the last one is under way is remembered, and asked for once more when that
 * answer is there: an answer is never cut off by the next change (under a constant stream none would ever arrive),
 * and the last change is never missed.
 */
export class Refresher {
  readonly #client: QueryClient;
  readonly #paceMs: number;
  readonly #busy = new Set<string>();
  readonly #again = new Set<string>();

  constructor(client: QueryClient, paceMs = PACE_MS) {
    this.#client = client;
    this.#paceMs = paceMs;
  }

  stale(what: Stale) {
    for (const query of this.#client.getQueryCache().getAll()) {
      if (what === "everything" || topicsOf(query).some((topic) => what.includes(topic))) void this.#refresh(query);
    }
  }

  async #refresh(query: Query) {
    query.invalidate();
    if (!query.isActive()) return;
    const hash = query.queryHash;
    if (this.#busy.has(hash)) {
      this.#again.add(hash);
      return;
    }
    this.#busy.add(hash);
    // Asked before this change: its answer may not know of it yet.
    if (query.state.fetchStatus === "fetching") this.#again.add(hash);
    const asked = Date.now();
    try {
      await this.#client.refetchQueries({ queryKey: query.queryKey, exact: true }, { cancelRefetch: false });
      const pace = Math.max(query.meta?.paceMs ?? this.#paceMs, 2 * (Date.now() - asked));
      await new Promise((done) => setTimeout(done, pace));
    } finally {
      this.#busy.delete(hash);
      if (this.#again.delete(hash)) void this.#refresh(query);
    }
  }
}

function topicsOf(query: Query): readonly string[] {
  const first = String(query.queryKey[0]);
  return query.meta?.topics ? [first, ...query.meta.topics] : [first];
}

/** How long to wait before the nth attempt to connect again: 0.3 s doubling to 5 s, scattered so that windows do not march in step. */
export function backoffMs(attempt: number, scatter: number): number {
  return Math.min(5_000, 300 * 2 ** attempt) * (0.75 + scatter * 0.5);
}
