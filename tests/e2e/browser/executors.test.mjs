// Executors seen, drained and resumed; a run that says why, beside the last good one, and run again; the whole of a log
// searched and saved; a secret that reaches its task and nothing else.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { eventually } from "../harness/eventually.mjs";
import { button, choose, toast, toView } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

const NEVER = { retries: 0, baseSeconds: 1, maxSeconds: 60, multiplier: 2 };

const run = async (node, name, parameters) =>
  (await node.ask("run_jobs", { jobs: [name], ...(parameters ? { parameters } : {}) })).instances[0];

story("an executor is drained by the keyboard, holds work back, and takes it again", async ({ page, node, go }) => {
  await node.job({ name: "work", parameters: { command: "echo done" } });
  await go("/executors");
  await page
    .getByTestId("executors-verdict")
    .getByText(/executor takes work/)
    .waitFor();
  await page.getByRole("grid", { name: "Executors" }).getByText("local", { exact: true }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("d");
  await page.getByRole("textbox", { name: "Reason" }).fill("new disk");
  await page.keyboard.press("Enter");
  await page.locator("[data-state=draining]").first().waitFor();
  await page
    .getByText(/drained by .*: new disk/)
    .first()
    .waitFor();

  const instance = await run(node, "work");
  await go(`/runs/${instance}`);
  await page.getByTestId("run-chain").waitFor();
  await page.keyboard.press("w");
  await page
    .getByTestId("run-why")
    .getByText(/It has not started/)
    .waitFor();
  await page.getByTestId("run-why").getByText("What ends it:", { exact: false }).waitFor();

  await toView(page, "Executors");
  await page.getByRole("grid", { name: "Executors" }).getByText("local", { exact: true }).waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("u");
  await page.locator("[data-state=live]").first().waitFor();
  await node.instance("work", (row) => row.state === "succeeded");
  await page.getByRole("grid", { name: "Executors" }).getByText("local", { exact: true }).dblclick();
  await page.getByText("It has nothing in hand.").waitFor();
});

story("an executor's log tells what it was given and what came of it, and its runs are a click away", async (scene) => {
  const { page, node, go } = scene;
  await node.job({ name: "talks", parameters: { command: "echo hello from here; echo trouble >&2" } });
  await node.job({ name: "breaks", retry: NEVER, parameters: { command: "exit 3" } });
  await run(node, "talks");
  await node.instance("talks", (row) => row.state === "succeeded");
  await run(node, "breaks");
  await node.instance("breaks", (row) => row.state === "failed");
  await go("/executors");
  await page.getByRole("grid", { name: "Executors" }).getByText("local", { exact: true }).dblclick();
  await choose(page, "Log");
  const log = page.getByTestId("executor-log");
  await log.getByText("talks │ hello from here", { exact: true }).waitFor();
  await log.getByText("talks → 301 Succeeded").waitFor();
  await log.getByText(/breaks → 302 Failed: .*3/).waitFor();
  // It goes on by itself.
  await node.job({ name: "later", parameters: { command: "echo and one more" } });
  await run(node, "later");
  await log.getByText("later │ and one more", { exact: true }).waitFor();

  await page.getByRole("link", { name: "All its runs" }).click();
  await page.getByTestId("runs-executor").getByText("local/").waitFor();
  const runs = page.getByRole("grid", { name: "Runs, newest first" });
  await runs.getByText("breaks").waitFor();
  await page.getByRole("button", { name: "Clear the filters" }).click();
  await eventually("the filter is gone from the address", () => !page.url().includes("executor="));
});

story("a run says why, is compared with the last good one, and is run again with other parameters", async (scene) => {
  const { page, node, go } = scene;
  await node.job({ name: "count", retry: NEVER, parameters: { command: "echo 1" } });
  await run(node, "count");
  await node.instance("count", (row) => row.state === "succeeded");
  const failing = await run(node, "count", { command: "echo snapped; exit 3" });
  await node.instance("count", (row) => row.state === "failed");
  await go(`/runs/${failing}`);
  await page.getByTestId("run-chain").waitFor();
  await page.keyboard.press("w");
  const why = page.getByTestId("run-why");
  await why.getByText(/failed after one attempt/).waitFor();
  await why.locator("[data-step=finished]").waitFor();
  await page.keyboard.press("v");
  await page.getByTestId("run-compare").getByText("parameter command").waitFor();

  await page.keyboard.press("Shift+R");
  const dialog = page.getByTestId("again-dialog");
  await dialog.getByRole("textbox", { name: "Command" }).fill("echo better");
  await page.getByTestId("again-submit").click();
  await toast(page, /run again/).waitFor();
  await page.getByRole("log").getByText("better", { exact: true }).waitFor();
  await eventually("it is another run", () => !page.url().includes(failing));
});

story("a limit is set by the keyboard, holds work back for all to see, and is lifted", async ({ page, node, go }) => {
  await node.job({ name: "long", overlap: "allow", parameters: { command: "sleep 600" } });
  await go("/executors");
  await page.getByTestId("executors-verdict").waitFor();
  assert.equal(await page.getByTestId("held").count(), 0);
  await page.keyboard.press("l");
  const limits = page.getByTestId("limits");
  await limits.getByText("Nothing is limited").waitFor();
  await limits.getByRole("combobox", { name: "Name" }).fill("local");
  await page.keyboard.press("Escape");
  await limits.getByRole("textbox", { name: "At once" }).fill("1");
  await page.getByTestId("limit-add").click();
  await toast(page, /local: 1 at once/).waitFor();
  await limits.locator('[data-limit="group/local"]').waitFor();

  for (let n = 0; n < 3; n += 1) await node.ask("run_jobs", { jobs: ["long"], beside: true });
  await limits.getByText("2 held back").waitFor();
  await limits.getByText("1 of 1").waitFor();
  await page.keyboard.press("Escape");
  const held = page.getByTestId("held");
  await held.getByText("2 ready tasks held back").waitFor();
  await held
    .locator("[data-kind=limit]")
    .getByText(/1 of group local are under way/)
    .waitFor();

  await page.keyboard.press("l");
  await page.getByRole("button", { name: "Lift the limit of local" }).click();
  await limits.getByText("Nothing is limited").waitFor();
  await page.keyboard.press("Escape");
  await held.waitFor({ state: "detached" });
});

story("the whole of a log is searched and saved as a file", async ({ page, node, go }) => {
  await node.job({ name: "long", parameters: { command: "seq 1 20000; echo The needle; seq 1 5" } });
  const instance = await run(node, "long");
  await node.instance("long", (row) => row.state === "succeeded");
  await go(`/runs/${instance}`);
  await page.getByTestId("log-search-open").click();
  const search = page.getByTestId("log-search");
  await search.getByRole("textbox").fill("NEEDLE");
  await search.getByRole("textbox").press("Enter");
  await search.getByText("1 found").waitFor();
  await search.getByText("20000").waitFor();
  await search.getByText("The needle").click();
  await page.getByRole("log").getByText("The needle", { exact: true }).waitFor();
  await button(page, "Back to its end").click();

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save as a file" }).click();
  const saved = await download;
  assert.match(saved.suggestedFilename(), /^long-.*-1\.log$/);
  const lines = readFileSync(await saved.path(), "utf8")
    .trimEnd()
    .split("\n");
  assert.equal(lines.length, 20_006);
  assert.match(lines[20_000], / stdout The needle$/);
});

story("a secret is set in Settings, reaches its task, and is masked in what it writes", async ({ page, node, go }) => {
  await go("/settings");
  await page.getByTestId("secret-add").click();
  const dialog = page.getByTestId("secret-dialog");
  await dialog.getByLabel("Name").fill("api-token");
  await dialog.getByLabel("Value").fill("hunter2-7f3a");
  await page.getByTestId("secret-save").click();
  await page.locator('[data-name="local/api-token"]').waitFor();
  assert.equal(await page.getByText("hunter2-7f3a").count(), 0);
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine fills it in.
  await node.job({ name: "uses", parameters: { command: "t='${secret:api-token}'; echo \"got $t of ${#t}\"" } });
  const instance = await run(node, "uses");
  await go(`/runs/${instance}`);
  await page.getByRole("log").getByText("got *** of 12", { exact: true }).waitFor();
});
