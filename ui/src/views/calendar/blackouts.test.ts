import { expect, test } from "vitest";
import type { BlackoutSpan } from "@/api/types";
import { lanesOf, minuteOn, minutesSince, Pulling, paintedOn, readingOf, withEnd } from "./blackouts";

const DATE = "2026-11-18";

function span(name: string, from: string, until: string): BlackoutSpan {
  const moment = (text: string) => ({ ms: Date.parse(`${text.replace(" ", "T")}Z`), text, offset: "+00:00" });
  return { name, from: moment(from), until: moment(until), everything: false };
}

const painted = (...blackouts: BlackoutSpan[]) =>
  paintedOn({ date: DATE, blackouts }).map(({ span, from, to, ends, lane }) => [span.name, from, to, ends, lane]);

test.each([
  ["2026-11-17 23:00:00", 0],
  ["2026-11-18 00:00:00", 0],
  ["2026-11-18 09:30:30", 570.5],
  ["2026-11-19 00:00:00", 1440],
])("%s stands at minute %f of the 18th", (text, minute) => {
  expect(minuteOn(DATE, { text })).toBe(minute);
});

test("a window over midnight takes the rest of one day and the beginning of the next, and ends only there", () => {
  const night = span("night", "2026-11-17 22:00:00", "2026-11-18 06:00:00");
  expect(painted(night)).toEqual([["night", 0, 360, true, 0]]);
  expect(paintedOn({ date: "2026-11-17", blackouts: [night] })[0]).toMatchObject({ from: 1320, to: 1440, ends: false });
});

test("one that ends at midnight ends on the day before, and takes nothing of the next", () => {
  const evening = span("evening", "2026-11-18 20:00:00", "2026-11-19 00:00:00");
  expect(painted(evening)).toEqual([["evening", 1200, 1440, true, 0]]);
  expect(paintedOn({ date: "2026-11-19", blackouts: [evening] })).toEqual([]);
});

test("windows that meet stand beside one another, two at most; those that follow share a lane", () => {
  const day = span("day", "2026-11-18 00:00:00", "2026-11-19 00:00:00");
  const noon = span("noon", "2026-11-18 12:00:00", "2026-11-18 13:00:00");
  const late = span("late", "2026-11-18 13:00:00", "2026-11-18 14:00:00");
  const third = span("third", "2026-11-18 12:30:00", "2026-11-18 12:40:00");
  expect(painted(day, noon, late).map((each) => each[4])).toEqual([0, 1, 1]);
  expect(lanesOf(paintedOn({ date: DATE, blackouts: [day, noon, third] }))).toBe(2);
  expect(lanesOf([])).toBe(0);
});

test("a reading of the wall is counted from the first day shown, and back", () => {
  expect(minutesSince("2026-11-16", "2026-11-18 09:30:00")).toBe(2 * 1440 + 570);
  expect(readingOf("2026-11-16", 2 * 1440 + 570)).toBe("2026-11-18T09:30");
  expect(readingOf("2026-11-16", 7 * 1440)).toBe("2026-11-23T00:00");
});

test("the end of one that comes once moves; one that comes again lasts longer each time", () => {
  const once = { window: { from: 0, until: 3_600_000 }, reason: "move" };
  expect(withEnd(once, 0, 7_200_000)).toEqual({ window: { from: 0, until: 7_200_000 }, reason: "move" });
  const schedule = { kind: "fixedRate", everySeconds: 86_400 } as const;
  const again = { window: { schedule, durationSeconds: 3_600 }, tags: ["a"] };
  expect(withEnd(again, 1_000, 7_201_000)).toEqual({ window: { schedule, durationSeconds: 7_200 }, tags: ["a"] });
});

test("an end is not pulled before the beginning nor out of the days, and let go where it was it asks nothing", () => {
  const pulling = new Pulling();
  pulling.begin(span("noon", "2026-11-18 12:00:00", "2026-11-18 13:00:00"), "2026-11-16", "pointer");
  const most = 7 * 1440;
  pulling.to(0, most);
  expect(pulling.get()?.end).toBe(2 * 1440 + 725);
  pulling.to(99_999, most);
  expect(pulling.get()?.end).toBe(most);
  pulling.to(2 * 1440 + 780, most);
  expect(pulling.drop()).toBe(false);
  expect(pulling.get()).toBeNull();
});

test("let go elsewhere it asks", () => {
  const pulling = new Pulling();
  pulling.begin(span("noon", "2026-11-18 12:00:00", "2026-11-18 13:00:00"), "2026-11-16", "keys");
  pulling.to(2 * 1440 + 840, 7 * 1440);
  expect(pulling.drop()).toBe(true);
  expect(pulling.get()).toMatchObject({ asked: true, end: 2 * 1440 + 840 });
});
