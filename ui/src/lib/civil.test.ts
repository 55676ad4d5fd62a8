import { expect, test } from "vitest";
import { addDays, clock, isDate, localOf, mondayOf, wallMinute, weekdayOf } from "./civil";

const HOUR = 3_600_000;

test("days are added over the ends of months and years", () => {
  expect(addDays("2026-11-30", 1)).toBe("2026-12-01");
  expect(addDays("2026-12-31", 1)).toBe("2027-01-01");
  expect(addDays("2028-03-01", -1)).toBe("2028-02-29");
});

test("a week begins on Monday", () => {
  expect(weekdayOf("2026-11-16")).toBe(1);
  expect(weekdayOf("2026-11-22")).toBe(7);
  expect(mondayOf("2026-11-22")).toBe("2026-11-16");
  expect(mondayOf("2026-11-16")).toBe("2026-11-16");
});

test("only dates are dates", () => {
  expect(isDate("2026-11-16")).toBe(true);
  expect(isDate("2026-13-16")).toBe(false);
  expect(isDate("16.11.2026")).toBe(false);
});

test("minutes read as a clock", () => {
  expect(clock(0)).toBe("00:00");
  expect(clock(605)).toBe("10:05");
  expect(localOf("2026-11-18", 630)).toBe("2026-11-18T10:30");
});

test("the wall's minute follows from where its midnight is", () => {
  const start = Date.UTC(2026, 10, 20, 16);
  const day = { date: "2026-11-21", start, end: start + 24 * HOUR };
  expect(wallMinute(day, start + 9.5 * HOUR, null)).toBe(570);
  expect(wallMinute(day, start - HOUR, null)).toBe(0);
});

test("on the day the clocks go back, the offset that was told decides", () => {
  // Berlin, 25 October 2026: 25 hours long, +02:00 until 03:00, then +01:00.
  const start = Date.UTC(2026, 9, 24, 22);
  const day = { date: "2026-10-25", start, end: start + 25 * HOUR };
  const noon = Date.UTC(2026, 9, 25, 11);
  expect(wallMinute(day, noon, HOUR)).toBe(720);
  expect(wallMinute(day, start + HOUR, 2 * HOUR)).toBe(60);
});
