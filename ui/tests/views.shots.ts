// Takes the pictures: each view, in both themes and both languages, at the smallest window and at an ordinary one.
// `SHOTS=jobs npm run shots` takes only those whose name has that in it. They are written to dist/shots.
import { mkdirSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { type PreviewServer, preview } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BLACKOUT_SHOTS } from "./blackouts";
import { fixture, install, type Script } from "./fixture";
import { INFRASTRUCTURE_SHOTS } from "./infrastructure";
import { SHARD_SHOTS } from "./sharded";
import { TEAM_SHOTS } from "./teams";
import { TIME_SHOTS, withTime } from "./time";

const OUT = "dist/shots";
let browser: Browser;
let server: PreviewServer;

beforeAll(async () => {
  mkdirSync(OUT, { recursive: true });
  server = await preview({ preview: { port: 0, strictPort: false }, logLevel: "error" });
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

export interface Shot {
  name: string;
  path: string;
  /** Questions never end in it. */
  restless?: boolean;
  script?: (script: Script) => void;
  act?: (page: Page) => Promise<void>;
}

const CRONTAB = `# nightly things
MAILTO=ops@example.com
0 2 * * *    /usr/local/bin/report --day yesterday
*/5 * * * *  /usr/local/bin/sync-orders
@daily       /usr/local/bin/clean-temp
61 * * * *   /usr/local/bin/never
`;

function noJobs(script: Script) {
  script.answers.list_jobs = () => ({ rows: [], next: null, total: 0 });
}

const SHOTS: Shot[] = [
  { name: "pulse", path: "/" },
  {
    name: "pulse-first",
    path: "/",
    script: (s) => {
      const bootstrap = s.answers.bootstrap?.({}) as Record<string, unknown>;
      s.answers.bootstrap = () => ({ ...bootstrap, first_run: true });
      const pulse = s.answers.pulse?.({}) as Record<string, unknown>;
      s.answers.pulse = () => ({
        ...pulse,
        jobs: 0,
        upcoming: [],
        running: [],
        alarms: [],
        omissions: [],
        next_hour: [],
      });
    },
  },
  { name: "jobs", path: "/jobs" },
  { name: "job-new", path: "/jobs/new" },
  { name: "job-edit", path: "/jobs/job-0/edit" },
  { name: "job", path: "/jobs/job-0" },
  { name: "job-versions", path: "/jobs/job-0?tab=versions" },
  {
    name: "job-versions-later",
    path: "/jobs/job-0?tab=versions",
    script: (s) => {
      const detail = s.answers.get_job?.({ job: "job-0" } as never) as { versions: { spec: object }[] };
      const [newest] = detail.versions;
      if (newest) newest.spec = { ...newest.spec, effectiveFrom: s.now + 3 * 86_400_000 };
      s.answers.get_job = () => detail;
    },
  },
  {
    name: "form-lapsed",
    path: "/jobs/job-0/edit",
    script: (s) => {
      const check = s.answers.check_job?.({} as never) as object;
      const lapsed = [
        ["2026-11-24 02:00:00", 1],
        ["2026-12-01 02:00:00", 2],
      ].map(([at, planned]) => ({
        exception: { change: "skip", planned },
        words: { en: `${at} skipped`, zh: `跳过 ${at}` },
      }));
      s.answers.check_job = () => ({ ...check, lapsed });
    },
  },
  {
    name: "jobs-selected",
    path: "/jobs",
    act: async (page) => {
      for (const key of ["j", "x", "j", "j", "x"]) await page.keyboard.press(key);
    },
  },
  {
    name: "crontab",
    path: "/jobs?import=crontab",
    act: async (page) => {
      await page.locator("textarea").fill(CRONTAB);
      await page.waitForTimeout(300);
    },
  },
  { name: "alarms", path: "/alarms" },
  { name: "alarm-open", path: "/alarms?alarm=alarm-2" },
  { name: "settings", path: "/settings" },
  {
    name: "connections-tested",
    path: "/settings",
    act: async (page) => {
      for (const name of ["archive", "orders"])
        await page.getByRole("button", { name: new RegExp(`^(Test|测试) ${name}$`) }).click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "connections-none",
    path: "/settings",
    script: (s) => {
      s.answers.list_connections = () => ({ rows: [], keeper: "file", can_add: { ok: true, why: null } });
    },
  },
  {
    name: "connection-new",
    path: "/settings",
    script: (s) => {
      s.answers.put_connection = () => ({ jobs: [], instances: [], changed: 1, version: null });
    },
    act: async (page) => {
      await page.getByRole("button", { name: /^(Add connection|添加连接)$/ }).click();
      await page.getByLabel(/^(Host|主机)$/).fill("orders-1.db.example.com");
      await page.getByLabel(/^(User|用户)$/).fill("report");
      await page.getByLabel(/^(Password|密码)$/).fill("not to be seen");
      await page
        .getByRole("dialog")
        .getByRole("button", { name: /^(Test|测试)$/ })
        .click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "connection-edit",
    path: "/settings",
    act: async (page) => {
      await page.getByRole("button", { name: /^(Edit|编辑) orders$/ }).click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "connection-remove",
    path: "/settings",
    act: async (page) => {
      await page.getByRole("button", { name: /^(Remove|移除) archive$/ }).click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "connection-in-job",
    path: "/jobs/new",
    act: async (page) => {
      await page.getByRole("button", { name: /Shell/ }).first().click();
      await page.getByRole("option", { name: /SQL/ }).click();
      await page.getByRole("combobox", { name: /^(Connection|连接)/ }).click();
      await page.getByRole("option", { name: "orders" }).click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "jobs-empty",
    path: "/jobs",
    script: noJobs,
  },
  {
    name: "jobs-nomatch",
    path: "/jobs?q=tag:nothing",
    script: noJobs,
  },
  { name: "jobs-refused", path: "/jobs", script: (s) => void delete s.answers.list_jobs },
  {
    name: "form-repeat",
    path: "/jobs/new",
    act: async (page) => page.getByRole("radio", { name: /^(Repeat|重复)$/ }).click({ force: true }),
  },
  {
    name: "form-month",
    path: "/jobs/new",
    act: async (page) => {
      await page.getByRole("radio", { name: /^(Repeat|重复)$/ }).click({ force: true });
      await page.getByRole("radio", { name: /^(month|个月)$/ }).click({ force: true });
      for (const day of ["3", "5", "23"]) await page.getByRole("button", { name: day, exact: true }).click();
      await page.getByRole("button", { name: /^(last|最后一天)$/ }).click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "form-cron-wrong",
    path: "/jobs/new",
    script: (s) => {
      s.answers.check_job = () => ({
        faults: [
          {
            code: "k_sc_ec_000010",
            message: { en: "75 is not an hour: 0 to 23", zh: "75 不是有效的小时，应为 0 至 23" },
            hint: null,
            field: "schedule.expression",
            span: [4, 6],
          },
        ],
        preview: null,
      });
    },
    act: async (page) => {
      await page.getByLabel(/^(Cron expression|Cron 表达式)/).fill("0 2,75 * * *");
      await page.waitForTimeout(500);
    },
  },
  {
    name: "form-cron-six",
    path: "/jobs/new",
    act: async (page) => {
      await page.getByLabel(/^(Cron expression|Cron 表达式)/).fill("0 0 2 * * 1");
      await page.waitForTimeout(500);
    },
  },
  {
    name: "form-after",
    path: "/jobs/new",
    act: async (page) => {
      await page.getByRole("radio", { name: /^(After others|在其他任务之后)$/ }).click({ force: true });
      const box = page.getByRole("combobox", { name: /^(After these jobs|在这些任务之后)/ });
      for (const name of ["nightly-report", "sync-orders"]) {
        await box.fill(name);
        await page.getByRole("option", { name }).click();
      }
      await page.keyboard.press("Tab");
      await page.waitForTimeout(300);
    },
  },
  {
    name: "form-policies",
    path: "/jobs/new",
    act: async (page) => {
      await page
        .getByRole("button", { name: /^(Change this run|更改此次运行)$/ })
        .nth(1)
        .click({ force: true });
      await page.getByRole("menuitem", { name: /^(Move this run|移动此次运行)$/ }).click();
      await page.getByRole("button", { name: /^(Add a run|添加一次运行)$/ }).click();
      await page.getByRole("group", { name: /^(Single runs|单次调整)$/ }).scrollIntoViewIfNeeded();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "form-interval",
    path: "/jobs/new",
    act: async (page) => page.getByRole("radio", { name: /^(Interval|间隔)$/ }).click({ force: true }),
  },
  {
    name: "form-wrong",
    path: "/jobs/new",
    script: (s) => {
      const fault = (field: string, en: string, zh: string) => ({
        code: "k_sc_ec_000010",
        message: { en, zh },
        hint: null,
        field,
      });
      s.answers.check_job = () => ({
        faults: [
          fault("name", "A job needs a name", "任务需要名称"),
          fault("schedule.expression", "This never fires: 31 April does not exist", "永远不会触发：4 月没有 31 日"),
          fault("parameters.command", "command is required", "缺少 command"),
        ],
        preview: null,
      });
    },
    act: async (page) => {
      await page.keyboard.press("Control+s");
      await page.waitForTimeout(100);
    },
  },
  {
    name: "form-leaving",
    path: "/jobs/new",
    act: async (page) => {
      await page.keyboard.type("a-name");
      await page.keyboard.press("Tab");
      await page.locator("nav a").first().click();
      await page.waitForTimeout(300);
    },
  },
  {
    name: "acknowledge",
    path: "/alarms",
    act: async (page) => {
      for (const key of ["j", "x", "j", "x", "a"]) await page.keyboard.press(key);
    },
  },
  {
    name: "lost",
    path: "/",
    restless: true,
    script: (s) => {
      s.mute = true;
    },
    act: async (page) => page.waitForTimeout(1_500),
  },
  {
    name: "holding",
    path: "/",
    act: async (page) => {
      await page.getByRole("button", { name: /Hold everything|全部暂停派发/ }).click();
      await page.waitForTimeout(250);
    },
  },
  {
    name: "toast",
    path: "/jobs",
    script: (s) => {
      s.answers.pause_jobs = () => ({ jobs: ["job-0"], instances: [], changed: 1, version: null });
    },
    act: async (page) => {
      await page.keyboard.press("j");
      await page.keyboard.press("p");
      await page.keyboard.press("r");
      await page.waitForTimeout(400);
    },
  },
  { name: "palette", path: "/jobs", act: async (page) => page.keyboard.press("Control+k") },
  { name: "keys", path: "/jobs", act: async (page) => page.keyboard.press("?") },
  {
    name: "held",
    path: "/",
    script: (s) => {
      s.status.hold = {
        by: "lin",
        reason: "The orders database is being restored from last night's copy",
        since: s.now - 400_000,
      };
    },
  },
  ...TIME_SHOTS,
  ...BLACKOUT_SHOTS,
  ...SHARD_SHOTS,
  ...INFRASTRUCTURE_SHOTS,
  ...TEAM_SHOTS,
];

const FORMS = [
  { theme: "light", lang: "en", width: 1440, height: 900 },
  { theme: "dark", lang: "zh", width: 1440, height: 900 },
  { theme: "light", lang: "zh", width: 900, height: 600 },
  { theme: "dark", lang: "en", width: 900, height: 600 },
] as const;

for (const shot of SHOTS.filter((each) => each.name.includes(process.env.SHOTS ?? ""))) {
  for (const form of FORMS.filter((each) =>
    `${each.theme}-${each.lang}-${each.width}`.includes(process.env.FORM ?? ""),
  )) {
    test(`${shot.name} ${form.theme} ${form.lang} ${form.width}`, async () => {
      const context = await browser.newContext({
        viewport: { width: form.width, height: form.height },
        reducedMotion: "reduce",
      });
      const page = await context.newPage();
      const troubles: string[] = [];
      page.on("pageerror", (error) => troubles.push(error.message));
      page.on("console", (message) => {
        if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
          troubles.push(message.text());
      });
      await page.addInitScript(
        ([theme, lang]) =>
          localStorage.setItem(
            "campanile.appearance",
            JSON.stringify({ theme, lang, railShut: window.innerWidth < 1000 }),
          ),
        [form.theme, form.lang] as const,
      );
      const script = withTime(fixture());
      shot.script?.(script);
      await install(page, script);
      await page.goto(`${server.resolvedUrls?.local[0]}#${shot.path}`);
      await (shot.restless ? page.waitForTimeout(800) : page.waitForLoadState("networkidle"));
      await page.evaluate(() => document.fonts.ready);
      await shot.act?.(page);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await page.screenshot({ path: `${OUT}/${shot.name}-${form.theme}-${form.lang}-${form.width}.png` });
      await page.addScriptTag({ path: "node_modules/axe-core/axe.min.js" });
      const barriers = await page.evaluate(async () => {
        const { axe } = window as unknown as { axe: typeof import("axe-core") };
        const { violations } = await axe.run({ resultTypes: ["violations"] });
        return violations
          .filter((each) => each.impact === "serious" || each.impact === "critical")
          .map(
            (each) =>
              `${each.id}: ${each.nodes
                .slice(0, 2)
                .map((node) => `${node.target.join(" ")} ${node.failureSummary ?? ""}`)
                .join(" | ")}`,
          );
      });
      await context.close();
      expect(troubles).toEqual([]);
      expect(barriers).toEqual([]);
    });
  }
}
