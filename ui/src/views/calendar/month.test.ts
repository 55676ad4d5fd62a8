import { expect, test } from "vitest";
import { lines, monthDays, nextMonth } from "./month";

test.each([
  ["2026-11-21", "2026-10-26", 42],
  ["2026-02-14", "2026-01-26", 35],
  ["2027-02-01", "2027-02-01", 28],
  ["2026-12-31", "2026-11-30", 35],
])("the month of %s is shown from %s on, %i days", (date, first, days) => {
  expect(monthDays(date)).toEqual({ first, days });
});

test("one goes from month to month over the end of the year", () => {
  expect(nextMonth("2026-12-31")).toBe("2027-01-01");
  expect(nextMonth("2026-01-31", -1)).toBe("2025-12-01");
});

const band = (count: number) => ({ count });

test("what fits is shown", () => {
  expect(lines(["a", "b"], [band(9)], 3)).toEqual({ entries: ["a", "b"], bands: [band(9)], hidden: 0 });
});

test("what does not fit is counted, and a square of many firings keeps one line for what is frequent", () => {
  expect(lines(["a", "b", "c", "d", "e"], [band(288), band(96)], 4)).toEqual({
    entries: ["a", "b"],
    bands: [band(288)],
    hidden: 3 + 96,
  });
});

test("with few firings more of what is frequent is shown", () => {
  expect(lines(["a"], [band(1), band(2), band(3), band(4)], 4)).toEqual({
    entries: ["a"],
    bands: [band(1), band(2)],
    hidden: 7,
  });
});

test("where there is room for one line, it says how many there are", () => {
  expect(lines(["a", "b"], [band(5)], 1)).toEqual({ entries: [], bands: [], hidden: 7 });
});

test("of firings and what is frequent the only line is a firing's", () => {
  expect(lines(["a", "b"], [band(288)], 2)).toEqual({ entries: ["a"], bands: [], hidden: 1 + 288 });
});
