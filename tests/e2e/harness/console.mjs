// The console in a page of Chromium. What the page complains of is collected for whoever opened it.
import { chromium } from "playwright-core";
import { required } from "./programs.mjs";

/** The network of a test machine may be closed: Chromium is kept from asking for anything but the console. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** How late an answer may come at most, in milliseconds: what is set makes stories show where they do not wait. */
const SLOWNESS_MS = Number(process.env.CAMPANILE_STORY_SLOWNESS ?? 0);

/** @type {Promise<import("playwright-core").Browser> | undefined} */
let browser;

export function chrome() {
  browser ??= chromium.launch({ executablePath: required("CAMPANILE_CHROMIUM"), args: FLAGS });
  return browser;
}

/**
 * A console in a page of its own. What it complains of is collected; `mayComplain` names what a story provokes.
 * @param {string} address
 * @param {{ lang?: "en" | "zh", theme?: "light" | "dark", width?: number, height?: number, scale?: number }} [looks]
 */
export async function openConsole(
  address,
  { lang = "en", theme = "light", width = 1280, height = 800, scale = 1 } = {},
) {
  const context = await (await chrome()).newContext({
    viewport: { width, height },
    deviceScaleFactor: scale,
    reducedMotion: "reduce",
    locale: lang === "zh" ? "zh-CN" : "en-GB",
  });
  context.setDefaultTimeout(15_000);
  await context.addInitScript(
    ([first, KEY]) => {
      // A page that is blank keeps nothing.
      if (location.protocol !== "about:" && !localStorage.getItem(KEY))
        localStorage.setItem(KEY, JSON.stringify(first));
    },
    [{ theme, lang, railShut: false }, "campanile.appearance"],
  );
  if (SLOWNESS_MS > 0) await slow(context);
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  /** @type {RegExp[]} */
  const allowed = [];
  let closing = false;
  const complain = (text) => {
    if (!closing && !allowed.some((each) => each.test(text))) complaints.push(text);
  };
  page.on("pageerror", (error) => complain(`error: ${error.message}`));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      complain(`console ${message.type()}: ${message.text()} (${message.location().url})`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    // A page that is left or loaded anew gives up what it was asking; that is no failure.
    if (why !== "net::ERR_ABORTED") complain(`failed: ${request.url()} ${why}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complain(`answered ${response.status()}: ${response.url()}`);
  });
  await page.goto(address);
  const go = (path) => page.evaluate((to) => window.location.assign(`#${to}`), path);
  return {
    page,
    complaints,
    go,
    /** @param {RegExp} what */
    mayComplain: (...what) => allowed.push(...what),
    close: async () => {
      closing = true;
      await context.close();
    },
  };
}

/**
 * Makes every answer late, each by a time of its own, so that answers overtake one another as on a slow network; what
 * the feed tells stays in its order.
 * @param {import("playwright-core").BrowserContext} context
 */
async function slow(context) {
  const later = () => new Promise((done) => setTimeout(done, Math.random() * SLOWNESS_MS));
  await context.route("**/api/**", async (route) => {
    await later();
    // A page that was left meanwhile has given up what it asked.
    await route.continue().catch(() => {});
  });
  await context.routeWebSocket("**/api/feed*", (socket) => {
    const node = socket.connectToServer();
    let told = Promise.resolve();
    node.onMessage((message) => {
      told = Promise.all([told, later()]).then(() => socket.send(message));
    });
  });
}

/** Ends the browser, where there is one. */
export async function closeChrome() {
  await (await browser)?.close();
  browser = undefined;
}
