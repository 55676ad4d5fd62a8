import { expect, test } from "vitest";
import { CODES, FILLS } from "@/api/shardCells";
import { shadeAt } from "./paint";

/** A picture as text, a letter for each shade. */
function picture(code: number, n: number, fill = 0): string {
  const letter = { ground: " ", soft: ".", mid: "-", tone: "#", line: ":" };
  return Array.from({ length: n }, (_, y) =>
    Array.from({ length: n }, (__, x) => letter[shadeAt(code, fill, x, y, n)]).join(""),
  ).join("\n");
}

test("no two states have the same pattern, whatever their colour, from cells of two pixels on", () => {
  for (const n of [2, 3, 4, 5, 7, 9, 14, 22]) {
    const seen = new Map<string, number>();
    for (const code of CODES) {
      // What has begun shows some of its fill.
      const text = picture(code, n, code === 202 || code === 203 ? 2 : 0);
      expect(seen.get(text), `${code} and ${seen.get(text)} at ${n}:\n${text}`).toBeUndefined();
      seen.set(text, code);
    }
  }
});

test("a running shard fills from below", () => {
  const filled = (fill: number) => [...picture(202, 8, fill)].filter((each) => each === "#").length;
  let last = 0;
  for (let fill = 1; fill <= FILLS; fill++) {
    expect(filled(fill)).toBeGreaterThanOrEqual(last);
    last = filled(fill);
  }
  expect(filled(FILLS)).toBe(64);
  // That it has begun is seen before the first item is done.
  expect(filled(0)).toBe(8);
});
