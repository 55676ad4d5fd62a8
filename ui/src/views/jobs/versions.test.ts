import { expect, test } from "vitest";
import { inForce, startsLater } from "./versions";

const version = (version: number, saved: number, effectiveFrom?: number) => ({
  version,
  saved_at: { ms: saved, text: "", offset: "" },
  spec: effectiveFrom === undefined ? {} : { effectiveFrom },
});

test("a version that takes effect later leaves the one before it in force until then", () => {
  const versions = [version(3, 300, 900), version(2, 200), version(1, 100)];
  expect(inForce(versions, 500)?.version).toBe(2);
  expect(inForce(versions, 900)?.version).toBe(3);
});

test("a moment before it was saved is no later one", () => {
  expect(startsLater(version(2, 200, 100))).toBe(false);
  expect(startsLater(version(2, 200, 201))).toBe(true);
  expect(inForce([version(2, 200, 100)], 150)?.version).toBe(2);
});

test("where none has begun it is the first", () => {
  expect(inForce([version(2, 20, 90), version(1, 10, 80)], 50)?.version).toBe(1);
});
