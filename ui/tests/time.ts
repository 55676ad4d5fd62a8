// What the scripted node says of time: the calendar, and what a drop would do. And the pictures of it.
import type { Page } from "playwright-core";
import { away } from "./away";
import { blackoutsOn, withBlackouts } from "./blackouts";
import { moment, OFFSET, type Script } from "./fixture";
import { instanceDetail, instanceRow, logOf } from "./runs";
import { CALENDARS, timesChange, workCalendar } from "./workCalendars";

const MIN = 60_000;
const DAY = 1_440 * MIN;
const yes = { ok: true, why: null };
const no = (en: string, zh: string) => ({ ok: false, why: { en, zh } });

interface Planned {
  job: number;
  name: string;
  en: string;
  zh: string;
  hue: number;
  /** Minutes of the day, and the weekdays (1 to 7) where it is not each of them. */
  minutes: number[];
  on?: number[];
  /** One letter for each day of the week of the fixture: how it ended. */
  ends?: string;
}

const at = (h: number, m = 0) => h * 60 + m;

const PLAN: Planned[] = [
  {
    job: 0,
    name: "nightly-report",
    en: "At 02:00, every day",
    zh: "每天 02:00",
    hue: 0,
    minutes: [at(2)],
    ends: "ssfsss",
  },
  {
    job: 10,
    name: "backup-orders-db",
    en: "At 03:00, every day",
    zh: "每天 03:00",
    hue: 5,
    minutes: [at(3)],
    ends: "ssssss",
  },
  {
    job: 11,
    name: "backup-catalogue",
    en: "At 03:00, every day",
    zh: "每天 03:00",
    hue: 1,
    minutes: [at(3)],
    ends: "ssssfs",
  },
  {
    job: 12,
    name: "rotate-logs",
    en: "At 03:10, every day",
    zh: "每天 03:10",
    hue: 2,
    minutes: [at(3, 10)],
    ends: "scssss",
  },
  {
    job: 3,
    name: "workday-reminder",
    en: "At 09:30 on every working day",
    zh: "每个工作日 09:30",
    hue: 3,
    minutes: [at(9, 30)],
    on: [1, 2, 3, 4, 5],
    ends: "sssss",
  },
  {
    job: 13,
    name: "price-feed",
    en: "At 06:00, 12:00 and 18:00",
    zh: "每天 06:00、12:00 和 18:00",
    hue: 4,
    minutes: [at(6), at(12), at(18)],
    ends: "ssssss",
  },
  {
    job: 14,
    name: "settle-payments",
    en: "At 10:15 on working days",
    zh: "工作日 10:15",
    hue: 6,
    minutes: [at(10, 15)],
    on: [1, 2, 3, 4, 5, 6],
    ends: "ssssss",
  },
  {
    job: 5,
    name: "rebuild-search-index-of-the-whole-catalogue-in-every-language",
    en: "At 04:15 on Sunday",
    zh: "每周日 04:15",
    hue: 7,
    minutes: [at(4, 15)],
    on: [7],
  },
  {
    job: 15,
    name: "weekly-digest",
    en: "At 16:45 on Saturday",
    zh: "每周六 16:45",
    hue: 8,
    minutes: [at(16, 45)],
    on: [6],
  },
  {
    job: 16,
    name: "warm-cache",
    en: "At 13:05, every day",
    zh: "每天 13:05",
    hue: 9,
    minutes: [at(13, 5), at(21, 5)],
    ends: "ssssss",
  },
  {
    job: 17,
    name: "dunning-letters",
    en: "At 14:00 from Tuesday to Thursday",
    zh: "周二至周四 14:00",
    hue: 10,
    minutes: [at(14)],
    on: [2, 3, 4],
    ends: "sfs",
  },
  {
    job: 18,
    name: "close-the-books",
    en: "At 23:50, every day",
    zh: "每天 23:50",
    hue: 11,
    minutes: [at(23, 50)],
    ends: "ssssss",
  },
  ...["eu", "us", "apac", "latam", "africa", "nordics", "iberia"].map((region, i) => ({
    job: 20 + i,
    name: `import-${region}`,
    en: "At 08:00 on working days",
    zh: "工作日 08:00",
    hue: (i * 5 + 2) % 12,
    minutes: [at(8, i > 4 ? 5 : 0)],
    on: [1, 2, 3, 4, 5],
    ends: i === 2 ? "ssfss" : "sssss",
  })),
];

const STATE: Record<string, string> = { s: "succeeded", f: "failed", c: "cancelled", r: "running" };

function dateOf(ms: number) {
  return new Date(ms + OFFSET).toISOString().slice(0, 10);
}

function week(now: number, monday: string | null, text: string | null, count = 7) {
  const local = now + OFFSET;
  const thisMonday = Math.floor(local / DAY) * DAY - ((new Date(local).getUTCDay() + 6) % 7) * DAY - OFFSET;
  const start = monday ? Date.parse(`${monday}T00:00:00Z`) - OFFSET : thisMonday;
  const days = Array.from({ length: count }, (_, i) => {
    const at = start + i * DAY;
    const date = dateOf(at);
    return {
      date,
      weekday: (i % 7) + 1,
      start: at,
      end: at + DAY,
      today: now >= at && now < at + DAY,
      blackouts: blackoutsOn(at, at + DAY),
      clock_change: i === 6 ? { en: "02:00 to 03:00 happens twice", zh: "02:00 至 03:00 出现两次" } : null,
    };
  });
  const plan = PLAN.filter((each) => !text || each.name.includes(text));
  const entries = plan
    .flatMap((each) =>
      days.flatMap((day, i) =>
        each.on && !each.on.includes(day.weekday)
          ? []
          : each.minutes.map((minute) => {
              const planned = day.start + minute * MIN;
              const past = planned < now;
              const letter = each.ends?.[each.on ? each.on.indexOf(day.weekday) : i % 7] ?? "s";
              const moved = each.job === 16 && i === 5 && minute > 1200;
              return {
                job: `job-${each.job}`,
                name: each.name,
                version: 2,
                planned,
                due: moment(planned),
                day: i,
                minute,
                instance: past ? `in-${each.job}-${i}` : null,
                state: past ? (planned > now - 3 * MIN ? "running" : STATE[letter]) : null,
                origin: "schedule",
                hue: each.hue,
                words: { en: each.en, zh: each.zh },
                reason: moved ? { en: "moved from 20:30 by hand", zh: "由人工从 20:30 移动" } : null,
                can_move: past
                  ? no("It has already fired", "它已经触发过了")
                  : each.job === 15
                    ? no("It follows other jobs; its time is theirs", "它跟随其他任务，时间由它们决定")
                    : yes,
              };
            }),
      ),
    )
    .sort((a, b) => a.day - b.day || a.minute - b.minute);
  const band = (
    job: number,
    name: string,
    en: string,
    zh: string,
    count: number,
    hue: number,
    from = 0,
    to = 1440,
    on = 7,
  ) =>
    days
      .flatMap((each, day) => (each.weekday <= on ? [day] : []))
      .map((day) => ({
        job: `job-${job}`,
        name,
        version: 1,
        day,
        from_minute: from,
        to_minute: to,
        count,
        hue,
        words: { en, zh },
      }));
  const bands = [
    ...band(1, "heartbeat", "Every 15 s", "每 15 秒", 5_760, 2),
    ...band(2, "sync-orders", "Every 5 minutes", "每 5 分钟", 288, 6),
    ...band(
      30,
      "poll-queue",
      "Every minute from 09:00 to 17:59 on working days",
      "工作日 09:00 至 17:59 每分钟",
      540,
      9,
      540,
      1080,
      5,
    ),
  ].filter((each) => !text || each.name.includes(text));
  const load = days.map((_, i) =>
    Array.from({ length: 96 }, (_, quarter) => {
      const own = entries.filter((each) => each.day === i && Math.floor(each.minute / 15) === quarter).length;
      const often = bands
        .filter((each) => each.day === i && each.from_minute <= quarter * 15 && each.to_minute > quarter * 15)
        .reduce((sum, each) => sum + Math.round((each.count * 15) / (each.to_minute - each.from_minute)), 0);
      return own * 6 + often;
    }),
  );
  return wired({ now, zone: "Asia/Shanghai", days, entries, bands, load });
}

interface Told {
  job: string;
  name: string;
  words: { en: string; zh: string };
  hue: number;
}

/** As the node sends it: each job's words once, and each note once. */
function wired<
  E extends Told & { reason: unknown; can_move: { ok: boolean; why: unknown } },
  B extends Told,
  V extends { entries: E[]; bands: B[] },
>(view: V) {
  const jobs: { id: string; name: string; words: unknown; hue: number }[] = [];
  const notes: unknown[] = [];
  const of = ({ job, name, words, hue }: Told) => {
    const at = jobs.findIndex((each) => each.id === job);
    return at < 0 ? jobs.push({ id: job, name, words, hue }) - 1 : at;
  };
  const note = (text: unknown) => (text ? notes.push(text) - 1 : null);
  const bare = <T extends Told>({ name: _, words: __, hue: ___, ...rest }: T) => rest;
  return {
    ...view,
    jobs,
    notes,
    entries: view.entries.map((entry) => {
      const { can_move, ...rest } = entry;
      return {
        ...bare(rest),
        job: of(entry),
        reason: note(entry.reason),
        fixed: can_move.ok ? null : note(can_move.why),
      };
    }),
    bands: view.bands.map((band) => ({ ...bare(band), job: of(band) })),
  };
}

function reschedule(input: { job: string; planned: number; to_local?: string }) {
  const to = Date.parse(`${input.to_local}:00Z`) - OFFSET;
  const each = PLAN.find((other) => `job-${other.job}` === input.job);
  const next = (from: number) => Array.from({ length: 6 }, (_, i) => moment(from + i * DAY));
  const clock = moment(to).text.slice(11, 16);
  const spec = { name: each?.name };
  return {
    job: input.job,
    name: each?.name,
    version: 2,
    from: moment(input.planned),
    to: moment(to),
    choices: [
      {
        scope: "thisRun",
        allowed: yes,
        words: { en: `${each?.en}; one run moved to ${clock}`, zh: `${each?.zh}；其中一次移至 ${clock}` },
        before: next(input.planned),
        after: [moment(to), ...next(input.planned).slice(1)].sort((a, b) => a.ms - b.ms),
        collisions: [],
        spec,
      },
      {
        scope: "following",
        allowed: yes,
        words: { en: `At ${clock}, every day`, zh: `每天 ${clock}` },
        before: next(input.planned),
        after: next(to),
        collisions: ["price-feed", "warm-cache"],
        spec,
      },
      {
        scope: "all",
        allowed: no("The day would change for past runs too", "过去的运行日期也会改变"),
        words: null,
        before: [],
        after: [],
        collisions: [],
        spec: null,
      },
    ],
  };
}

function change(field: string, en: string, zh: string, before: string | null, after: string | null) {
  const both = (text: string | null) => text && { en: text, zh: text };
  return { field, name: { en, zh }, before: both(before), after: both(after) };
}

function adjusted(now: number, job: string, local: string | null) {
  const each = PLAN.find((other) => `job-${other.job}` === job);
  const next = Array.from({ length: 6 }, (_, i) => moment(now + i * DAY));
  const extra = local === null ? [] : [moment(Date.parse(`${local}:00Z`) - OFFSET)];
  return {
    job,
    name: each?.name,
    version: 2,
    choice: {
      scope: local === null ? "all" : "thisRun",
      allowed: yes,
      words: { en: `${each?.en}${local ? "; one run more" : ""}`, zh: `${each?.zh}${local ? "；额外一次" : ""}` },
      before: next,
      after: [...next, ...extra].sort((a, b) => a.ms - b.ms),
      collisions: local === null ? [] : ["price-feed"],
      spec: { name: each?.name },
    },
  };
}

/** Lets the script answer what the calendar and the runs ask. */
export function withTime(script: Script): Script {
  Object.assign(script.answers, {
    calendar: (input: { date?: string | null; text?: string | null; days?: number }) =>
      week(script.now, input.date ?? null, input.text ?? null, input.days ?? 7),
    zones: () => ({ version: "2026f", bundled: "2026d", zones: 597 }),
    import_zones: () => ({
      before: "2026d",
      version: "2026f",
      changed: 4,
      jobs: [
        {
          job: "job-5",
          name: "exchange-rates",
          time_zone: "Europe/Berlin",
          before: [moment(script.now + 3 * DAY)],
          after: [moment(script.now + 3 * DAY + 60 * MIN)],
        },
      ],
    }),
    list_calendars: () => ({ rows: CALENDARS }),
    get_calendar: workCalendar,
    calendar_effect: (input: { calendar: unknown }) => ({
      calendar: input.calendar,
      new: false,
      faults: [],
      read: 0,
      passed_over: 0,
      days: [],
      more_days: 0,
      jobs: timesChange(script.now),
      more_jobs: 0,
    }),
    read_calendar_file: () => ({
      calendar: null,
      new: false,
      faults: [],
      read: 2,
      passed_over: 0,
      days: [
        {
          date: "2027-01-01",
          workedBefore: true,
          workedAfter: false,
          whyBefore: { en: "", zh: "" },
          whyAfter: { en: "New Year", zh: "元旦" },
        },
        {
          date: "2027-01-02",
          workedBefore: false,
          workedAfter: true,
          whyBefore: { en: "", zh: "" },
          whyAfter: { en: "New Year, made up for", zh: "元旦调休" },
        },
      ],
      more_days: 0,
      jobs: timesChange(script.now),
      more_jobs: 0,
    }),
    away: () => away(script.now),
    answer_questions: () => ({ jobs: [], instances: ["in-1"], changed: 1, version: null }),
    reschedule: (input: { job: string; planned: number; to_local?: string }) => reschedule(input),
    copy_run: (input: { job: string; to_local: string }) => adjusted(script.now, input.job, input.to_local),
    spread_runs: (input: { job: string }) => adjusted(script.now, input.job, null),
    compare_versions: (input: { from: number; to: number }) => ({
      job: "job-0",
      name: "nightly-report",
      from: input.from,
      to: input.to,
      changes: [
        change("schedule", "Schedule", "调度", "At 01:30, every day", "At 02:00, every day"),
        change("misfire.policy", "Missed runs", "错过的执行", "skip", "fireOnce"),
        change("parameters.command", "Parameters: command", "参数：command", "./report", "./report --day yesterday"),
        change("tags", "Tags", "标签", null, "finance, nightly"),
      ],
    }),
    save_job: () => ({ jobs: ["job-0"], instances: [], changed: 1, version: 3 }),
    restore_version: () => ({ jobs: ["job-0"], instances: [], changed: 1, version: 4 }),
    run_jobs: () => ({ jobs: ["job-0"], instances: ["in-1"], changed: 1, version: null }),
    list_instances: (input: { states?: string[]; job?: string | null }) => ({
      rows: Array.from({ length: 60 }, (_, k) => instanceRow(script.now, k)).filter(
        (row) =>
          (!input.states?.length || input.states.includes(row.state)) && (!input.job || row.job_name === input.job),
      ),
      next: null,
    }),
    get_instance: (input: { instance: string }) =>
      instanceDetail(script.now, Number(input.instance.split("-")[1] ?? 0)),
    read_log: (input: { attempt?: number | null; from?: number | null }) => logOf(script.now - 5 * MIN, input),
    pause_jobs: () => ({ jobs: ["job-0"], instances: [], changed: 1, version: null }),
  });
  return withBlackouts(script);
}

/** The middle of the firing of a job on a day that is to come. */
async function take(page: Page, name: string) {
  const chip = page.locator(`[data-testid=calendar-entry][data-name="${name}"][data-movable=true]`).first();
  await chip.scrollIntoViewIfNeeded();
  const box = await chip.boundingBox();
  if (!box) throw new Error(`${name} is not on the page`);
  return { x: box.x + Math.min(20, box.width / 2), y: box.y + box.height / 2 };
}

async function drag(page: Page, name: string, by: { x: number; y: number }, drop: boolean) {
  const from = await take(page, name);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + by.x / 2, from.y + by.y / 2, { steps: 4 });
  await page.mouse.move(from.x + by.x, from.y + by.y, { steps: 4 });
  if (drop) await page.mouse.up();
}

export const TIME_SHOTS = [
  { name: "calendar", path: "/calendar" },
  { name: "calendar-day", path: "/calendar?mode=day" },
  { name: "calendar-agenda", path: "/calendar?mode=agenda" },
  { name: "calendar-next", path: "/calendar?date=2026-11-25" },
  {
    name: "calendar-few",
    path: "/calendar?text=nightly",
  },
  { name: "calendar-empty", path: "/calendar?text=nothing-has-this" },
  {
    name: "calendar-entry",
    path: "/calendar",
    act: async (page: Page) => {
      const at = await take(page, "warm-cache");
      await page.mouse.click(at.x, at.y);
      await page.getByTestId("entry-popover").waitFor();
    },
  },
  {
    name: "calendar-drag",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => drag(page, "settle-payments", { x: 130, y: 61 }, false),
  },
  {
    name: "calendar-dropped",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      await drag(page, "settle-payments", { x: 0, y: 61 }, true);
      await page.getByTestId("reschedule-words").waitFor();
      await page.getByTestId("scope-following").click();
    },
  },
  {
    name: "calendar-moved",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      await drag(page, "settle-payments", { x: 0, y: 61 }, true);
      await page.getByTestId("reschedule-words").waitFor();
      await page.keyboard.press("Enter");
      await page.getByTestId("reschedule-dialog").waitFor({ state: "detached" });
    },
  },
  { name: "working-days", path: "/settings/calendars/shop" },
  { name: "working-days-uncovered", path: "/settings/calendars/shop?year=2027" },
  {
    name: "working-day-changed",
    path: "/settings/calendars/shop",
    act: async (page: Page) => {
      await page.locator('[data-date="2026-12-24"]').click();
      await page.getByLabel(/^(Name of the day|日期名称)/).fill("Christmas Eve");
      await page.keyboard.press("Enter");
      await page.getByTestId("calendar-effect").getByText("workday-reminder").waitFor();
      await page.locator('[data-date="2026-12-25"]').click();
      await page.getByTestId("day-popover").waitFor();
    },
  },
  {
    name: "working-days-import",
    path: "/settings/calendars/shop",
    act: async (page: Page) => {
      await page.getByRole("button", { name: /^(Import|导入)$/ }).click();
      await page.getByLabel(/^(Or paste|或把)/).fill("2027-01-01,off,New Year");
      await page.getByTestId("import-difference").waitFor();
    },
  },
  {
    name: "zone-data",
    path: "/settings",
    act: async (page: Page) => {
      await page.getByRole("button", { name: /^(Import newer data|导入较新的数据)$/ }).click();
      await page.getByLabel(/^(Folder|目录)/).fill("/usr/share/zoneinfo");
      await page.getByRole("button", { name: /^(See what changes|查看影响)$/ }).click();
      await page.getByTestId("zones-change").waitFor();
    },
  },
  { name: "calendar-month", path: "/calendar?mode=month" },
  {
    name: "calendar-menu",
    path: "/calendar",
    act: async (page: Page) => {
      const at = await take(page, "warm-cache");
      await page.mouse.click(at.x, at.y, { button: "right" });
      await page.getByRole("menu").waitFor();
    },
  },
  {
    name: "calendar-stretch",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      const at = await take(page, "settle-payments");
      await page.mouse.move(at.x, at.y + 8);
      await page.mouse.down();
      await page.mouse.move(at.x, at.y + 60, { steps: 4 });
    },
  },
  {
    name: "calendar-copied",
    path: "/calendar?date=2026-11-25",
    act: async (page: Page) => {
      await page.keyboard.down("Alt");
      await drag(page, "settle-payments", { x: 0, y: 61 }, true);
      await page.keyboard.up("Alt");
      await page
        .getByTestId("change-dialog")
        .getByText(/^\d\d:\d\d$/)
        .first()
        .waitFor();
    },
  },
  { name: "runs", path: "/runs" },
  { name: "runs-few", path: "/runs?state=failed%2Crunning" },
  {
    name: "runs-empty",
    path: "/runs",
    script: (script: Script) => {
      script.answers.list_instances = () => ({ rows: [], next: null });
    },
  },
  {
    name: "runs-selected",
    path: "/runs",
    act: async (page: Page) => {
      for (const key of ["j", "x", "j", "x", "j", "j", "x"]) await page.keyboard.press(key);
    },
  },
  { name: "run-failed", path: "/runs/in-3" },
  { name: "run-late", path: "/runs/in-1" },
  { name: "run-waiting", path: "/runs/in-2" },
  { name: "run-tasks", path: "/runs/in-6" },
];
