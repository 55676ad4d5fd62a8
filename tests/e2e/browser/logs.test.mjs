// What commands print, however they print it: one line of five megabytes, bytes that are no text, the colours of a
// terminal; and commands that are not there.
import assert from "node:assert/strict";
import { eventually } from "../harness/eventually.mjs";
import { button } from "../harness/hands.mjs";
import { story } from "../harness/stories.mjs";

const run = async (node, name, command, more = {}) => {
  await node.job({ name, parameters: { command }, ...more });
  const done = await node.ask("run_jobs", { jobs: [name] });
  return done.instances[0];
};

const ended = (node, instance, limits) =>
  eventually(
    "the run ends",
    async () => {
      const detail = await node.ask("get_instance", { instance });
      return ["succeeded", "failed", "cancelled"].includes(detail.row.state) && detail;
    },
    limits,
  );

story(
  "a line of five megabytes and bytes that are no text are shown, and the console stays quick",
  async ({ page, node, go }) => {
    const instance = await run(
      node,
      "loud",
      "printf 'first\\n'; head -c 5000000 /dev/zero | tr '\\0' x; printf '\\nbroken \\377\\376\\200 bytes\\n\\033[31mred\\033[0m 中文 ✓\\n'; printf 'no end of line'",
    );
    await go(`/runs/${instance}`);
    const { row } = await ended(node, instance, { within: 60_000 });
    assert.equal(row.state, "succeeded");
    const log = page.getByRole("log");
    await log.getByText("no end of line").waitFor({ timeout: 30_000 });
    await log.getByText(/^broken .* bytes$/).waitFor();
    await log.getByText("red", { exact: true }).waitFor();
    await log.getByText(/中文 ✓/).waitFor();
    const started = performance.now();
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await page.getByRole("grid", { name: "Jobs" }).getByText("loud").waitFor();
    assert.ok(performance.now() - started < 5_000);
  },
);

story(
  "a log grows while its run does, and a long run is cancelled: asked, ended, never retried",
  async ({ page, node, go }) => {
    const instance = await run(node, "slow", "i=0; while true; do i=$((i+1)); echo line $i; sleep 0.2; done");
    await go(`/runs/${instance}`);
    await page.getByRole("log").getByText("line 3", { exact: true }).waitFor();
    await button(page, "Cancel").first().click();
    await page.getByTestId("confirm-cancel").click();
    const detail = await ended(node, instance, { within: 30_000 });
    assert.equal(detail.row.state, "cancelled");
    assert.equal(detail.tasks[0].state, 303);
    await page.getByText("Cancelled").first().waitFor();
  },
);

story(
  "a command that does not exist, and one that fails, say why in both languages",
  async ({ page, node, go, open }) => {
    const never = { retry: { retries: 0, baseSeconds: 1, maxSeconds: 60, multiplier: 2 } };
    const missing = await run(node, "missing", "no-such-command-here --at-all", never);
    const failing = await run(node, "failing", "echo about to fail >&2; exit 7", never);
    const { tasks } = await ended(node, missing);
    assert.equal(tasks[0].state, 302);
    assert.match(tasks[0].failure.code, /^k_sc_ec_3/);
    await ended(node, failing);
    await go(`/runs/${missing}`);
    await page.getByTestId("run-failure").getByText(tasks[0].failure.message.en).waitFor();
    const chinese = await open(node.address, { lang: "zh" });
    await chinese.go(`/runs/${failing}`);
    await chinese.page.getByTestId("run-failure").getByText(/7/).first().waitFor();
    await chinese.page.getByRole("log").getByText("about to fail").waitFor();
  },
);

story(
  "where shell is not allowed, nobody offers it and no job with it is saved",
  async ({ page, node, go }) => {
    const { processors } = await node.ask("bootstrap");
    assert.ok(!processors.some((each) => each.name === "shell" && each.executors > 0), JSON.stringify(processors));
    await assert.rejects(node.job({ name: "sneaky", parameters: { command: "true" } }), (error) =>
      /k_sc_ec_3/.test(error.fault.code),
    );
    await go("/jobs/new");
    await page.getByRole("button", { name: /HTTP request/ }).click();
    await page.getByRole("option", { name: /HTTP request/ }).waitFor();
    assert.equal(await page.getByRole("option", { name: /Shell command/ }).count(), 0);
  },
  { shell: false },
);
