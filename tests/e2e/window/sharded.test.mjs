// A run that is cut into shards, in the real window: its shards are painted, and the desktop is told of its end while nobody
// looks. What a desktop would show is read off the bus, where a notification is asked for whether anybody shows it or not.
//
// A file that is dropped from elsewhere cannot be told here: the driver of this web view lets go of nothing but its own
// elements. What follows a drop is told in Chromium.
import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { desk, openWindow } from "../harness/desktop.mjs";
import { eventually } from "../harness/eventually.mjs";
import { freshFolder, start } from "../harness/programs.mjs";
import { closeWindow, isShown } from "../harness/x11.mjs";

const FAILURES = new URL("../failures/", import.meta.url).pathname;
const TITLE = "Campanile";
/** Of a run that is over sooner nobody is told. */
const WORTH_TELLING_MS = 10_000;

const place = await desk();
const bus = start("dbus-monitor", ["--session", "interface='org.freedesktop.Notifications'"], { env: place.env });
const data = freshFolder();
const shown = await openWindow(place, data);
const { browser, hands } = shown;
const held = join(freshFolder(), "go");
after(async () => {
  await shown.close();
  await bus.stop();
  await place.stop();
});

const ask = (op, input = {}) =>
  browser.execute(
    (name, given) => window.__TAURI_INTERNALS__.invoke("call", { op: name, input: given, zone: "local", lang: "en" }),
    op,
    input,
  );

/** How many colours the cells are painted in, wherever their painter is. */
const colours = () =>
  browser.execute(() => {
    const painted = document.querySelector("[data-testid=shard-canvas] canvas");
    if (!painted) return 0;
    const copy = document.createElement("canvas");
    copy.width = painted.width;
    copy.height = painted.height;
    const context = copy.getContext("2d");
    context.drawImage(painted, 0, 0);
    return new Set(new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
  });

test("shards are painted, and the end of their run is told while nobody looks", { timeout: 120_000 }, async () => {
  try {
    await hands.heading("Pulse", 30_000);
    const command = `while [ ! -e '${held}' ]; do sleep 0.1; done`;
    await ask("apply_jobs", {
      text: `name: customers\nprocessor: shell\nmode: sharding\nshardMaxSize: 2\nparameters: {command: "${command}", data: [[1, 2, 3, 4, 5, 6, 7, 8]]}\nschedule: {kind: manual}\n`,
    });
    const began = Date.now();
    const { instances } = await ask("run_jobs", { jobs: ["customers"] });
    await browser.execute((run) => window.location.assign(`#/runs/${run}`), instances[0]);
    await hands.css("[data-testid=shard-canvas]", "the shards");
    await eventually("they are painted", async () => (await colours()) > 2);
    await eventually("it is known for long enough", () => Date.now() - began > WORTH_TELLING_MS + 2_000, {
      every: 500,
    });

    await closeWindow(place.display, TITLE);
    await hands.text("Closing the window stops nothing");
    const pressed = hands.press("Close the window").catch(() => {});
    await eventually("the window is hidden", async () => !(await isShown(place.display, TITLE)));
    writeFileSync(held, "");
    await eventually("the desktop is told", () => bus.printed.includes("customers succeeded: 8 items"), {
      within: 30_000,
    });
    assert.equal(bus.printed.match(/customers succeeded/g)?.length, 1, "once");
    const again = place.launch(data);
    await eventually("the window is back", () => isShown(place.display, TITLE), { within: 20_000 });
    await eventually("the second program has ended by itself", () => again.ended);
    await pressed;
  } catch (error) {
    mkdirSync(FAILURES, { recursive: true });
    await browser.saveScreenshot(join(FAILURES, "sharded-window.png")).catch(() => {});
    writeFileSync(join(FAILURES, "sharded-window.log"), `${shown.driver.printed}\n---\n${bus.printed}`);
    throw error;
  }
});
