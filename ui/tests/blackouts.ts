// What the scripted node says of blackout windows, and the pictures of them.
import type { Page } from "playwright-core";
import { moment, OFFSET, type Script } from "./fixture";

const MIN = 60_000;
const HOUR = 60 * MIN;
const DAY = 24 * HOUR;
const yes = { ok: true, why: null };

/** Monday of the fixture's week, at midnight on its wall. */
const MONDAY = Date.UTC(2026, 10, 16) - OFFSET;

interface Scripted {
  name: string;
  en: string;
  zh: string;
  blackout: Record<string, unknown>;
  /** The times it comes near the fixture's present, in hours from its Monday. */
  spans: readonly (readonly [number, number])[];
}

const weekly = (from: number, hours: number) =>
  [-1, 0, 1, 2, 3, 4].map((week) => [from + week * 168, from + week * 168 + hours] as const);

const BLACKOUTS: Scripted[] = [
  {
    name: "month-end",
    en: "on days -1 of every month at 18:00 (Asia/Shanghai), for 14 h",
    zh: "每月 -1 日 18:00（Asia/Shanghai），持续 14 小时",
    blackout: {
      window: {
        schedule: {
          kind: "repeat",
          startTime: MONDAY - 16 * DAY + 18 * HOUR,
          repeatLevel: "month",
          repeatInterval: 1,
          repeatDays: [-1],
          timeZone: "Asia/Shanghai",
          dstGap: "shift",
          dstOverlap: "first",
        },
        durationSeconds: 14 * 3_600,
      },
      reason: "The books are closed",
      tags: ["finance"],
      tenants: ["acme"],
    },
    spans: [[14 * 24 + 18, 15 * 24 + 8]],
  },
  {
    name: "move of the data centre",
    en: "2026-11-26 20:00:00 to 2026-11-27 06:00:00 UTC",
    zh: "2026-11-26 20:00:00 至 2026-11-27 06:00:00 UTC",
    blackout: {
      window: { from: MONDAY + 11 * DAY + 4 * HOUR, until: MONDAY + 11 * DAY + 14 * HOUR },
      reason: "Racks 4 to 9 go to the new hall",
    },
    spans: [[11 * 24 + 4, 11 * 24 + 14]],
  },
  {
    name: "夜间维护",
    en: "Every Saturday at 22:00 (Asia/Shanghai), for 8 h",
    zh: "每周六 22:00（Asia/Shanghai），持续 8 小时",
    blackout: {
      window: {
        schedule: {
          kind: "cron",
          expression: "0 22 * * 6",
          timeZone: "Asia/Shanghai",
          dstGap: "shift",
          dstOverlap: "first",
        },
        durationSeconds: 8 * 3_600,
      },
      jobs: ["warm-cache", "price-feed", "settle-payments", "close-the-books"],
    },
    spans: weekly(5 * 24 + 22, 8),
  },
  {
    name: "orders frozen",
    en: "daily at 11:30 (Asia/Shanghai), for 90 min",
    zh: "每天 11:30（Asia/Shanghai），持续 90 分钟",
    blackout: {
      window: {
        schedule: {
          kind: "cron",
          expression: "30 11 * * 1-5",
          timeZone: "Asia/Shanghai",
          dstGap: "shift",
          dstOverlap: "first",
        },
        durationSeconds: 5_400,
      },
      tags: ["orders"],
    },
    spans: [0, 1, 2, 3, 4, 7, 8, 9, 10, 11].map((day) => [day * 24 + 11.5, day * 24 + 13] as const),
  },
];

const spanOf =
  (name: string, everything: boolean) =>
  ([from, until]: readonly [number, number]) => ({
    name,
    from: moment(MONDAY + from * HOUR),
    until: moment(MONDAY + until * HOUR),
    everything,
  });

const isForAll = ({ blackout }: Scripted) => !blackout.tags && !blackout.tenants && !blackout.jobs;

/** The windows that touch a day. */
export function blackoutsOn(start: number, end: number) {
  return BLACKOUTS.flatMap((each) => each.spans.map(spanOf(each.name, isForAll(each)))).filter(
    (span) => span.from.ms < end && span.until.ms > start,
  );
}

export function withBlackouts(script: Script): Script {
  const row = (each: Scripted) => ({
    name: each.name,
    blackout: each.blackout,
    words: { en: each.en, zh: each.zh },
    next: each.spans.map(spanOf(each.name, isForAll(each))).find((span) => span.until.ms > script.now) ?? null,
    can_edit: yes,
  });
  const done = { jobs: [], instances: [], changed: 1, version: null };
  Object.assign(script.answers, {
    list_blackouts: () => ({ rows: BLACKOUTS.map(row) }),
    put_blackout: () => done,
    remove_blackout: () => done,
    blackout_effect: (put: { name: string; blackout: { window: { until?: number; durationSeconds?: number } } }) => {
      const known = BLACKOUTS.find((each) => each.name === put.name);
      const same = JSON.stringify(known?.blackout) === JSON.stringify(put.blackout);
      const effect = (job: number, name: string, count: number, hours: number, en: string, zh: string) => ({
        job: `job-${job}`,
        name,
        count,
        first: moment(script.now + hours * HOUR),
        words: { en, zh },
      });
      return {
        words: { en: known?.en ?? "", zh: known?.zh ?? "" },
        windows: (known?.spans ?? [[5 * 24 + 11, 5 * 24 + 13] as const])
          .map(spanOf(put.name, false))
          .filter((span) => span.until.ms > script.now),
        rows: [
          effect(13, "price-feed", same ? 1 : 4, 11, "skipped", "跳过"),
          effect(2, "sync-orders", same ? 120 : 168, 11.5, "one run at the end of the window", "时段结束时运行一次"),
          ...(same ? [effect(16, "warm-cache", 2, 13, "a person is asked", "由人工决定")] : []),
        ],
        complete: true,
      };
    },
  });
  return script;
}

const edit = (name: string) => async (page: Page) => {
  await page.getByRole("button", { name: new RegExp(`^(Edit|编辑) ${name}$`) }).click();
  await page.getByTestId("blackout-effect").waitFor();
  await page.waitForTimeout(300);
};

/** Where a window stands on a day of the grid. */
const band = (page: Page, name: string, date: string) =>
  page.locator(`[data-testid=calendar-day][data-date="${date}"] [data-testid=blackout][data-name="${name}"]`);

export const BLACKOUT_SHOTS = [
  {
    name: "blackouts",
    path: "/settings",
    act: async (page: Page) => page.getByRole("button", { name: /^(New window|新建时段)$/ }).scrollIntoViewIfNeeded(),
  },
  {
    name: "blackouts-none",
    path: "/settings",
    script: (script: Script) => {
      script.answers.list_blackouts = () => ({ rows: [] });
    },
    act: async (page: Page) => page.getByText(/^(No blackout windows|没有禁止执行时段)$/).scrollIntoViewIfNeeded(),
  },
  {
    name: "blackout-new",
    path: "/settings",
    act: async (page: Page) => {
      await page.getByTestId("blackout-add").click();
      await page.getByTestId("blackout-effect").waitFor();
    },
  },
  { name: "blackout-edit", path: "/settings", act: edit("month-end") },
  {
    name: "blackout-wrong",
    path: "/settings",
    script: (script: Script) => {
      delete script.answers.blackout_effect;
    },
    act: async (page: Page) => {
      await page.getByTestId("blackout-add").click();
      await page.getByLabel(/^(Until|至)/).fill("later");
      await page.getByText(/^(some jobs|部分任务)$/).click();
      await page.getByTestId("blackout-save").click();
      await page.waitForTimeout(500);
    },
  },
  {
    name: "blackout-removed",
    path: "/settings",
    act: async (page: Page) => {
      await page.getByRole("button", { name: /^(Remove|移除) month-end$/ }).click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "form-blackouts",
    path: "/jobs/new",
    act: async (page: Page) => {
      await page.getByRole("button", { name: /^(Name one|引用时段)$/ }).click();
      await page.getByRole("menuitem", { name: "month-end" }).click();
      await page.getByRole("button", { name: /^(Its own|自有时段)$/ }).click();
      await page.getByRole("group", { name: /^(Blackout windows|禁止执行时段)$/ }).scrollIntoViewIfNeeded();
      await page.waitForTimeout(300);
    },
  },
  { name: "calendar-blackouts", path: "/calendar?date=2026-11-27" },
  { name: "calendar-blackouts-day", path: "/calendar?date=2026-11-27&mode=day" },
  {
    name: "calendar-blackout-open",
    path: "/calendar?date=2026-11-27",
    act: async (page: Page) => {
      await band(page, "move of the data centre", "2026-11-27").click();
      await page.getByTestId("blackout-popover").waitFor();
    },
  },
  {
    name: "calendar-blackout-pull",
    path: "/calendar?date=2026-11-27",
    act: async (page: Page) => {
      await pull(page, "orders frozen", "2026-11-26", 72);
    },
  },
  {
    name: "calendar-blackout-pulled",
    path: "/calendar?date=2026-11-27",
    act: async (page: Page) => {
      await pull(page, "orders frozen", "2026-11-26", 72);
      await page.mouse.up();
      await page.getByTestId("blackout-effect").waitFor();
      await page.waitForTimeout(300);
    },
  },
];

async function pull(page: Page, name: string, date: string, by: number) {
  const edge = page.locator(
    `[data-testid=calendar-day][data-date="${date}"] [data-testid=blackout-end][data-name="${name}"]`,
  );
  await edge.scrollIntoViewIfNeeded();
  const box = await edge.boundingBox();
  if (!box) throw new Error(`the end of ${name} is not on the page`);
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y + by / 2, { steps: 4 });
  await page.mouse.move(x, y + by, { steps: 4 });
}
