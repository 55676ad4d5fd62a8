import { expect, test } from "vitest";
import { differences } from "./differences";

test("one row for each path that is not the same, also where it is on one side only", () => {
  const before = { name: "a", schedule: { kind: "cron", expression: "0 2 * * *" }, tags: ["x"], tenant: "acme" };
  const after = { name: "a", schedule: { kind: "cron", expression: "0 3 * * *" }, tags: ["x", "y"], owner: "lin" };
  expect(differences(before, after)).toEqual([
    { path: "schedule.expression", before: "0 2 * * *", after: "0 3 * * *" },
    { path: "tags", before: '["x"]', after: '["x","y"]' },
    { path: "tenant", before: "acme", after: null },
    { path: "owner", before: null, after: "lin" },
  ]);
});

test("the same is no row", () => {
  expect(differences({ a: { b: [1, 2] }, c: null }, { a: { b: [1, 2] } })).toEqual([]);
});
