import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { instantOf, wallAt } from "./walltime";

// A node that knows one zone: two hours ahead until 2026-10-25 01:00 UTC, one hour from then on, and one hour before
// 2026-03-29 01:00 UTC (Berlin in 2026).
const SPRING = Date.UTC(2026, 2, 29, 1);
const AUTUMN = Date.UTC(2026, 9, 25, 1);

vi.mock("./door", () => ({
  call: async (_: string, input: { spec: { schedule: { startTime: number } } }) => {
    const ms = input.spec.schedule.startTime;
    const hours = ms >= SPRING && ms < AUTUMN ? 2 : 1;
    const local = new Date(ms + hours * 3_600_000).toISOString().slice(0, 19);
    return { runs: [{ local: `${local}+0${hours}:00` }] };
  },
}));

const client = new QueryClient();
const at = (local: string) =>
  instantOf(client, local, "Europe/Berlin").then((ms) => new Date(ms).toISOString().slice(0, 16));

test("what the wall shows leads back to the instant", async () => {
  expect(await wallAt(client, Date.UTC(2026, 6, 1, 10), "Europe/Berlin")).toBe("2026-07-01T12:00:00+02:00");
  expect(await at("2026-07-01T12:00")).toBe("2026-07-01T10:00");
  expect(await at("2026-12-01T12:00")).toBe("2026-12-01T11:00");
});

test("a time that comes twice is the first of the two", async () => {
  expect(await at("2026-10-25T02:30")).toBe("2026-10-25T00:30");
});

test("a time the clocks skip is as far after the gap as it stood in it", async () => {
  expect(await at("2026-03-29T02:30")).toBe("2026-03-29T01:30");
});
