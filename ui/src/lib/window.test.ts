import { expect, test } from "vitest";
import { sliceOf } from "./window";

test("of a hundred thousand rows only those in sight and a few more are drawn", () => {
  expect(sliceOf(0, 680, 34, 100_000)).toEqual({ first: 0, end: 28 });
  expect(sliceOf(34_000, 680, 34, 100_000)).toEqual({ first: 992, end: 1_028 });
});

test("the end is the end, also when rows went while one stood there", () => {
  expect(sliceOf(34 * 99_980, 680, 34, 100_000)).toEqual({ first: 99_972, end: 100_000 });
  expect(sliceOf(34 * 99_980, 680, 34, 3)).toEqual({ first: 3, end: 3 });
  expect(sliceOf(0, 680, 34, 0)).toEqual({ first: 0, end: 0 });
});
