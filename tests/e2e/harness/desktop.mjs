// The desktop app in its real window, on a virtual display and a session bus of its own, driven by WebDriver.
//
// Pointer and keys go through the web view's own driver, closing through the display, as they do for a person.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { remote } from "webdriverio";
import { eventually } from "./eventually.mjs";
import { freshFolder, required, start, surroundings } from "./programs.mjs";

/** A port that nobody has now. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A display that nobody else draws on. Its number is what the server itself found free. */
async function virtualDisplay() {
  const child = spawn("Xvfb", ["-displayfd", "3", "-screen", "0", "1600x1000x24", "-ac", "-nolisten", "tcp"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stdio[3].setEncoding("utf8").on("data", (chunk) => {
    said += chunk;
  });
  process.on("exit", () => child.kill("SIGKILL"));
  const display = await eventually("the virtual display is up", () => /^\d+(?=\n)/.exec(said)?.[0]);
  return { display, stop: () => child.kill() };
}

/** Where the desktop apps of a story live: a display, a bus, a home. */
export async function desk() {
  const home = freshFolder("campanile-home-");
  const { display, stop: stopDisplay } = await virtualDisplay();
  const bus = start("dbus-daemon", ["--session", "--nofork", "--print-address"], { env: surroundings() });
  const address = await eventually("the session bus is up", () => /^unix:\S+/m.exec(bus.printed)?.[0]);
  const under = (name) => {
    const folder = join(home, name);
    mkdirSync(folder, { mode: 0o700, recursive: true });
    return folder;
  };
  const env = surroundings({
    DISPLAY: `:${display}`,
    DBUS_SESSION_BUS_ADDRESS: address,
    HOME: home,
    XDG_CONFIG_HOME: under("config"),
    XDG_DATA_HOME: under("data"),
    XDG_CACHE_HOME: under("cache"),
    XDG_RUNTIME_DIR: under("run"),
    GDK_BACKEND: "x11",
    NO_AT_BRIDGE: "1",
  });
  return {
    display,
    env,
    /** Starts the app as a person does from a menu: without a driver. */
    launch: (data) => start(required("CAMPANILE_DESKTOP_BIN"), ["--data", data], { env }),
    stop: async () => {
      await bus.stop();
      stopDisplay();
    },
  };
}

/**
 * Opens the app's window on a data folder.
 * @param {Awaited<ReturnType<typeof desk>>} desk
 */
export async function openWindow(desk, data, application = required("CAMPANILE_DESKTOP_BIN")) {
  const [port, nativePort] = [await freePort(), await freePort()];
  const driver = start("tauri-driver", ["--port", String(port), "--native-port", String(nativePort)], {
    env: desk.env,
  });
  await eventually("the driver listens", async () => (await fetch(`http://127.0.0.1:${port}/status`)).ok, {
    unless: () => driver.ended && `it ended with ${driver.ended}: ${driver.printed}`,
  });
  const browser = await remote({
    hostname: "127.0.0.1",
    port,
    logLevel: "error",
    connectionRetryCount: 0,
    connectionRetryTimeout: 60_000,
    capabilities: {
      browserName: "wry",
      "wdio:enforceWebDriverClassic": true,
      "tauri:options": { application, args: ["--data", data] },
    },
  });
  const close = async () => {
    await browser.deleteSession().catch(() => {});
    await driver.stop();
  };
  return { browser, driver, hands: hands(browser), close };
}

/** What a person's hands do in the window. Found by XPath: the driver of this web view knows no search by text. */
function hands(browser) {
  const quote = (text) => `"${text}"`;
  const whole = (text) => `normalize-space(.)=${quote(text)}`;
  const at = async (path, what, within = 15_000) => {
    const element = browser.$(path);
    await element.waitForDisplayed({ timeout: within, timeoutMsg: `${what} does not show within ${within} ms` });
    return element;
  };
  // What is shown may be drawn anew between finding a thing and touching it: then it is found again.
  const touch = (path, what, how) =>
    eventually(`${what} is touched`, async () => {
      await how(await at(path, what));
      return true;
    });
  const self = {
    text: (text, within) => at(`//*[text()[contains(normalize-space(.), ${quote(text)})]]`, `'${text}'`, within),
    heading: (text, within) =>
      at(`//h1[contains(normalize-space(.), ${quote(text)})]`, `the heading '${text}'`, within),
    button: (name) =>
      at(
        `//button[@aria-label=${quote(name)} or starts-with(normalize-space(.), ${quote(name)})]`,
        `the button '${name}'`,
      ),
    press: async (name) => (await self.button(name)).click(),
    /** Goes to a view, and is there once the view before it is not. */
    view: async (name) => {
      await (await at(`//nav//a[starts-with(normalize-space(.), ${quote(name)})]`, `the view '${name}'`)).click();
      // The calendar is titled with the days that it shows.
      await at(name === "Calendar" ? "[data-testid=calendar-next]" : `//h1[${whole(name)}]`, `the view '${name}'`);
    },
    choose: async (name) => (await at(`//label[${whole(name)}]`, `the choice '${name}'`)).click(),
    field: (label) =>
      at(`//*[@id=//label[starts-with(normalize-space(.), ${quote(label)})]/@for]`, `the field '${label}'`),
    fill: async (label, text) => {
      const field = await self.field(label);
      await field.click();
      await browser.keys(["Control", "a"]);
      await field.addValue(text);
    },
    css: (selector, what = selector, within) => at(selector, what, within),
    keys: (...keys) => browser.keys(keys.length > 1 ? keys : keys[0]),
    gone: async (selector) => browser.$(selector).waitForExist({ reverse: true, timeout: 15_000 }),
    click: (path, what = path) => touch(path, what, (element) => element.click()),
    doubleClick: (path, what = path) => touch(path, what, (element) => element.doubleClick()),
    /** By the pointer, in steps, as a hand moves. */
    drag: async (path, by, what = path) => {
      const box = await eventually(`${what} stands still`, async () => {
        const element = await at(path, what);
        const place = () => browser.execute((each) => each.getBoundingClientRect().toJSON(), element);
        const once = await place();
        const twice = await place();
        return once.x === twice.x && once.y === twice.y && once;
      });
      const [x, y] = [Math.round(box.x + Math.min(20, box.width / 2)), Math.round(box.y + box.height / 2)];
      let action = browser.action("pointer").move({ x, y }).down();
      for (let i = 1; i <= 8; i++)
        action = action.move({ x: Math.round(x + (by.x * i) / 8), y: Math.round(y + (by.y * i) / 8), duration: 20 });
      await action.up().perform();
    },
  };
  return self;
}
