import { expect, test } from "vitest";
import { score } from "./rank";

function best(typed: string, ...texts: string[]): string[] {
  return texts
    .map((text) => ({ text, score: score(typed, text) }))
    .filter((each) => each.score > 0)
    .sort((a, b) => b.score - a.score)
    .map((each) => each.text);
}

test("what begins as typed comes before what contains it, and that before what has its letters", () => {
  expect(best("sync", "daily-sync", "s-y-n-c", "sync-orders", "report")).toEqual([
    "sync-orders",
    "daily-sync",
    "s-y-n-c",
  ]);
});

test("initials find a name", () => {
  expect(best("nr", "nightly-report", "heartbeat")).toEqual(["nightly-report"]);
});

test("Chinese is found as it is written", () => {
  expect(best("告警", "前往告警", "设置")).toEqual(["前往告警"]);
});

test("letters in another order find nothing", () => {
  expect(best("troper", "report")).toEqual([]);
});
