// The real window looks at a team: two real nodes on one data folder, one of which is killed while it is looked at. Told
// step after step; a step that fails ends the story, and the window as it stood is left in failures/.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { desk, openWindow } from "../harness/desktop.mjs";
import { eventually } from "../harness/eventually.mjs";
import { freshFolder, serve } from "../harness/programs.mjs";

const FAILURES = new URL("../failures/", import.meta.url).pathname;

const folder = freshFolder();
const first = await serve({ data: folder });
const second = await serve({ data: folder });
await first.job({ name: "nightly", parameters: { command: "echo 团队" } });
const place = await desk();
const shown = await openWindow(place, freshFolder());
after(async () => {
  await shown.close();
  await place.stop();
  for (const node of [first, second]) await node.program.stop();
});

let failed = false;
function step(name, tell) {
  test(name, { timeout: 120_000 }, async (t) => {
    if (failed) return t.skip("an earlier step failed");
    try {
      await tell(shown);
    } catch (error) {
      failed = true;
      mkdirSync(FAILURES, { recursive: true });
      await shown.browser.saveScreenshot(join(FAILURES, "team.png")).catch(() => {});
      writeFileSync(
        join(FAILURES, "team.log"),
        [shown.driver, first.program, second.program].map((each) => each.printed).join("\n---\n"),
      );
      throw error;
    }
  });
}

const host = (node) => new URL(node.address).host;
const of = (testid, attribute) => shown.browser.$(`[data-testid=${testid}]`).getAttribute(attribute);
const looksAt = (name) =>
  eventually(`the window looks at ${name}`, async () => (await of("place", "data-place")) === name);
const isLiveAt = (node) =>
  eventually(
    `it is live through ${host(node)}`,
    async () =>
      (await of("node-state", "data-phase")) === "live" && (await of("node-state", "data-node")) === host(node),
    { within: 30_000 },
  );
const succeeded = (node, many) =>
  eventually(`${many} runs succeed`, async () => {
    const { rows } = await node.ask("list_instances", { job: "nightly" });
    return rows.filter((row) => row.state === "succeeded").length === many;
  });

/** Runs the job from the view of jobs, as a person does. */
async function runNow(hands) {
  await hands.view("Jobs");
  await hands.doubleClick("//*[@role='row'][.//*[contains(text(), 'nightly')]]", "the team's job");
  await hands.heading("nightly");
  await hands.press("Run now");
}

step("a new user connects to a team at the first start", async ({ hands }) => {
  await hands.heading("Pulse", 30_000);
  await hands.click("[data-testid=connect-team]", "the way to a team");
  await hands.fill("Name", "生产");
  await hands.fill("Nodes", `${first.address} ${second.address}`);
  await hands.press("Test");
  await hands.css("//*[@data-testid='team-tested'][count(./li)=2][contains(., 'It answers')]", "what both nodes say");
  await hands.click("[data-testid=save-team]");
  await looksAt("生产");
  await hands.css("//*[@data-testid='rail-team'][contains(., '生产')]", "the team in the rail");
  await isLiveAt(first);
});

step("the team's jobs are there, and one is run", async ({ hands }) => {
  await runNow(hands);
  await succeeded(second, 1);
});

step("its node is killed, and the window goes on at the next one", async ({ hands }) => {
  await first.program.kill();
  await isLiveAt(second);
  await runNow(hands);
  await succeeded(second, 2);
});

step("with no node left it says so, and comes back with one", async ({ hands }) => {
  await second.program.kill();
  await eventually("it is not connected", async () => (await of("node-state", "data-phase")) === "lost", {
    within: 30_000,
  });
  await hands.text("no node of 生产 answers", 20_000);
  const again = await serve({ data: folder, port: Number(new URL(second.address).port) });
  second.program = again.program;
  await isLiveAt(second);
  await looksAt("生产");
});

step("back to this machine without a new start, where nothing of the team is", async ({ hands, browser }) => {
  await hands.click("[data-testid=place]");
  await hands.click("//*[@role='menuitem'][contains(., 'This machine')]", "this machine");
  await looksAt("local");
  await hands.text("Try it with sample jobs");
  assert.ok(!(await browser.$("[data-testid=rail-team]").isExisting()));
  await hands.view("Jobs");
  await hands.heading("Jobs");
  assert.ok(!(await browser.$("//*[@role='row'][.//*[contains(text(), 'nightly')]]").isExisting()));
});
