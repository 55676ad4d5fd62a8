import { QueryClient } from "@tanstack/react-query";
import { expect, test, vi } from "vitest";
import { DraftError } from "@/components/schedule/schedule";
import { emptyWindow } from "@/components/schedule/window";
import { emptyDraft, fromSpec, toSpec } from "./draft";
import { withException, withoutLapsed } from "./Exceptions";

// A node in a zone eight hours ahead that has no clock changes.
vi.mock("@/api/door", () => ({
  call: async (_: string, input: { spec: { schedule: { startTime: number } } }) => ({
    runs: [{ local: `${new Date(input.spec.schedule.startTime + 28_800_000).toISOString().slice(0, 19)}+08:00` }],
  }),
}));

const client = new QueryClient();
const ZONE = "Asia/Shanghai";
const draft = () => ({ ...emptyDraft(ZONE, "2026-12-01T03:00"), name: "a-job" });

const back = async (spec: Record<string, unknown>) =>
  toSpec(client, await fromSpec(client, spec, ZONE, "2026-12-01T03:00"));

test.each([
  { kind: "cron", expression: "0 2 * * *", timeZone: ZONE, dstGap: "skip", dstOverlap: "both" },
  {
    kind: "cron",
    expression: "0 0 2 ? * MON",
    dialect: "quartz",
    timeZone: "UTC",
    dstGap: "shift",
    dstOverlap: "first",
  },
  {
    kind: "repeat",
    startTime: 1_648_029_600_000,
    timeZone: ZONE,
    repeatLevel: "month",
    repeatInterval: 2,
    repeatDays: [3, 5, 23],
    dstGap: "shift",
    dstOverlap: "first",
  },
  {
    kind: "repeat",
    startTime: 1_648_029_600_000,
    timeZone: ZONE,
    repeatLevel: "week",
    repeatInterval: 1,
    repeatDays: [1, 5],
    count: 7,
    dstGap: "shift",
    dstOverlap: "first",
  },
  {
    kind: "repeat",
    startTime: 1_648_029_605_000,
    timeZone: ZONE,
    repeatLevel: "day",
    repeatInterval: 1,
    endTime: 1_700_000_000_000,
    dstGap: "shift",
    dstOverlap: "first",
  },
  { kind: "fixedRate", everySeconds: 900, startTime: 1_648_029_600_000 },
  { kind: "fixedDelay", everySeconds: 86_400 },
  { kind: "once", at: 1_800_000_000_000 },
  { kind: "manual" },
  { kind: "after", jobs: ["other"], on: "success", need: "any" },
])("a $kind schedule comes out of the form as it went in", async (schedule) => {
  const spec = await back({ name: "a-job", processor: "shell", schedule });
  expect(spec.schedule).toEqual(schedule);
});

test("what the form does not show is carried through untouched", async () => {
  const exceptions = [
    { change: "skip", planned: 1_800_000_000_000 },
    { change: "moveTo", planned: 1_800_086_400_000, at: 1_800_090_000_000 },
    { change: "added", at: 1_800_050_000_000 },
  ];
  const blackouts = ["month-end", { from: 1_800_000_000_000, until: 1_800_003_600_000 }];
  const spec = await back({
    name: "a-job",
    processor: "shell",
    schedule: { kind: "manual" },
    exceptions,
    blackouts,
    readyTimeoutSeconds: 5,
    misfire: { policy: "catchUp", graceSeconds: 10, max: 7 },
    supersede: "latest",
    calendar: "cn",
    onNonWorkday: "nextWorkday",
    effectiveFrom: 1_799_000_000_000,
    effectiveUntil: 1_900_000_000_000,
  });
  expect(spec).toMatchObject({
    exceptions,
    blackouts,
    readyTimeoutSeconds: 5,
    misfire: { policy: "catchUp", graceSeconds: 10, max: 7 },
    supersede: "latest",
    calendar: "cn",
    onNonWorkday: "nextWorkday",
    effectiveFrom: 1_799_000_000_000,
    effectiveUntil: 1_900_000_000_000,
  });
});

test("a run that was moved is still called by the time that was planned when it is moved again or left out", () => {
  const moved = withException(draft(), {
    change: "moveTo",
    planned: 1,
    wall: "2026-12-01T02:00",
    at: "2026-12-01T05:00",
  });
  const again = withException(
    { ...draft(), exceptions: moved },
    { change: "skip", planned: 1, wall: "2026-12-01T05:00" },
  );
  expect(again).toEqual([{ change: "skip", planned: 1, wall: "2026-12-01T02:00" }]);
});

test("what is left empty is left out", async () => {
  const spec = await toSpec(client, draft());
  for (const field of ["description", "tenant", "owner", "tags", "timeoutSeconds"])
    expect(spec).not.toHaveProperty(field);
});

test("tags are separated as people separate them, and said once", async () => {
  expect((await toSpec(client, { ...draft(), tags: "a, b，c a" })).tags).toEqual(["a", "b", "c"]);
});

test("a time that cannot be read is named by its field", async () => {
  const bad = { ...draft(), kind: "once" as const, once: { at: "tomorrow" } };
  const error = await toSpec(client, bad).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(DraftError);
  expect((error as DraftError).field).toBe("schedule.at");
});

test("days that cannot be read are named by their field", async () => {
  const { repeat } = draft();
  const bad = {
    ...draft(),
    kind: "repeat" as const,
    repeat: { ...repeat, level: "month" as const, monthDays: "last" },
  };
  const error = await toSpec(client, bad).catch((cause: unknown) => cause);
  expect((error as DraftError).field).toBe("schedule.repeatDays");
});

test("a time of a window of its own that cannot be read is named by its place", async () => {
  const own = { ...emptyWindow(ZONE, "2026-12-01T22:00"), until: "later" };
  const bad = { ...draft(), blackouts: [{ named: "month-end" }, { own }] };
  const error = await toSpec(client, bad).catch((cause: unknown) => cause);
  expect((error as DraftError).field).toBe("blackouts.1.until");
});

test("what is no longer planned goes, and what was added stays", () => {
  const words = { en: "", zh: "" };
  const kept = { change: "skip" as const, planned: 2, wall: "2026-12-02T02:00" };
  const added = { change: "added" as const, at: "2026-12-03T02:00" };
  const all = [
    { change: "moveTo" as const, planned: 1, wall: "2026-12-01T02:00", at: "2026-12-01T05:00" },
    kept,
    added,
  ];
  expect(withoutLapsed(all, [{ exception: { change: "moveTo", planned: 1, at: 9 }, words }])).toEqual([kept, added]);
  expect(withoutLapsed(all, [])).toEqual(all);
});
