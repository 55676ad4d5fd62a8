import { expect, test } from "vitest";
import { noted, pace, percent, type Sample } from "./pace";

const samples = (...rows: [at: number, done: number][]) =>
  rows.reduce<readonly Sample[]>((all, [at, done]) => noted(all, { at: at * 1_000, done }), []);

test("the rate is that of the last half minute", () => {
  const steady = samples(...Array.from({ length: 100 }, (_, i) => [i, i < 60 ? 0 : (i - 59) * 10] as [number, number]));
  const { rate, leftMs } = pace(steady, 400, 1_000, 0, 99_000);
  expect(rate).toBeCloseTo(10, 0);
  expect((leftMs ?? 0) / 1_000).toBeCloseTo(60, -1);
});

test("while little was seen it is that since the beginning, and before that none", () => {
  expect(pace([], 100, 200, 0, 10_000)).toEqual({ rate: 10, leftMs: 10_000 });
  expect(pace([], 100, 200, 9_000, 10_000)).toEqual({ rate: null, leftMs: null });
  expect(pace(samples([0, 50]), 50, 200, null, 1_000)).toEqual({ rate: null, leftMs: null });
});

test("what stands still is not done at any time, and what is done is done now", () => {
  expect(pace(samples([0, 50], [20, 50]), 50, 200, null, 29_000)).toEqual({ rate: 0, leftMs: null });
  expect(pace(samples([0, 50], [20, 200]), 200, 200, null, 25_000).leftMs).toBe(0);
});

test("another round begins anew", () => {
  expect(samples([0, 50], [5, 90], [10, 3])).toEqual([{ at: 10_000, done: 3 }]);
  // Twice within half a second is once.
  expect(samples([0, 50], [0.2, 60])).toHaveLength(1);
});

test("nothing is said to be whole that is not", () => {
  const table: [number, number, number][] = [
    [0, 10, 0],
    [1, 3, 33.3],
    [999_999, 1_000_000, 99.9],
    [1_000_000, 1_000_000, 100],
    [0, 0, 100],
  ];
  for (const [done, total, expected] of table) expect(percent(done, total)).toBe(expected);
});
