import { expect, test } from "vitest";
import { joined } from "./calendar";
import type * as wire from "./types";

const words = { en: "daily at 10:00", zh: "每天 10:00" };
const note = { en: "it has run already", zh: "已经运行过" };

test("an entry has the words of its job and of its notes, shared and not copied", () => {
  const entry = {
    job: 1,
    version: 3,
    planned: 0,
    due: { ms: 0, text: "1970-01-01 00:00:00", offset: "+00:00" },
    day: 0,
    minute: 0,
    instance: null,
    state: null,
    origin: "schedule",
    reason: null,
    fixed: null,
  } satisfies wire.CalendarEntry;
  const view = joined({
    now: 0,
    zone: "UTC",
    days: [],
    jobs: [
      { id: "a", name: "other", words: note, hue: 1 },
      { id: "b", name: "report", words, hue: 7 },
    ],
    entries: [entry, { ...entry, reason: 0, fixed: 0 }],
    bands: [{ job: 0, version: 1, day: 0, from_minute: 0, to_minute: 1440, count: 96 }],
    load: [],
    notes: [note],
  });
  expect(view.entries[0]).toMatchObject({ job: "b", name: "report", hue: 7, can_move: { ok: true, why: null } });
  expect(view.entries[0]?.words).toBe(words);
  expect(view.entries[1]?.can_move).toEqual({ ok: false, why: note });
  expect(view.entries[1]?.reason).toBe(note);
  expect(view.bands[0]).toMatchObject({ job: "a", name: "other", count: 96 });
});
