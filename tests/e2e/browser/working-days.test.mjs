// Working days: a day of a calendar is changed by a click, what that does to jobs is seen before it is saved, and then the
// runs move; days from a file are shown as a difference first.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { toast, toView } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

/** The next Wednesday that is three weeks away at least. */
function aWednesday(from) {
  const at = new Date(Date.parse(`${from}T00:00:00Z`) + 21 * 86_400_000);
  at.setUTCDate(at.getUTCDate() + ((3 - at.getUTCDay() + 7) % 7));
  return at.toISOString().slice(0, 10);
}

async function shop(node) {
  const calendar = { name: "shop", week: [1, 2, 3, 4, 5], layers: [{ name: "company", days: [] }] };
  await node.ask("put_calendar", { calendar, seen_revision: null });
  await node.job({
    name: "invoices",
    schedule: { kind: "cron", expression: "0 10 * * *", timeZone: "Asia/Shanghai" },
    calendar: "shop",
    onNonWorkday: "nextWorkday",
    parameters: { command: "true" },
  });
}

async function due(node, date) {
  const { jobs, entries } = await node.ask("calendar", { date, days: 1 });
  return entries.filter((entry) => jobs[entry.job].name === "invoices").length;
}

story(
  "a day is made a day off, a job's run is seen to move, and moves when it is saved",
  async ({ page, node }) => {
    const { days } = await node.ask("calendar", {});
    const date = aWednesday(days[0].date);
    await toView(page, "Settings");
    await page.getByRole("link", { name: /shop/ }).click();
    await page.getByTestId("year-grid").waitFor();
    if (!date.startsWith(await page.getByTestId("year-grid").getAttribute("aria-label")))
      await page.keyboard.press("]");
    const day = page.locator(`[data-testid=year-grid] [data-date="${date}"]`);
    await day.click();
    await page.getByLabel("Name of the day").fill("Founders' day");
    await page.keyboard.press("Enter");
    const effect = page.getByTestId("calendar-effect");
    await effect.getByText("invoices").waitFor();
    await effect.getByText(`${date} 10:00`).waitFor();
    assert.equal(await due(node, date), 1, "nothing is moved before it is saved");
    await page.keyboard.press("Control+s");
    await toast(page, /is saved/).waitFor();
    await eventually("the run is not on that day any more", async () => (await due(node, date)) === 0);
    await eventually("the day says what it is", async () =>
      (await day.getAttribute("aria-label"))?.includes("Founders' day"),
    );
    await page.keyboard.press("Control+z");
    await eventually("the run is where it was", async () => (await due(node, date)) === 1);
  },
  { before: shop },
);

story(
  "days from a file are shown as a difference before they are taken",
  async ({ page, node }) => {
    const { days } = await node.ask("calendar", {});
    const date = aWednesday(days[0].date);
    await page.evaluate(() => window.location.assign("#/settings/calendars/shop"));
    await page.getByRole("button", { name: "Import", exact: true }).click();
    await page.getByLabel("Or paste its lines here").fill(`date,kind,name\n${date},off,Stocktaking\n`);
    const difference = page.getByTestId("import-difference");
    await difference.getByText("invoices").waitFor();
    assert.equal(await due(node, date), 1);
    await page.getByRole("button", { name: "Take these days" }).click();
    await toast(page, /is saved/).waitFor();
    await eventually("the run has moved", async () => (await due(node, date)) === 0);
  },
  { before: shop },
);
