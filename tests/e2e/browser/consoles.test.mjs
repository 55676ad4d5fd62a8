// Two programs on one data folder: both are full consoles; the second sees what the first does and takes over when the
// first is killed. And a console whose node comes back goes on by itself.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { toView } from "../harness/hands.mjs";
import { serve } from "../harness/programs.mjs";
import { story } from "../harness/stories.mjs";

story(
  "a second console on the folder sees changes unasked and takes over when the first is killed",
  async ({ node, open, also, mayComplain }) => {
    mayComplain(/ERR_CONNECTION/);
    const second = await serve({ data: node.data });
    also(second);
    assert.equal((await node.ask("status")).node, "leading");
    assert.equal((await second.ask("status")).node, "standby");
    const watching = await open(second.address);
    await watching.page.getByText("Watching; another process runs the engine").waitFor();
    await toView(watching.page, "Jobs");

    const took = [];
    for (let i = 1; i <= 5; i++) {
      await node.job({ name: `change-${i}`, parameters: { command: "true" } });
      const saved = performance.now();
      await watching.page.getByRole("grid", { name: "Jobs" }).getByText(`change-${i}`).waitFor();
      took.push(performance.now() - saved);
    }
    process.stdout.write(`changes seen after ${took.map(Math.round).join(", ")} ms\n`);

    // What the second console asks for, the first carries out.
    await second.ask("run_jobs", { jobs: ["change-1"] });
    await node.instance("change-1", (row) => row.state === "succeeded");

    await node.job({
      name: "each-second",
      schedule: { kind: "fixedRate", everySeconds: 1 },
      parameters: { command: "true" },
    });
    await second.instance("each-second", (row) => row.state === "succeeded");
    const killed = performance.now();
    const at = Date.now();
    await node.program.kill();
    await eventually("the second drives the engine", async () => (await second.ask("status")).node === "leading", {
      every: 50,
    });
    process.stdout.write(`taken over ${Math.round(performance.now() - killed)} ms after the kill\n`);
    await watching.page.getByText("Node is running").waitFor();
    await second.instance("each-second", (row) => row.state === "succeeded" && row.due.ms > at, { within: 30_000 });
    const ledger = await second.ask("ledger");
    assert.equal(ledger.clean, true, JSON.stringify(ledger.findings));
  },
  { timeout: 180_000 },
);

story(
  "a console whose node goes away says so, and goes on when it is back",
  async ({ node, page, also, mayComplain }) => {
    mayComplain(/ERR_CONNECTION|WebSocket|failed/);
    await node.job({ name: "before", parameters: { command: "true" } });
    await toView(page, "Jobs");
    await page.getByRole("grid", { name: "Jobs" }).getByText("before").waitFor();
    await node.program.kill();
    await page
      .getByText(/^Not connected/)
      .first()
      .waitFor();
    // What is known stays on the page.
    await page.getByRole("grid", { name: "Jobs" }).getByText("before").waitFor();
    const again = await serve({ data: node.data, port: Number(node.url.port) });
    also(again);
    assert.equal(again.token, node.token, "the folder's token stays");
    await again.job({ name: "after", parameters: { command: "true" } });
    await page.getByRole("grid", { name: "Jobs" }).getByText("after", { exact: true }).waitFor({ timeout: 30_000 });
    await eventually("it is connected", async () => (await page.getByText(/^Not connected/).count()) === 0);
  },
);
