import { expect, test } from "vitest";
import { busyWith, NOT_BUSY, wholeOf } from "./busy";

const run = (instance: string, done: number, total: number, round = 1) => ({ instance, round, tally: { done, total } });

test("a run that ends while another goes on counts as done, and the bar does not go back", () => {
  const both = busyWith(NOT_BUSY, [run("a", 90, 100), run("b", 10, 100)]);
  expect(wholeOf(both)).toEqual({ done: 100, total: 200 });
  const one = busyWith(both, [run("b", 20, 100)]);
  expect(wholeOf(one)).toEqual({ done: 120, total: 200 });
  expect(one.now).toEqual(["b"]);
  // With nothing left it begins anew.
  expect(busyWith(one, [])).toBe(NOT_BUSY);
});

test("a word that comes late takes nothing back, and another round is another whole", () => {
  const once = busyWith(NOT_BUSY, [run("a", 50, 100)]);
  expect(wholeOf(busyWith(once, [run("a", 40, 100)]))).toEqual({ done: 50, total: 100 });
  expect(wholeOf(busyWith(once, [run("a", 3, 10, 2)]))).toEqual({ done: 103, total: 110 });
});
