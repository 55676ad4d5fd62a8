import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backoffMs, Refresher, Sequence } from "./feed";

const delta = (seq: number, ...stale: string[]) => ({ seq, kind: "delta" as const, stale });
const snapshot = (seq: number) => ({ seq, kind: "snapshot" as const, stale: [] });

test("after a snapshot each frame makes stale what it names", () => {
  const sequence = new Sequence();
  expect(sequence.take(snapshot(7))).toBe("everything");
  expect(sequence.take(delta(8, "jobs"))).toEqual(["jobs"]);
  expect(sequence.take(delta(9))).toEqual([]);
});

test("a gap makes everything stale, once", () => {
  const sequence = new Sequence();
  sequence.take(snapshot(1));
  expect(sequence.take(delta(3, "jobs"))).toBe("everything");
  expect(sequence.take(delta(4, "alarms"))).toEqual(["alarms"]);
});

test("a number that comes again or goes back is a gap, too", () => {
  const sequence = new Sequence();
  sequence.take(snapshot(5));
  expect(sequence.take(delta(5, "jobs"))).toBe("everything");
  expect(sequence.take(delta(2, "jobs"))).toBe("everything");
});

test("a new connection trusts no number of the old one", () => {
  const sequence = new Sequence();
  sequence.take(snapshot(1));
  sequence.forget();
  expect(sequence.take(delta(2, "jobs"))).toBe("everything");
});

test("attempts to connect again grow apart and stop growing", () => {
  expect([0, 1, 2, 10].map((attempt) => backoffMs(attempt, 0.5))).toEqual([300, 600, 1_200, 5_000]);
  expect(backoffMs(0, 0)).toBeLessThan(backoffMs(0, 1));
});

/** A question on the page whose answers come when the test says. */
function question(client: QueryClient, key: string, topics?: string[]) {
  const answers: (() => void)[] = [];
  let asked = 0;
  const observer = new QueryObserver(client, {
    queryKey: [key],
    queryFn: () => {
      const mine = ++asked;
      return new Promise<number>((done) => answers.push(() => done(mine)));
    },
    ...(topics ? { meta: { topics } } : {}),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const stop = observer.subscribe(() => undefined);
  const answer = async () => {
    answers.shift()?.();
    await vi.advanceTimersByTimeAsync(1);
  };
  return { asked: () => asked, answer, stop };
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test("only what is stale is asked again, by its key or by the topics it names", async () => {
  const client = new QueryClient();
  const jobs = question(client, "jobs");
  const pulse = question(client, "pulse", ["jobs", "alarms"]);
  const settings = question(client, "settings");
  for (const each of [jobs, pulse, settings]) await each.answer();
  new Refresher(client, 0).stale(["jobs"]);
  await vi.advanceTimersByTimeAsync(1);
  expect([jobs.asked(), pulse.asked(), settings.asked()]).toEqual([2, 2, 1]);
});

test("a change during an answer is asked for once more, however many there were, and none cuts the answer off", async () => {
  const client = new QueryClient();
  const jobs = question(client, "jobs");
  await jobs.answer();
  const refresher = new Refresher(client, 0);
  refresher.stale(["jobs"]);
  await vi.advanceTimersByTimeAsync(1);
  for (let i = 0; i < 20; i++) refresher.stale(["jobs"]);
  expect(jobs.asked()).toBe(2);
  await jobs.answer();
  await vi.advanceTimersByTimeAsync(5);
  expect(jobs.asked()).toBe(3);
  await jobs.answer();
  await vi.advanceTimersByTimeAsync(5);
  expect(jobs.asked()).toBe(3);
  expect(client.getQueryData(["jobs"])).toBe(3);
});

test("a change while the first answer is under way is not missed", async () => {
  const client = new QueryClient();
  const jobs = question(client, "jobs");
  new Refresher(client, 0).stale(["jobs"]);
  await jobs.answer();
  await vi.advanceTimersByTimeAsync(5);
  expect(jobs.asked()).toBe(2);
});

test("what changes all the time is looked at at a pace", async () => {
  const client = new QueryClient();
  const jobs = question(client, "jobs");
  await jobs.answer();
  const refresher = new Refresher(client, 200);
  for (let i = 0; i < 10; i++) {
    refresher.stale(["jobs"]);
    await jobs.answer();
    await vi.advanceTimersByTimeAsync(50);
  }
  expect(jobs.asked()).toBeLessThanOrEqual(4);
});
