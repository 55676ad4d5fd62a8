// Takes the pictures: every view and dialog, empty and full, in both themes and both languages, into screenshots/; and
// from them the ones that the README shows, into docs/images/.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { closeChrome, openConsole } from "../harness/console.mjs";
import { eventually } from "../harness/eventually.mjs";
import { drag } from "../harness/hands.mjs";
import { serve } from "../harness/programs.mjs";
import { furnish } from "./workplace.mjs";

const OUT = new URL("../screenshots/", import.meta.url).pathname;
const DOCS = new URL("../../../docs/images/", import.meta.url).pathname;
const CRONTAB = readFileSync(new URL("../browser/forty-lines.crontab", import.meta.url), "utf8");

const LOOKS = ["en", "zh"].flatMap((lang) => ["light", "dark"].map((theme) => ({ lang, theme })));
const ORDINARY = { width: 1280, height: 800 };
const SMALLEST = { width: 900, height: 600 };
const LARGE = { width: 1600, height: 1000 };

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
mkdirSync(DOCS, { recursive: true });

const empty = await serve();
const full = await serve();
const ids = await furnish(full);

/** name, node, address, what is done there, at which sizes besides the ordinary one */
const VIEWS = [
  ["pulse-first", empty, "/", null, [SMALLEST]],
  ["calendar-empty", empty, "/calendar"],
  ["jobs-empty", empty, "/jobs"],
  ["runs-empty", empty, "/runs"],
  ["alarms-empty", empty, "/alarms"],
  ["pulse", full, "/", null, [SMALLEST, LARGE]],
  ["calendar-week", full, "/calendar", null, [SMALLEST, LARGE]],
  ["calendar-next-week", full, "/calendar", (page) => page.getByTestId("calendar-next").click(), [LARGE]],
  ["calendar-day", full, "/calendar?mode=day"],
  ["calendar-agenda", full, "/calendar?mode=agenda"],
  ["calendar-month", full, "/calendar?mode=month", null, [SMALLEST, LARGE]],
  ["calendar-menu", full, "/calendar", openMenu],
  ["working-days", full, "/settings/calendars/cn", null, [SMALLEST, LARGE]],
  ["working-day", full, "/settings/calendars/cn", openDay],
  ["calendar-firing", full, "/calendar", openFiring],
  ["reschedule", full, "/calendar", moveFiring, [SMALLEST]],
  ["jobs", full, "/jobs", null, [SMALLEST, LARGE]],
  ["jobs-selected", full, "/jobs", (page) => keys(page, "j", "x", "j", "j", "x")],
  ["crontab", full, "/jobs?import=crontab", pasteCrontab, [SMALLEST]],
  ["job-new", full, "/jobs/new", null, [SMALLEST]],
  ["job-wrong", full, "/jobs/new", writeWrongly],
  ["job", full, `/jobs/${ids.detail}`, null, [SMALLEST]],
  ["job-versions", full, `/jobs/${ids.detail}?tab=versions`],
  ["runs", full, "/runs", null, [SMALLEST, LARGE]],
  ["run-failed", full, `/runs/${ids.failed}`, null, [SMALLEST]],
  ["run-running", full, `/runs/${ids.running}`],
  ["run-why", full, `/runs/${ids.failed}`, (page) => keys(page, "w"), [SMALLEST]],
  ["run-compare", full, `/runs/${ids.failed}`, (page) => keys(page, "v")],
  ["run-again", full, `/runs/${ids.failed}`, (page) => keys(page, "Shift+R")],
  ["executors", full, "/executors", null, [SMALLEST, LARGE]],
  ["executor", full, "/executors", (page) => keys(page, "j", "Enter")],
  ["alarms", full, "/alarms", null, [SMALLEST]],
  ["alarm", full, "/alarms", (page) => keys(page, "j", "Enter")],
  ["acknowledge", full, "/alarms", (page) => keys(page, "j", "a")],
  ["settings", full, "/settings", null, [SMALLEST]],
  ["palette", full, "/jobs", (page) => keys(page, "Control+k")],
  ["keys", full, "/jobs", (page) => keys(page, "?")],
  ["hold", full, "/", (page) => page.getByRole("button", { name: /^(Hold everything|全部暂停派发)/ }).click()],
];

async function keys(page, ...pressed) {
  for (const key of pressed) await page.keyboard.press(key);
}

async function openFiring(page) {
  await page.getByTestId("calendar-next").click();
  await page.getByTestId("calendar-entry").first().click();
  await page.getByTestId("entry-popover").waitFor();
}

async function openMenu(page) {
  await page.getByTestId("calendar-next").click();
  await page.locator("[data-testid=calendar-entry][data-movable=true]").first().click({ button: "right" });
  await page.getByRole("menu").waitFor();
}

async function openDay(page) {
  await page.locator("[data-testid=year-grid] [data-date]").nth(200).click();
  await page.getByTestId("day-popover").waitFor();
}

async function moveFiring(page) {
  await page.getByTestId("calendar-next").click();
  const chip = page
    .locator('[data-testid=calendar-entry][data-movable=true][data-name="certificate-expiry-check"]')
    .nth(2);
  await chip.scrollIntoViewIfNeeded();
  await drag(page, chip, { x: 0, y: 100 });
  await page.getByTestId("reschedule-words").waitFor();
}

async function pasteCrontab(page) {
  await page.locator("textarea").fill(CRONTAB);
  await page.getByText(/^29 (jobs ·|个任务 ·)/).waitFor();
}

async function writeWrongly(page) {
  await page.getByLabel(/Cron expression|Cron 表达式/).fill("0 0 30 2 *");
  await page.keyboard.press("Control+s");
  await eventually("something is marked as wrong", async () => (await page.locator("[aria-invalid=true]").count()) > 1);
}

/** Takes one in a page that is open, of an address come to anew. */
async function picture(name, { page }, node, address, act, looks, folder = OUT) {
  await page.goto("about:blank");
  await page.goto(`${node.origin}/#${address}`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle").catch(() => {});
  await act?.(page);
  await page.evaluate(() => document.fonts.ready);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.mouse.move(looks.width / 2, 1);
  const { lang, theme, width } = looks;
  const file = folder === OUT ? `${name}-${lang}-${theme}-${width}.png` : `${name}.png`;
  await page.screenshot({ path: join(folder, file) });
}

const only = process.env.ONLY ?? "";
let taken = 0;
for (const { lang, theme } of LOOKS) {
  for (const node of [empty, full]) {
    await node.ask("set_setting", { key: "language", value: lang });
    await node.ask("set_setting", { key: "theme", value: theme });
    for (const size of [ORDINARY, SMALLEST, LARGE]) {
      const looks = { lang, theme, ...size };
      const wanted = VIEWS.filter(
        ([name, of, , , sizes = []]) => of === node && name.includes(only) && [ORDINARY, ...sizes].includes(size),
      );
      if (wanted.length === 0) continue;
      const opened = await openConsole(node.address, looks);
      // What is wrong in one of the pictures is provoked.
      opened.mayComplain(/save_job|status of 400/);
      for (const [name, of, address, act] of wanted) {
        try {
          await picture(name, opened, of, address, act, looks);
          taken += 1;
        } catch (error) {
          process.exitCode = 1;
          process.stdout.write(`${name} ${lang} ${theme} ${size.width}: ${error.message.split("\n")[0]}\n`);
        }
      }
      for (const complaint of opened.complaints) process.stdout.write(`${lang} ${theme} ${size.width}: ${complaint}\n`);
      await opened.close();
    }
  }
}

if (only === "" || only === "readme") {
  const next = (page) => page.getByTestId("calendar-next").click();
  await full.ask("set_setting", { key: "theme", value: "light" });
  for (const [lang, shown] of [
    [
      "en",
      [
        ["pulse", "/"],
        ["calendar", "/calendar", next],
      ],
    ],
    ["zh", [["pulse.zh", "/"]]],
  ]) {
    await full.ask("set_setting", { key: "language", value: lang });
    // As large as a picture of the large window, and as full as one of the ordinary.
    const looks = { lang, theme: "light", ...ORDINARY, scale: 1.25 };
    const opened = await openConsole(full.address, looks);
    for (const [name, address, act] of shown) await picture(name, opened, full, address, act, looks, DOCS);
    await opened.close();
  }
}
process.stdout.write(`${taken} pictures in tests/e2e/screenshots\n`);
await closeChrome();
await full.program.stop();
await empty.program.stop();
