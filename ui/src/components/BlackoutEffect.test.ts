import { expect, test } from "vitest";
import type { BlackoutEffect } from "@/api/types";
import { changesOf } from "./BlackoutEffect";

const effect = (counts: Record<string, number>): BlackoutEffect => ({
  words: { en: "", zh: "" },
  windows: [],
  rows: Object.entries(counts).map(([name, count]) => ({
    job: name,
    name,
    count,
    first: { ms: 0, text: "2026-11-21 22:00:00", offset: "+08:00" },
    words: { en: "skipped", zh: "跳过" },
  })),
  complete: true,
});

const told = (before: BlackoutEffect | null, after: BlackoutEffect) =>
  changesOf(before, after).map((each) => [each.name, each.before, each.row?.count ?? null]);

test("of a new window all that it holds back is new, most first", () => {
  expect(told(null, effect({ few: 2, many: 9 }))).toEqual([
    ["many", 0, 9],
    ["few", 0, 2],
  ]);
});

test("of one that is there what it lets go of is told, too, and last", () => {
  expect(told(effect({ freed: 9, kept: 2 }), effect({ kept: 3, caught: 1 }))).toEqual([
    ["kept", 2, 3],
    ["caught", 0, 1],
    ["freed", 9, null],
  ]);
});
