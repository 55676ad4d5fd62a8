// The table of jobs, by mouse and by keys: found by typing, paused and resumed one by one and many at once, and
// everything that can be done reached with Ctrl+K.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { button, choose, toast, toView } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

const NIGHTLY = { kind: "cron", expression: "0 2 * * *", timeZone: "Asia/Shanghai" };

async function some(node, n) {
  for (let i = 1; i <= n; i++) {
    await node.job({
      name: `job-${i}`,
      schedule: NIGHTLY,
      tags: i % 2 ? ["odd"] : ["even"],
      parameters: { command: `echo ${i}` },
    });
  }
}

story(
  "a job is paused and resumed, and pausing can be taken back",
  async ({ page, node }) => {
    await toView(page, "Jobs");
    const grid = page.getByRole("grid", { name: "Jobs" });
    await grid.getByText("job-1", { exact: true }).click();
    await page.keyboard.press("p");
    await toast(page, "1 job paused").waitFor();
    const paused = async () => (await node.ask("get_job", { job: "job-1" })).row.paused;
    assert.equal(await paused(), true);
    await grid.getByText("Paused").waitFor();
    await page.keyboard.press("Control+z");
    await eventually("pausing is taken back", async () => !(await paused()));
    await grid.getByText("Paused").waitFor({ state: "detached" });
    await page.keyboard.press("p");
    await eventually("it is paused again", paused);
    await grid.getByText("Paused").waitFor();
    await page.keyboard.press("p");
    await eventually("it is resumed", async () => !(await paused()));
  },
  { before: (node) => some(node, 3) },
);

story(
  "many jobs are chosen by keys and paused, run and deleted together, with the number asked about first",
  async ({ page, node }) => {
    await toView(page, "Jobs");
    await page.getByRole("grid", { name: "Jobs" }).getByText("job-6").waitFor();
    for (const key of ["j", "x", "j", "j", "X"]) await page.keyboard.press(key);
    await page.getByText("3 jobs", { exact: true }).waitFor();
    await page.keyboard.press("p");
    await page.getByRole("alertdialog").getByText("Pause 3 jobs?").waitFor();
    await page.keyboard.press("Enter");
    await toast(page, "3 jobs paused").waitFor();
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    assert.equal((await node.ask("list_jobs", { paused: true })).total, 3);

    await page.keyboard.press("r");
    await page.getByRole("alertdialog").getByText("Run 3 jobs now?").waitFor();
    await page.keyboard.press("Escape");
    // Letters are not taken while a dialog is still on its way out.
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    await page.keyboard.press("d");
    await page.getByRole("alertdialog").getByText("Delete 3 jobs?").waitFor();
    await page.keyboard.press("Enter");
    await toast(page, "3 jobs deleted").waitFor();
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    assert.equal((await node.ask("list_jobs", {})).total, 3);
    await page.keyboard.press("Control+z");
    await eventually("deleting is taken back", async () => (await node.ask("list_jobs", {})).total === 6);
  },
  { before: (node) => some(node, 6) },
);

story(
  "jobs are found by name, by tag and by state, and the filter stands in the address",
  async ({ page, node }) => {
    await node.ask("pause_jobs", { jobs: ["job-3"] });
    await toView(page, "Jobs");
    const rows = page.getByRole("grid", { name: "Jobs" }).getByRole("row");
    const shown = (n) => eventually(`${n} jobs are shown`, async () => (await rows.count()) === n + 1);
    await shown(6);
    await page.keyboard.press("/");
    await page.keyboard.type("tag:odd");
    await shown(3);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("job-4");
    await shown(1);
    assert.match(page.url(), /q=job-4/);
    await page.getByRole("textbox", { name: /Filter/ }).fill("");
    await choose(page, "Paused");
    await shown(1);
    await page.getByRole("textbox", { name: /Filter/ }).fill("no such thing");
    await page.getByText("No job matches this filter").waitFor();
    await button(page, "Clear the filter").click();
    await shown(6);
  },
  { before: (node) => some(node, 6) },
);

story(
  "Ctrl+K goes anywhere, finds a job and does what can be done here; ? shows the keys",
  async ({ page, node }) => {
    const palette = page.getByRole("dialog", { name: "Search or do anything" });
    await page.getByRole("heading", { level: 1, name: "Pulse" }).waitFor();
    await page.keyboard.press("Control+k");
    await palette.waitFor();
    await page.keyboard.type("job-2");
    await palette.getByRole("option", { name: /job-2/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1 }).getByText("job-2").waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("run now");
    await palette.getByRole("option", { name: /Run now/ }).waitFor();
    await page.keyboard.press("Enter");
    await node.instance("job-2", (row) => row.state === "succeeded");
    for (const [letter, title] of [
      ["c", /2026|20\d\d/],
      ["j", "Jobs"],
      ["r", "Runs"],
      ["a", "Alarms"],
      ["s", "Settings"],
      ["p", "Pulse"],
    ]) {
      await page.keyboard.press("g");
      await page.keyboard.press(letter);
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("Search or do anything").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
  },
  { before: (node) => some(node, 3) },
);

story(
  "language and theme are switched live, by keys and in Settings, and outlast a reload and another console",
  async ({ page, node, open }) => {
    await page.getByRole("heading", { level: 1, name: "Pulse" }).waitFor();
    await page.keyboard.press("Shift+L");
    await page.getByRole("heading", { level: 1, name: "概览" }).waitFor();
    await page.keyboard.press("Shift+T");
    await eventually("it is dark", () => page.evaluate(() => document.documentElement.dataset.theme === "dark"));
    await eventually("the node has stored it", async () => {
      const { settings } = await node.ask("bootstrap");
      return settings.language === "zh" && settings.theme === "dark";
    });
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "概览" }).waitFor();
    const other = await open(node.address);
    await other.page.getByRole("heading", { level: 1, name: "概览" }).waitFor();
    assert.equal(await other.page.evaluate(() => document.documentElement.dataset.theme), "dark");
    // What one console sets, every other one follows.
    await toView(page, "设置");
    await choose(page, "English");
    await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await other.page.getByRole("heading", { level: 1, name: "Pulse" }).waitFor();
  },
);

story("jobs go out as YAML and come back the same", async ({ page, node }) => {
  await some(node, 2);
  await toView(page, "Jobs");
  await button(page, "Import").click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("menuitem", { name: /Export as YAML/ }).click(),
  ]);
  const stream = await download.createReadStream();
  let text = "";
  for await (const chunk of stream) text += chunk;
  assert.match(text, /name: job-1/);
  const applied = await node.ask("apply_jobs", { text });
  assert.deepEqual(
    applied.jobs.map((job) => job.change),
    ["unchanged", "unchanged"],
  );
});
