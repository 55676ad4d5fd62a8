// The calendar is the schedule: a firing is dragged, the dialog shows what would come of it, saving moves it, and the
// move can be taken back.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { daysLater, drag, firing, toast, toView } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

/** Rows of the grid at its first zoom. */
const HOUR = 48;

const morning = (node) =>
  node.job({
    name: "morning-report",
    schedule: { kind: "cron", expression: "0 10 * * *", timeZone: "Asia/Shanghai" },
    parameters: { command: "true" },
  });

/** The next week, which is wholly to come, and its Wednesday. */
async function toNextWeek(page, node) {
  const { days } = await node.ask("calendar", {});
  const wednesday = daysLater(days[0].date, 9);
  await toView(page, "Calendar");
  await page.getByTestId("calendar-grid").waitFor();
  await page.getByTestId("calendar-next").click();
  await firing(page, "morning-report", wednesday).waitFor();
  return wednesday;
}

/** When that day's firing is due, by the node. */
async function due(node, date) {
  const { days, jobs, entries } = await node.ask("calendar", { date, days: 1 });
  assert.equal(days[0].date, date);
  return entries
    .filter((entry) => jobs[entry.job].name === "morning-report")
    .map((entry) => entry.due.text.slice(11, 16));
}

story(
  "one run is dragged to the afternoon, seen there, and taken back",
  async ({ page, node }) => {
    const wednesday = await toNextWeek(page, node);
    await drag(page, firing(page, "morning-report", wednesday), { x: 0, y: 3 * HOUR });
    const dialog = page.getByRole("dialog", { name: "Move morning-report" });
    await dialog.getByText("13:00").first().waitFor();
    await dialog.getByTestId("scope-thisRun").click();
    await dialog.getByTestId("reschedule-words").getByText("13:00").waitFor();
    assert.deepEqual(await due(node, wednesday), ["10:00"], "nothing is moved before it is saved");
    await dialog.getByTestId("reschedule-save").click();
    await toast(page, "morning-report was moved").waitFor();
    assert.deepEqual(await due(node, wednesday), ["13:00"]);
    assert.deepEqual(await due(node, daysLater(wednesday, 1)), ["10:00"]);
    await eventually("the page shows it at one o'clock", async () =>
      (await firing(page, "morning-report", wednesday).getAttribute("title"))?.includes("13:00:00"),
    );
    await page.keyboard.press("Control+z");
    await toast(page, "morning-report is back where it was").waitFor();
    assert.deepEqual(await due(node, wednesday), ["10:00"]);
    await eventually("the page shows it at ten again", async () =>
      (await firing(page, "morning-report", wednesday).getAttribute("title"))?.includes("10:00:00"),
    );
  },
  { before: morning },
);

story(
  "all runs are moved: the schedule is rewritten in words, as a new version",
  async ({ page, node }) => {
    const wednesday = await toNextWeek(page, node);
    await drag(page, firing(page, "morning-report", wednesday), { x: 0, y: 1.5 * HOUR });
    const dialog = page.getByRole("dialog", { name: "Move morning-report" });
    await dialog.getByTestId("scope-all").click();
    await dialog.getByTestId("reschedule-words").getByText("11:30").waitFor();
    await page.keyboard.press("Enter");
    await toast(page, "morning-report was moved").waitFor();
    const { row, spec } = await node.ask("get_job", { job: "morning-report" });
    assert.deepEqual([row.version, spec.schedule.expression], [2, "30 11 * * *"]);
    for (const day of [0, 1, 3]) assert.deepEqual(await due(node, daysLater(wednesday, day)), ["11:30"]);
    await page.keyboard.press("Control+z");
    await eventually(
      "the schedule is as it was",
      async () => (await node.ask("get_job", { job: "morning-report" })).spec.schedule.expression === "0 10 * * *",
    );
  },
  { before: morning },
);

story(
  "this run and those after it are moved; those before stay",
  async ({ page, node }) => {
    const wednesday = await toNextWeek(page, node);
    await drag(page, firing(page, "morning-report", wednesday), { x: 0, y: 2 * HOUR });
    const dialog = page.getByRole("dialog", { name: "Move morning-report" });
    await dialog.getByTestId("scope-following").click();
    await dialog.getByTestId("reschedule-save").click();
    await toast(page, "morning-report was moved").waitFor();
    assert.deepEqual(await due(node, daysLater(wednesday, -1)), ["10:00"]);
    assert.deepEqual(await due(node, wednesday), ["12:00"]);
    assert.deepEqual(await due(node, daysLater(wednesday, 8)), ["12:00"]);
  },
  { before: morning },
);

story(
  "a drag is given up with Escape, a dialog is left without a trace, and keys move as well as the hand",
  async ({ page, node }) => {
    const wednesday = await toNextWeek(page, node);
    const chip = firing(page, "morning-report", wednesday);
    const box = await chip.boundingBox();
    await page.mouse.move(box.x + 10, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + 10, box.y + 108, { steps: 4 });
    await page.keyboard.press("Escape");
    await page.mouse.up();
    assert.equal(await page.getByTestId("reschedule-dialog").count(), 0);

    await drag(page, chip, { x: 0, y: HOUR });
    await page.getByTestId("reschedule-dialog").waitFor();
    await page.getByTestId("reschedule-cancel").click();
    await page.getByTestId("reschedule-dialog").waitFor({ state: "detached" });
    assert.equal((await node.ask("get_job", { job: "morning-report" })).row.version, 1);

    await chip.click();
    await page.getByTestId("entry-move").click();
    await eventually("the firing is held by keys", async () => (await page.locator("[data-moving]").count()) > 0);
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByTestId("reschedule-dialog").waitFor();
    const dialog = page.getByRole("dialog", { name: "Move morning-report" });
    await dialog.getByTestId("reschedule-save").click();
    await toast(page, "morning-report was moved").waitFor();
    assert.notDeepEqual(await due(node, wednesday), ["10:00"]);
  },
  { before: morning },
);

story(
  "a firing is opened, run now, paused; an empty place makes a job there; other forms show the same week",
  async ({ page, node }) => {
    const wednesday = await toNextWeek(page, node);
    await firing(page, "morning-report", wednesday).click();
    await page.getByTestId("entry-popover").getByText("To come").waitFor();
    await page.getByTestId("entry-pause").click();
    await toast(page, "morning-report is paused").waitFor();
    await page.keyboard.press("Control+z");
    await eventually(
      "pausing is taken back",
      async () => !(await node.ask("get_job", { job: "morning-report" })).row.paused,
    );
    await firing(page, "morning-report", wednesday).waitFor();

    await page.keyboard.press("a");
    await page.getByTestId("calendar-agenda").getByText("morning-report").first().waitFor();
    await page.keyboard.press("d");
    await page.keyboard.press("w");
    await firing(page, "morning-report", wednesday).click();
    await page.getByTestId("entry-run-now").click();
    await node.instance("morning-report", (row) => row.state === "succeeded" && row.origin === "manual");

    await toView(page, "Calendar");
    await page.getByTestId("calendar-next").click();
    const chip = firing(page, "morning-report", wednesday);
    const box = await chip.boundingBox();
    await page.mouse.click(box.x + 40, box.y + 2.6 * HOUR);
    await page.getByRole("heading", { level: 1, name: "New job" }).waitFor();
    assert.match(await page.getByLabel("First run").inputValue(), new RegExp(`^${wednesday} 12:`));
  },
  { before: morning },
);

story(
  "a job that fires every ten seconds is a band, and what has run wears its outcome",
  async ({ page, node }) => {
    await node.instance("often", (row) => row.state === "succeeded");
    await toView(page, "Calendar");
    await page.getByText("often").first().waitFor();
    const view = await node.ask("calendar", {});
    assert.ok(
      view.bands.some((band) => view.jobs[band.job].name === "often"),
      "it is folded into bands",
    );
    const drawn = view.entries.filter((entry) => view.jobs[entry.job].name === "often");
    assert.ok(drawn.length < 300, "and not drawn one by one");
  },
  {
    before: (node) =>
      node.job({ name: "often", schedule: { kind: "fixedRate", everySeconds: 10 }, parameters: { command: "true" } }),
  },
);
