// The log of an attempt: read once to its end, then only what is new, each time the feed says that there is more.
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { call } from "./door";
import type { LogLineView, LogView } from "./types";

export interface Tail {
  attempt: number;
  attempts: readonly number[];
  lines: readonly TailLine[];
  /** Where to go on. */
  next: number;
  closed: boolean;
}

export interface TailLine extends Omit<LogLineView, "stream"> {
  /** Counts from 1, and stays with the line when those before it are let go. */
  seq: number;
  stream: "out" | "err" | "note";
}

/** Lines that are kept in the window; of a longer log the oldest are let go. All of it is in the file. */
export const MOST_LINES = 60_000;
const PER_READ = 5_000;
/** Reads from the beginning before the middle of a very long log is passed over. */
const MOST_READS = 10;
const END_BYTES = 1_000_000;

const STREAMS: Record<string, TailLine["stream"]> = { stdout: "out", stderr: "err" };

/** What is known, with what an answer adds to it. An answer about another attempt replaces it. */
export function extended(known: Tail | undefined, answer: LogView): Tail {
  const before = known?.attempt === answer.attempt ? known : undefined;
  const first = (before?.lines.at(-1)?.seq ?? 0) + 1;
  const added = answer.lines.map((line, i) => ({
    seq: first + i,
    at: line.at,
    time: line.time,
    text: line.text,
    stream: STREAMS[line.stream] ?? "note",
  }));
  const lines = added.length === 0 ? (before?.lines ?? []) : [...(before?.lines ?? []), ...added].slice(-MOST_LINES);
  return {
    attempt: answer.attempt,
    attempts: answer.attempts,
    lines,
    next: answer.next,
    closed: answer.closed && answer.at_end,
  };
}

/** A gap that somebody should know of, as a line of its own. */
export function withGap(known: Tail, text: string): Tail {
  const seq = (known.lines.at(-1)?.seq ?? 0) + 1;
  return { ...known, lines: [...known.lines, { seq, at: 0, time: "", text, stream: "note" }] };
}

export const logQuery = (task: string, attempt: number | null, gapText: string) => {
  const topic = `log:${task}`;
  const queryKey = [topic, attempt] as const;
  return queryOptions({
    queryKey,
    queryFn: ({ client }) => readOn(client, queryKey, task, attempt, gapText),
    meta: { topics: [topic], paceMs: 250 },
    // What is known is extended, never compared line by line.
    structuralSharing: false,
    staleTime: 0,
    gcTime: 30_000,
  });
};

async function readOn(
  client: QueryClient,
  key: readonly unknown[],
  task: string,
  attempt: number | null,
  gapText: string,
): Promise<Tail> {
  let known = client.getQueryData<Tail>(key);
  if (known?.closed) return known;
  for (let reads = 1; ; reads++) {
    const jump = reads === MOST_READS;
    if (jump && known) known = withGap(known, gapText);
    const answer: LogView = await call("read_log", {
      task,
      attempt,
      from: jump ? -END_BYTES : (known?.next ?? null),
      limit: PER_READ,
    });
    known = extended(known, answer);
    if (answer.at_end || answer.lines.length === 0) return known;
  }
}

/** So much of the whole log as the node looks through at once; `next` says where to go on. */
export const searchLog = (task: string, attempt: number, text: string, from: number | null) =>
  call("search_log", { task, attempt, text, ...(from === null ? {} : { from }), limit: 100 });

/** The log from one place on, as it was found there: it does not grow. */
export const logFromQuery = (task: string, attempt: number, from: number) =>
  queryOptions({
    queryKey: [`log:${task}`, "from", attempt, from],
    queryFn: async () => extended(undefined, await call("read_log", { task, attempt, from, limit: PER_READ })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  });
