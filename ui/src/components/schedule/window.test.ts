import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { DraftError } from "./schedule";
import { emptyWindow, windowFrom, windowOf } from "./window";

// A node in a zone eight hours ahead that has no clock changes.
vi.mock("@/api/door", () => ({
  call: async (_: string, input: { spec: { schedule: { startTime: number } } }) => ({
    runs: [{ local: `${new Date(input.spec.schedule.startTime + 28_800_000).toISOString().slice(0, 19)}+08:00` }],
  }),
}));

const client = new QueryClient();
const ZONE = "Asia/Shanghai";
const SOON = "2026-12-01T22:00";
const cron = { kind: "cron", expression: "0 22 * * 5", timeZone: ZONE, dstGap: "shift", dstOverlap: "first" } as const;

test.each([
  ["once", { from: 1_800_000_000_000, until: 1_800_007_200_000 }],
  ["again", { schedule: cron, durationSeconds: 36_000 }],
  ["by rate", { schedule: { kind: "fixedRate", everySeconds: 86_400 }, durationSeconds: 90 }],
] as const)("a window that is %s comes out of the form as it went in", async (_, window) => {
  expect(await windowOf(client, await windowFrom(client, window, ZONE, SOON))).toEqual(window);
});

test("a new one is proposed for two hours", async () => {
  const { from, until } = await windowOf(client, emptyWindow(ZONE, SOON));
  expect([from, until]).toEqual([Date.parse("2026-12-01T14:00:00Z"), Date.parse("2026-12-01T16:00:00Z")]);
});

test.each([
  ["until", { ...emptyWindow(ZONE, SOON), until: "later" }],
  [
    "startTime",
    (() => {
      const draft = emptyWindow(ZONE, SOON);
      const repeat = { ...draft.schedule.repeat, start: "soon" };
      return { ...draft, kind: "again" as const, schedule: { ...draft.schedule, repeat } };
    })(),
  ],
])("a time that cannot be read is named as the node would name it: %s", async (field, draft) => {
  const error = await windowOf(client, draft).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(DraftError);
  expect((error as DraftError).field).toBe(field);
});
