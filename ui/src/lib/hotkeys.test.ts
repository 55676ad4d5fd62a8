import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pressed, register } from "./hotkeys";

const undo: (() => void)[] = [];
const run = vi.fn();

function key(keys: string, options: { anywhere?: boolean; run?: () => void } = {}) {
  undo.push(
    register({
      keys,
      label: keys,
      group: "",
      anywhere: options.anywhere ?? false,
      palette: true,
      run: options.run ?? (() => run(keys)),
    }),
  );
}

function press(target: EventTarget, init: KeyboardEventInit) {
  target.dispatchEvent(new KeyboardEvent("keydown", { bubbles: true, cancelable: true, ...init }));
}

beforeEach(() => {
  run.mockClear();
  document.body.innerHTML = "";
});

afterEach(() => {
  for (const each of undo.splice(0)) each();
});

test("a key is written as it is pressed", () => {
  const of = (init: KeyboardEventInit) => pressed(new KeyboardEvent("keydown", init));
  expect([
    of({ key: "j" }),
    of({ key: "X", shiftKey: true }),
    of({ key: "K", ctrlKey: true }),
    of({ key: "k", metaKey: true }),
  ]).toEqual(["j", "X", "ctrl+k", "ctrl+k"]);
  expect([of({ key: "Enter", shiftKey: true }), of({ key: " " })]).toEqual(["shift+Enter", "Space"]);
});

test("what was registered last answers first, and gives the key back when it goes", () => {
  key("a", { run: () => run("below") });
  key("a", { run: () => run("above") });
  press(window, { key: "a" });
  undo.pop()?.();
  press(window, { key: "a" });
  expect(run.mock.calls).toEqual([["above"], ["below"]]);
});

test("letters are not taken from whoever types, keys with Ctrl may be", () => {
  document.body.innerHTML = "<input>";
  const input = document.querySelector("input") as HTMLInputElement;
  key("j");
  key("ctrl+s", { anywhere: true });
  press(input, { key: "j" });
  press(input, { key: "s", ctrlKey: true });
  expect(run.mock.calls).toEqual([["ctrl+s"]]);
});

test("a field that keeps its keys to itself does not keep those that work anywhere", () => {
  document.body.innerHTML = "<input>";
  const input = document.querySelector("input") as HTMLInputElement;
  input.addEventListener("keydown", (event) => event.stopPropagation());
  key("ctrl+s", { anywhere: true });
  press(input, { key: "s", ctrlKey: true });
  expect(run.mock.calls).toEqual([["ctrl+s"]]);
});

test("under an open dialog only what works anywhere works", () => {
  document.body.innerHTML = "<div data-overlay></div>";
  key("j");
  key("ctrl+k", { anywhere: true });
  press(window, { key: "j" });
  press(window, { key: "k", ctrlKey: true });
  expect(run.mock.calls).toEqual([["ctrl+k"]]);
});

test("one after the other: g p goes, and g alone does nothing", () => {
  key("g p");
  key("p");
  press(window, { key: "g" });
  expect(run).not.toHaveBeenCalled();
  press(window, { key: "p" });
  press(window, { key: "p" });
  expect(run.mock.calls).toEqual([["g p"], ["p"]]);
});
