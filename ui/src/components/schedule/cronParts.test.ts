import { expect, test } from "vitest";
import { cronParts, marked } from "./cronParts";

test.each([
  ["0 2 * * *", "auto", ["minute", "hour", "day", "month", "weekday"]],
  ["0 0 2 * * *", "auto", ["second", "minute", "hour", "day", "month", "weekday"]],
  ["0 0 2 ? * MON 2027", "auto", ["second", "minute", "hour", "day", "month", "weekday", "year"]],
  ["0 0 2 * * * 2027", "seconds", ["second", "minute", "hour", "day", "month", "weekday", null]],
  ["0 2 * * * *", "unix", ["minute", "hour", "day", "month", "weekday", null]],
  ["@daily", "auto", [null]],
  ["", "auto", []],
] as const)("the words of '%s' in %s are called by their fields", (expression, dialect, fields) => {
  expect(cronParts(expression, dialect).map((part) => part.field)).toEqual(fields);
});

test("the characters that a fault means are told apart within their word, and in no other", () => {
  const [minute, hour] = cronParts("0 2,61 * * *", "auto");
  if (!minute || !hour) throw new Error("there are five");
  expect(marked(hour, [4, 6])).toEqual([
    { text: "2,", bad: false },
    { text: "61", bad: true },
  ]);
  expect(marked(minute, [4, 6])).toEqual([{ text: "0", bad: false }]);
});
