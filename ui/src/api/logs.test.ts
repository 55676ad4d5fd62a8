import { afterEach, expect, test, vi } from "vitest";
import { newClient } from "./client";
import { extended, logQuery, MOST_LINES, withGap } from "./logs";
import type { LogView } from "./types";

const answer = (texts: string[], next: number, over: Partial<LogView> = {}): LogView => ({
  task: "t",
  attempt: 1,
  attempts: [1],
  lines: texts.map((text, i) => ({ at: i, time: "", stream: "stdout", text })),
  next,
  at_end: true,
  closed: false,
  ...over,
});

test("new lines go behind the known ones and count on", () => {
  const first = extended(undefined, answer(["a", "b"], 4));
  const then = extended(first, answer(["c"], 6));
  expect(then.lines.map(({ seq, text }) => [seq, text])).toEqual([
    [1, "a"],
    [2, "b"],
    [3, "c"],
  ]);
  expect(then.next).toBe(6);
});

test("an answer with nothing new keeps the very same lines, so that nothing is drawn again", () => {
  const first = extended(undefined, answer(["a"], 2));
  expect(extended(first, answer([], 2, { closed: true })).lines).toBe(first.lines);
});

test("another attempt begins anew", () => {
  const first = extended(undefined, answer(["a"], 2));
  const second = extended(first, answer(["x"], 2, { attempt: 2 }));
  expect(second.lines.map(({ seq, text }) => [seq, text])).toEqual([[1, "x"]]);
});

test("of a log too long for the window the oldest lines go, and the others keep their numbers", () => {
  const first = extended(undefined, answer(Array.from({ length: MOST_LINES }, String), 10));
  const then = extended(first, answer(["last"], 11));
  expect(then.lines).toHaveLength(MOST_LINES);
  expect(then.lines[0]?.seq).toBe(2);
  expect(then.lines.at(-1)).toMatchObject({ seq: MOST_LINES + 1, text: "last" });
});

test("a gap is a line that says so", () => {
  const known = withGap(extended(undefined, answer(["a"], 2)), "left out");
  expect(known.lines.at(-1)).toMatchObject({ seq: 2, stream: "note", text: "left out" });
});

test("standard error and the node's own notes are told from output", () => {
  const lines = ["stdout", "stderr", "log"].map((stream) => ({ at: 0, time: "", stream, text: "" }));
  expect(extended(undefined, answer([], 0, { lines })).lines.map(({ stream }) => stream)).toEqual([
    "out",
    "err",
    "note",
  ]);
});

/** A log of so many lines behind the door, with the questions that were asked. */
function behindTheDoor(lines: () => string[], closed: () => boolean) {
  const asked: (number | null)[] = [];
  vi.stubGlobal("fetch", async (_url: string, init: { body: string }) => {
    const { from, limit } = JSON.parse(init.body).input as { from: number | null; limit: number };
    asked.push(from);
    const all = lines();
    // Places are counted in lines here; from the end, a line counts as a hundred bytes.
    const start = from === null ? 0 : from < 0 ? Math.max(0, all.length + from / 100) : from;
    const part = all.slice(start, start + limit);
    const next = start + part.length;
    return new Response(JSON.stringify(answer(part, next, { at_end: next >= all.length, closed: closed() })));
  });
  return asked;
}

afterEach(() => vi.unstubAllGlobals());

test("a growing log is read on from where it was left, and once it is closed not at all", async () => {
  let lines = ["a", "b"];
  let closed = false;
  const asked = behindTheDoor(
    () => lines,
    () => closed,
  );
  const client = newClient();
  const query = logQuery("t", 1, "gap");
  await client.fetchQuery(query);
  lines = ["a", "b", "c"];
  closed = true;
  const tail = await client.fetchQuery(query);
  expect(tail.lines.map(({ text }) => text)).toEqual(["a", "b", "c"]);
  expect(asked).toEqual([null, 2]);
  await client.fetchQuery(query);
  expect(asked).toHaveLength(2);
});

test("of a very long log the beginning and the end are read, and the gap between them is said", async () => {
  const lines = Array.from({ length: 200_000 }, (_, i) => String(i));
  const asked = behindTheDoor(
    () => lines,
    () => true,
  );
  const tail = await newClient().fetchQuery(logQuery("t", 1, "left out"));
  expect(asked.filter((from) => from !== null && from < 0)).toHaveLength(1);
  expect(tail.lines[0]?.text).toBe("0");
  expect(tail.lines.filter(({ stream }) => stream === "note").map(({ text }) => text)).toEqual(["left out"]);
  expect(tail.lines.at(-1)?.text).toBe("199999");
  expect(tail.lines.length).toBeLessThanOrEqual(MOST_LINES);
});
