// What a person's hands do in the console, where several stories do the same. English unless it says otherwise.
import { eventually } from "./eventually.mjs";

/** A button by how its label begins: some labels are followed by the key that does the same. */
export const button = (page, name) => page.getByRole("button", { name, exact: true });

/** Goes to a view by the rail, as most people do, and is there once the view before it is not. */
export async function toView(page, name) {
  await page.getByRole("navigation").getByRole("link", { name }).click();
  // The calendar is titled with the days that it shows.
  const sign =
    name === "Calendar"
      ? page.getByTestId("calendar-next")
      : page.getByRole("heading", { level: 1, name, exact: true });
  await sign.waitFor();
}

/** Opens the form of a job from the list of jobs. Its name stands in notes too, and there before the list has come. */
export async function editJob(page, name) {
  await page.getByRole("grid", { name: "Jobs" }).getByText(name, { exact: true }).click();
  await page.keyboard.press("e");
}

/** Chooses one of a row of choices. */
export async function choose(page, name) {
  await page.getByRole("radio", { name, exact: true }).locator("xpath=ancestor-or-self::label[1]").click();
}

/** Writes a job that runs a command by the form, up to but without saving it. */
export async function writeJob(page, { name, cron, everySeconds, manually, command }) {
  await page.getByLabel("Name", { exact: false }).first().fill(name);
  if (cron) {
    await choose(page, "Cron");
    await page.getByLabel("Cron expression").fill(cron);
  } else if (everySeconds) {
    await choose(page, "Interval");
    await page.getByRole("textbox", { name: "Every" }).fill(String(everySeconds));
    await choose(page, "seconds");
  } else if (manually) {
    await choose(page, "By hand");
  }
  await page.getByRole("textbox", { name: "Command" }).fill(command);
}

/** The note that a toast leaves. */
export const toast = (page, text) =>
  page.getByRole("region", { name: /Notifications|通知/ }).getByText(text, { exact: typeof text === "string" });

/** A firing on the calendar, found by its job and the day it stands on. */
export const firing = (page, name, date) =>
  page.locator(`[data-testid=calendar-day][data-date="${date}"] [data-testid=calendar-entry][data-name="${name}"]`);

/** Takes hold of something and lets go of it elsewhere, moving as a hand does: in steps. */
export async function drag(page, from, by) {
  const box = await eventually("what is to be dragged stands still", async () => {
    const once = await from.boundingBox();
    const twice = await from.boundingBox();
    return once && twice && once.x === twice.x && once.y === twice.y && once;
  });
  const [x, y] = [box.x + Math.min(20, box.width / 2), box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= 8; i++) await page.mouse.move(x + (by.x * i) / 8, y + (by.y * i) / 8);
  await page.mouse.up();
}

/** `2026-11-23` some days later. */
export function daysLater(date, days) {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10);
}
