import { expect, test } from "vitest";
import { ABSENCE_MS, awaySince } from "./away";

const NOW = 1_800_000_000_000;

test("a look a moment ago is no absence, and neither is a first look", () => {
  expect([awaySince(NOW - 60_000, NOW), awaySince(null, NOW), awaySince(NOW - ABSENCE_MS, NOW)]).toEqual([
    null,
    null,
    null,
  ]);
});

test("after a night one has been away since the evening, and after a year for no more than a month", () => {
  expect(awaySince(NOW - 36_000_000, NOW)).toBe(NOW - 36_000_000);
  expect(awaySince(NOW - 365 * 86_400_000, NOW)).toBe(NOW - 30 * 86_400_000);
});
