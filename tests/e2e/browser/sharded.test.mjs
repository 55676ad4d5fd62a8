// Runs that are cut into shards, in the console: shards fill, what failed is marked and retried, some are cancelled, the
// rest goes on; found by the canvas's own words, for nobody sees a pixel here.
import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../harness/eventually.mjs";
import { freshFolder } from "../harness/programs.mjs";
import { story } from "../harness/stories.mjs";

/** 客户 */
const KEHU_IN_GBK = Buffer.from([0xbf, 0xcd, 0xbb, 0xa7]);
const NEVER = { retries: 0, baseSeconds: 1, maxSeconds: 60, multiplier: 2 };

/** A job of one level whose odd shards fail until a file is there; each waits for its turn in another file. */
async function imports(node, { items, shardMaxSize = 1, wait = false }) {
  const folder = freshFolder();
  const [mended, go] = [join(folder, "mended"), join(folder, "go")];
  const waits = wait ? `while [ ! -e '${go}' ]; do sleep 0.1; done; ` : "";
  await node.job({
    name: "import-customers",
    mode: "sharding",
    shardMaxSize,
    retry: NEVER,
    parameters: {
      command: `${waits}echo "shard $CAMPANILE_SHARD_INDEX"; [ $((CAMPANILE_SHARD_INDEX % 2)) = 0 ] || [ -e '${mended}' ] || exit 3`,
      data: [Array.from({ length: items }, (_, i) => i)],
    },
  });
  const done = await node.ask("run_jobs", { jobs: ["import-customers"] });
  return { instance: done.instances[0], mend: () => writeFileSync(mended, ""), go: () => writeFileSync(go, "") };
}

const counted = async (page, code) =>
  Number(
    (await page
      .locator(`[data-testid=shard-count][data-code="${code}"]`)
      .getAttribute("data-count", { timeout: 200 })) ?? 0,
  );

const shows = (page, code, n) =>
  eventually(`${n} shards are ${code}`, async () => (await counted(page, code).catch(() => 0)) === n);

const ended = (node, instance, state, round) =>
  eventually("the run ends", async () => {
    const { row } = await node.ask("get_instance", { instance });
    return row.state === state && row.sharding.round === round && row;
  });

story("shards fill, what failed is marked, looked at, and retried by selection", async ({ page, node, go }) => {
  const { instance, mend } = await imports(node, { items: 12 });
  await go(`/runs/${instance}`);
  await page.getByTestId("shard-canvas").waitFor();
  await shows(page, 302, 6);
  await shows(page, 301, 6);
  await page.getByTestId("run-state").locator("text=Failed").waitFor();
  assert.equal(await page.getByTestId("shard-percent").innerText(), "100 %");
  await page.locator('[data-phase="level-0"][data-state=failed]').waitFor();

  // With the keyboard alone: to the second shard, and open it.
  await page.getByTestId("shard-canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.getByTestId("shard-card").getByText("Failed").first().waitFor();
  await page.keyboard.press("Enter");
  await page.getByTestId("task-part").getByText("Level 0, shard 1").waitFor();
  await page.getByRole("log").getByText("shard 1", { exact: true }).waitFor();
  await page.getByTestId("close-side").click();

  // As a table it is the same.
  await page.getByTestId("shards-as").click();
  await page.getByTestId("shard-table").getByRole("cell", { name: "6" }).first().waitFor();
  await page.getByTestId("shards-as").click();

  mend();
  // Two of them, marked one by one; then what is left.
  await page.getByTestId("shard-canvas").focus();
  await page.keyboard.press("Home");
  for (const key of ["ArrowRight", " ", "ArrowRight", "ArrowRight", " "]) await page.keyboard.press(key);
  assert.equal(await page.getByTestId("shards-marked").getAttribute("data-count"), "2");
  await page.getByTestId("retry-shards").click();
  await ended(node, instance, "failed", 2);
  await shows(page, 301, 8);
  await shows(page, 302, 4);
  await page.getByTestId("mark-failed").click();
  await page.getByTestId("retry-shards").click();
  await ended(node, instance, "succeeded", 3);
  await shows(page, 301, 12);
  await page.getByTestId("run-state").locator("text=Succeeded").waitFor();
});

story(
  "progress is in the rail, on Pulse and in the list, and shards of a run in progress are cancelled",
  async ({ page, node, go }) => {
    const { instance, go: begin, mend } = await imports(node, { items: 40, wait: true });
    mend();
    await page.getByTestId("rail-sharded").waitFor();
    await page.getByTestId("pulse-sharded").getByText("import-customers").waitFor();
    await go("/runs");
    await page.getByRole("grid").getByTestId("shard-bar").first().waitFor();
    await page.getByTestId("rail-sharded").click();
    await page.getByTestId("shard-canvas").waitFor();
    // A rectangle over the end of the level: shards that wait.
    await page.getByTestId("shard-canvas").focus();
    await page.keyboard.press("End");
    await page.keyboard.press(" ");
    await page.keyboard.press("Shift+ArrowLeft");
    assert.equal(await page.getByTestId("shards-marked").getAttribute("data-count"), "2");
    await page.getByTestId("cancel-shards").click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel them" }).click();
    await shows(page, 303, 2);
    begin();
    await ended(node, instance, "cancelled", 1);
    await shows(page, 301, 38);
    await page.getByTestId("rail-sharded").waitFor({ state: "detached" });
  },
);

story("a rectangle and a lasso mark what they are drawn around, and zoom keeps it", async ({ page, node, go }) => {
  const { instance, mend } = await imports(node, { items: 160, shardMaxSize: 2 });
  mend();
  await go(`/runs/${instance}`);
  const canvas = page.getByTestId("shard-canvas");
  await canvas.waitFor();
  await shows(page, 301, 80);
  const box = await canvas.boundingBox();
  const marked = async () => Number(await page.getByTestId("shards-marked").getAttribute("data-count"));
  await page.mouse.move(box.x + 2, box.y + 22);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + box.height - 2, { steps: 5 });
  await page.mouse.up();
  assert.equal(await marked(), 80);
  await page.mouse.click(box.x + box.width - 3, box.y + box.height - 3);
  assert.equal(await marked(), 0);
  await page.getByRole("radio", { name: "Mark with a lasso" }).locator("xpath=ancestor-or-self::label[1]").click();
  await page.mouse.move(box.x + 4, box.y + 24);
  await page.mouse.down();
  for (const [x, y] of [
    [0.5, 24],
    [0.5, 80],
    [0, 80],
  ])
    await page.mouse.move(box.x + 4 + box.width * x, box.y + y, { steps: 5 });
  await page.mouse.up();
  const some = await marked();
  assert.ok(some > 3 && some < 80, String(some));
  await canvas.focus();
  for (const key of ["+", "+", "-", "0"]) await page.keyboard.press(key);
  assert.equal(await marked(), some);
  await page.keyboard.press("Escape");
  assert.equal(await marked(), 0);
});

/** Hands a file in on the view of runs, once its items have been counted. */
async function handIn(page, go, file, items) {
  await go("/runs");
  await page.getByRole("button", { name: "Run with a file" }).click();
  await page.getByTestId("file-chooser").setInputFiles(file);
  await page.locator(`[data-testid=data-items][data-items="${items}"]`).waitFor();
}

/** Saves the report of a run from its view, and tells where it lies. */
async function report(page, go, run, format) {
  await go(`/runs/${run}`);
  await page.getByTestId("save-report").click();
  const download = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: format }).click();
  return (await download).path();
}

/** What a browser tells of a file that a hand holds over the window: over it, away again, let go of. */
const dragged = (page, kind, text) =>
  page.evaluate(
    ({ kind, text }) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], "dropped.csv", { type: "text/csv" }));
      window.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
    },
    { kind, text },
  );

story("a file that is dropped on the window is looked at", async ({ page, go }) => {
  const text = ["id,name", "1,客户 1", "2,客户 2"].join("\n");
  const here = page.getByTestId("drop-here");
  await go("/jobs");
  await dragged(page, "dragover", text);
  await here.waitFor();
  await dragged(page, "dragleave", text);
  await here.waitFor({ state: "detached" });

  await dragged(page, "dragover", text);
  await here.waitFor();
  await dragged(page, "drop", text);
  await here.waitFor({ state: "detached" });
  await page.locator('[data-testid=data-items][data-items="2"]').waitFor();
  await page.getByTestId("data-rows").getByText("客户 2", { exact: true }).waitFor();
});

story("a file is looked at, run with, and what became of its rows is saved", async ({ page, node, go }) => {
  const folder = freshFolder();
  await node.job({
    name: "letters",
    mode: "sharding",
    shardMaxSize: 20,
    retry: NEVER,
    parameters: { command: 'cat "$CAMPANILE_SHARD_ITEMS" > /dev/null' },
  });
  const names = Array.from({ length: 100 }, (_, n) => `${n},客户 ${n}`);
  const wrong = join(folder, "wrong.csv");
  writeFileSync(wrong, ["id,name", ...names, "1,too,many cells"].join("\n"));
  const right = join(folder, "customers.csv");
  writeFileSync(right, ["id,name", ...names].join("\n"));

  await go("/runs");
  await page.getByRole("button", { name: "Run with a file" }).click();
  await page.getByTestId("file-chooser").setInputFiles(wrong);
  await page.getByTestId("data-faults").waitFor();
  assert.ok(await page.getByTestId("start-with-data").isDisabled());
  await page.getByRole("button", { name: "Another file" }).click();
  await page.getByTestId("file-chooser").setInputFiles(right);
  await page.locator('[data-testid=data-items][data-items="100"]').waitFor();
  await page.getByTestId("data-rows").getByText("客户 0", { exact: true }).waitFor();
  await page.getByRole("combobox", { name: "Job", exact: true }).fill("letters");
  await page.getByRole("option", { name: /letters/ }).click();
  await page.getByTestId("start-with-data").click();

  const row = await eventually("the run ends", async () => {
    const [row] = (await node.ask("list_instances", { job: "letters" })).rows;
    return row?.state === "succeeded" && row;
  });
  assert.deepEqual(row.sharding.tally, { done: 100, total: 100 });
  const csv = readFileSync(await report(page, go, row.id, /\.csv/), "utf8");
  assert.ok(csv.includes("客户 99"), csv.slice(0, 400));
  assert.equal(csv.trimEnd().split("\n").length, 101);

  // What was saved for a spreadsheet is a file that can be handed in.
  const book = join(folder, "again.xlsx");
  copyFileSync(await report(page, go, row.id, /\.xlsx/), book);
  await handIn(page, go, book, 100);
  await page.getByTestId("data-rows").getByText("客户 0", { exact: false }).first().waitFor();
  await page.keyboard.press("Escape");

  // As an older spreadsheet in China would write it.
  const old = join(folder, "old.csv");
  const lines = Array.from({ length: 7 }, (_, n) => Buffer.concat([Buffer.from(`\n${n},`), KEHU_IN_GBK]));
  writeFileSync(old, Buffer.concat([Buffer.from("id,name"), ...lines]));
  await handIn(page, go, old, 7);
  await page.getByTestId("data-rows").getByText("客户", { exact: true }).first().waitFor();
});

story(
  "of a run that goes on, what a lasso marked is cancelled, and retried once it has ended",
  async ({ page, node, go }) => {
    const { instance, go: begin, mend } = await imports(node, { items: 60, wait: true });
    mend();
    await go(`/runs/${instance}`);
    const canvas = page.getByTestId("shard-canvas");
    await canvas.waitFor();
    await page.getByRole("radio", { name: "Mark with a lasso" }).locator("xpath=ancestor-or-self::label[1]").click();
    const marked = async () => Number(await page.getByTestId("shards-marked").getAttribute("data-count"));
    const lasso = async () => {
      const box = await canvas.boundingBox();
      const [right, bottom] = [box.x + box.width - 2, box.y + box.height - 2];
      await page.mouse.move(box.x + box.width / 3, box.y + 2);
      await page.mouse.down();
      for (const [x, y] of [
        [right, box.y + 2],
        [right, bottom],
        [box.x + box.width / 3, bottom],
      ])
        await page.mouse.move(x, y, { steps: 4 });
      await page.mouse.up();
    };
    await lasso();
    const some = await marked();
    assert.ok(some > 5 && some < 60, String(some));
    await page.getByTestId("cancel-shards").click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Cancel them" }).click();
    const gone = await eventually("they are cancelled", () => counted(page, 303).catch(() => 0));
    begin();
    await ended(node, instance, "cancelled", 1);
    await lasso();
    assert.equal(await marked(), some);
    await page.getByTestId("retry-shards").click();
    await ended(node, instance, "succeeded", 2);
    await shows(page, 301, 60);
    assert.ok(gone <= some, `${gone} of ${some}`);
  },
);
