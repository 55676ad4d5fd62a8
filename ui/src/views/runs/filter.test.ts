import { expect, test } from "vitest";
import { codesOf, filterOf, statesOf, toggled } from "./filter";

const CODES = [202, 301, 302, 403];

test("states and codes are read from the address, and what is not one is left out", () => {
  expect(statesOf({ state: "failed,running,nonsense" })).toEqual(["running", "failed"]);
  expect(codesOf({ code: "302,403,999" }, CODES)).toEqual([302, 403]);
});

test("an empty address asks for everything", () => {
  expect(filterOf({}, CODES)).toEqual({ job: null, states: [], task_states: [], executor: null });
});

test("an executor is its group and its name, which may have a stroke of its own", () => {
  expect(filterOf({ executor: "billing/host-7/a" }, CODES).executor).toEqual({ group: "billing", name: "host-7/a" });
  expect(filterOf({ executor: "billing" }, CODES).executor).toBeNull();
});

test("a chip adds what is not there and takes away what is", () => {
  expect(toggled(["failed"], "running")).toBe("failed,running");
  expect(toggled(["failed", "running"], "failed")).toBe("running");
  expect(toggled(["failed"], "failed")).toBeUndefined();
});
