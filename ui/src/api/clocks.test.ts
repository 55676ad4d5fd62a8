import { expect, test } from "vitest";
import { changesIn } from "./clocks";

test("the days on which the offset becomes another one are the days of clock changes", () => {
  const locals = ["2027-03-27T15:00:00+01:00", "2027-03-28T15:00:00+02:00", "2027-03-29T15:00:00+02:00"];
  expect(changesIn(locals)).toEqual(["2027-03-28"]);
  expect(changesIn(["2027-03-27T15:00:00Z", "2027-03-28T15:00:00Z"])).toEqual([]);
});
