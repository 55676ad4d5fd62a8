// Takes the pictures: every view and dialog, empty and full, in both themes and both languages, into screenshots/; and
// from them the ones that the README shows, into docs/images/.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.mjs";
import { closeChrome, openConsole } from "../harness/console.mjs";
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
  await page.getByText(/32 /).first().waitFor();
}

async function writeWrongly(page) {
  await page.getByLabel(/Cron expression|Cron 表达式/).fill("0 0 30 2 *");
  await page.keyboard.press("Control+s");
  await eventually("something is marked as wrong", async () => (await page.locator("[aria-invalid=true]").count()) > 1);
}

async function picture(name, node, address, act, looks) {
  const { lang, theme, width, height, scale = 1, into = OUT } = looks;
  const console = await openConsole(node.address, looks);
  const { page } = console;
  await console.go(address);
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.waitForLoadState("networkidle").catch(() => {});
  await act?.(page);
  await page.evaluate(() => document.fonts.ready);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.mouse.move(width / 2, 1);
  const path = join(into, into === OUT ? `${name}-${lang}-${theme}-${width}.png` : `${name}.png`);
  await page.screenshot({ path, ...(scale === 1 ? {} : { scale: "device" }) });
  for (const complaint of console.complaints) process.stdout.write(`${name} ${lang} ${theme}: ${complaint}\n`);
  await console.close();
}

const only = process.env.ONLY ?? "";
let taken = 0;
for (const { lang, theme } of LOOKS) {
  for (const node of [empty, full]) {
    await node.ask("set_setting", { key: "language", value: lang });
    await node.ask("set_setting", { key: "theme", value: theme });
  }
  for (const [name, node, address, act, sizes = []] of VIEWS) {
    if (!name.includes(only)) continue;
    for (const size of [ORDINARY, ...sizes]) {
      try {
        await picture(name, node, address, act, { lang, theme, ...size });
        taken += 1;
      } catch (error) {
        process.exitCode = 1;
        process.stdout.write(`${name} ${lang} ${theme} ${size.width}: ${error.message.split("\n")[0]}\n`);
      }
    }
  }
}

if (only === "") {
  const readme = { theme: "light", ...LARGE };
  for (const node of [full]) await node.ask("set_setting", { key: "theme", value: "light" });
  await full.ask("set_setting", { key: "language", value: "en" });
  await picture("pulse", full, "/", null, { ...readme, lang: "en", into: DOCS });
  await picture("calendar", full, "/calendar", (page) => page.getByTestId("calendar-next").click(), {
    ...readme,
    lang: "en",
    into: DOCS,
  });
  await full.ask("set_setting", { key: "language", value: "zh" });
  await picture("pulse.zh", full, "/", null, { ...readme, lang: "zh", into: DOCS });
}
process.stdout.write(`${taken} pictures in tests/e2e/screenshots\n`);
await closeChrome();
await full.program.stop();
await empty.program.stop();
