import { expect, test } from "vitest";
import { readDays, readWall, secondsOf, spanOf, withDay } from "./schedule";

test.each([
  ["2026-12-01 03:00", "2026-12-01T03:00"],
  [" 2026-12-1T3:05:09 ", "2026-12-01T03:05:09"],
  ["2026-02-30 03:00", null],
  ["2026-12-01 24:30", null],
  ["tomorrow", null],
])("'%s' is read as %s", (text, read) => {
  expect(readWall(text)).toBe(read);
});

test("days are read as numbers, from the end of the month too", () => {
  expect(readDays("3, 5，-1  23")).toEqual([3, 5, -1, 23]);
  expect(readDays("")).toEqual([]);
  expect(readDays("3, last")).toBeNull();
});

test("a day is turned on in its place in the month, and off again", () => {
  expect(withDay([3, 23, -1], 5)).toEqual([3, 5, 23, -1]);
  expect(withDay([3, -1], -2)).toEqual([3, -2, -1]);
  expect(withDay([3, 5], 3)).toEqual([5]);
});

test.each([
  [90, { every: 90, unit: "s" }],
  [5_400, { every: 90, unit: "min" }],
  [28_800, { every: 8, unit: "h" }],
  [172_800, { every: 2, unit: "d" }],
] as const)("%i seconds are told in the largest unit in which they are whole, and back", (seconds, told) => {
  expect(spanOf(seconds)).toEqual(told);
  expect(secondsOf(told.every, told.unit)).toBe(seconds);
});
