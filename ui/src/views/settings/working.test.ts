import { expect, test } from "vitest";
import type { WorkCalendar as Calendar, DayMark } from "@/api/types";
import { changedDays, laidOver, layersOf, monthsOf, takenBack, withDay, withoutLayers, type YearDay } from "./working";

const said = (text: string) => ({ en: text, zh: text });
const calendar = (more: Partial<Calendar> = {}): Calendar => ({
  apiVersion: "campanile/v1",
  name: "shop",
  layers: [],
  revision: 0,
  ...more,
});
const holiday: DayMark = { kind: "off", name: said("National Day"), calendar: "cn", layer: "country" };

/** 2026, Monday to Friday, with one holiday of the calendar beneath. */
const YEAR: YearDay[] = Array.from({ length: 365 }, (_, i) => {
  const at = new Date(Date.UTC(2026, 0, 1 + i));
  const date = at.toISOString().slice(0, 10);
  const weekday = ((at.getUTCDay() + 6) % 7) + 1;
  const mark = date === "2026-10-01" ? holiday : null;
  return { date, weekday, works: mark === null && weekday < 6, mark };
});
const on = (days: readonly YearDay[], date: string) => days.find((day) => day.date === date);

test("a day that is marked is laid over what the calendar beneath says", () => {
  const first = calendar();
  const draft = withDay(first, "company", "2026-10-01", { kind: "work", name: said("Stocktaking") });
  const after = laidOver(YEAR, first, draft);
  expect(on(after, "2026-10-01")).toMatchObject({ works: true, mark: { layer: "company", name: said("Stocktaking") } });
  expect(changedDays(YEAR, after).map((each) => each.date)).toEqual(["2026-10-01"]);
});

test("a change that is taken back leaves nothing", () => {
  const first = calendar();
  const draft = withDay(first, "company", "2026-12-24", { kind: "off" });
  expect(changedDays(YEAR, laidOver(YEAR, first, takenBack(draft, first, "2026-12-24")))).toEqual([]);
});

test("another week changes the days that nothing marks", () => {
  const first = calendar();
  const after = laidOver(YEAR, first, { ...first, week: [1, 2, 3, 4, 5, 6] });
  expect([on(after, "2026-01-03")?.works, on(after, "2026-10-01")?.works]).toEqual([true, false]);
});

test("of two layers that mark a day the later counts, and a hidden one is looked through", () => {
  const first = calendar({
    layers: [
      { name: "company", days: [] },
      { name: "team", days: [] },
    ],
  });
  let draft = withDay(first, "team", "2026-11-11", { kind: "off" });
  draft = withDay(draft, "company", "2026-11-11", { kind: "work" });
  const after = laidOver(YEAR, first, draft);
  expect(on(after, "2026-11-11")).toMatchObject({ works: false, mark: { layer: "team" } });
  expect(on(withoutLayers(after, new Set(["shop/team"]), [1, 2, 3, 4, 5]), "2026-11-11")?.works).toBe(true);
});

test("the layers beneath are shown and cannot be written into", () => {
  const draft = calendar({ layers: [{ name: "company", days: [{ date: "2026-12-24", kind: "off" }] }] });
  expect(layersOf(YEAR, draft)).toEqual([
    { calendar: "cn", name: "country", days: 1, own: false },
    { calendar: "shop", name: "company", days: 1, own: true },
  ]);
});

test("months begin on the weekday of their first", () => {
  const months = monthsOf(YEAR);
  const dates = months[1]?.slice(0, 7).map((each) => each?.date ?? null);
  expect(dates).toEqual([null, null, null, null, null, null, "2026-02-01"]);
  expect(months.flat().filter(Boolean)).toHaveLength(365);
});
