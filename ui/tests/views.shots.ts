// Takes the pictures: each view, in both themes and both languages, at the smallest window and at an ordinary one.
// `SHOTS=jobs npm run shots` takes only those whose name has that in it. They are written to dist/shots.
import { mkdirSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { type PreviewServer, preview } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixture, install, type Script } from "./fixture";

const OUT = "dist/shots";
let browser: Browser;
let server: PreviewServer;

beforeAll(async () => {
  mkdirSync(OUT, { recursive: true });
  server = await preview({ preview: { port: 4199 }, logLevel: "error" });
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
        if (message.type() === "error") troubles.push(message.text());
      });
      await page.addInitScript(
        ([theme, lang]) =>
          localStorage.setItem(
            "campanile.appearance",
            JSON.stringify({ theme, lang, railShut: window.innerWidth < 1000 }),
          ),
        [form.theme, form.lang] as const,
      );
      const script = fixture();
      shot.script?.(script);
      await install(page, script);
      await page.goto(`http://localhost:4199/#${shot.path}`);
      await page.waitForLoadState("networkidle");
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
              `${each.id}: ${each.nodes.map((node) => `${node.target.join(" ")} ${node.failureSummary ?? ""}`).join(" | ")}`,
          );
      });
      await context.close();
      expect(troubles).toEqual([]);
      expect(barriers).toEqual([]);
    });
  }
}
