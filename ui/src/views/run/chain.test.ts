import { expect, test } from "vitest";
import type { ChainLink, ChainStep } from "@/api/types";
import { gaps, lateness, share, wholeWay } from "./chain";

const STEPS: ChainStep[] = ["planned", "due", "created", "assigned", "admitted", "pushed", "started", "finished"];

const chain = (...at: (number | null)[]): ChainLink[] =>
  STEPS.map((step, i) => {
    const ms = at[i];
    return {
      step,
      at: ms === null || ms === undefined ? null : { ms, text: "", offset: "" },
      words: { en: "", zh: "" },
    };
  });

test("a gap is counted from the last step that has come", () => {
  expect(gaps(chain(0, 100, 130, null, 500, null))).toEqual([null, 100, 30, null, 370, null, null, null]);
});

test("a run is late from when it was due, not from when it was planned", () => {
  expect(lateness(chain(0, 60_000, 60_010, 60_020, 60_030, 60_040, 60_050, 90_000)).ms).toBe(50);
});

test("the longest wait before the start is named, however long the run itself took", () => {
  const { ms, worst } = lateness(chain(0, 0, 10, 20, 12_000, 12_050, 12_100, 900_000));
  expect(ms).toBe(12_100);
  expect(worst).toEqual({ from: "assigned", to: "admitted", ms: 11_980, index: 4 });
});

test("what has not started is not late yet, but what it waited for is known", () => {
  const { ms, worst } = lateness(chain(0, 0, 4_000, 4_010));
  expect(ms).toBeNull();
  expect(worst?.to).toBe("created");
});

test("a step is drawn wider for a longer wait, and never out of all proportion", () => {
  expect(share(0)).toBe(1);
  expect(share(1_000)).toBeGreaterThan(share(100));
  expect(share(86_400_000)).toBeLessThan(6);
});

test("what has not ended shows the way ahead; what has ended early does not", () => {
  const begun = chain(0, 0, 5).slice(0, 4);
  expect(wholeWay(begun, false).map(({ step }) => step)).toEqual(STEPS);
  expect(wholeWay(begun, true)).toEqual(begun);
});
