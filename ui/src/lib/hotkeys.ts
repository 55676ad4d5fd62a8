// Keys that act. A view says `useHotkey("a", "Acknowledge", run)` while it is on the screen; the sheet under `?` lists
// exactly what is live at that moment, because it reads the same register.
//
// A key is written as it is pressed: "j", "Enter", "ctrl+k" (also Command), "g p" for one after the other. Letters are not
// taken while a text is being typed, nor under an open dialog or menu; keys with Ctrl are, when registered `anywhere`.
// The last one to register a key has it: what lies on top answers first.
import { useLayoutEffect, useRef, useSyncExternalStore } from "react";

export interface Hotkey {
  keys: string;
  label: string;
  group: string;
  anywhere: boolean;
  /** Also offered in the palette: what acts, not what moves. */
  palette: boolean;
  run: (event: KeyboardEvent) => void;
}

const live: Hotkey[] = [];
let shown: readonly Hotkey[] = [];
const listeners = new Set<() => void>();
let lead = "";
let leadTimer: number | undefined;

function changed() {
  shown = [...live];
  for (const listener of listeners) listener();
}

export function register(hotkey: Hotkey): () => void {
  if (live.length === 0) {
    window.addEventListener("keydown", onKeyAnywhere, true);
    window.addEventListener("keydown", onKey);
  }
  live.push(hotkey);
  changed();
  return () => {
    live.splice(live.indexOf(hotkey), 1);
    if (live.length === 0) {
      window.removeEventListener("keydown", onKeyAnywhere, true);
      window.removeEventListener("keydown", onKey);
    }
    changed();
  };
}

/** What was pressed, in the notation of `Hotkey.keys`. */
export function pressed(event: KeyboardEvent): string {
  const ctrl = event.ctrlKey || event.metaKey ? "ctrl+" : "";
  const alt = event.altKey ? "alt+" : "";
  const key = event.key === " " ? "Space" : event.key.length === 1 && ctrl ? event.key.toLowerCase() : event.key;
  const shift = event.shiftKey && key.length > 1 ? "shift+" : "";
  return `${ctrl}${alt}${shift}${key}`;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      (target.matches("input, textarea, select") && !target.matches("[type=checkbox], [type=radio]")))
  );
}

/** Where arrow keys and Enter already mean something of their own. */
function isWidget(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("button, a[href], [role=tab], [role=switch], [role=radio]") !== null
  );
}

/** Keys with Ctrl that work anywhere are taken on the way down: a field may keep what it hears from going up. */
function onKeyAnywhere(event: KeyboardEvent) {
  if (!(event.ctrlKey || event.metaKey) || event.isComposing) return;
  const keys = pressed(event);
  const found = live.findLast((hotkey) => hotkey.anywhere && hotkey.keys === keys);
  if (!found) return;
  event.preventDefault();
  found.run(event);
}

function onKey(event: KeyboardEvent) {
  if (event.defaultPrevented || event.isComposing) return;
  const one = pressed(event);
  const blocked = isTyping(event.target) || document.querySelector("[data-overlay]") !== null;
  const two = lead === "" ? one : `${lead} ${one}`;
  const found =
    live.findLast((hotkey) => hotkey.keys === two && (!blocked || hotkey.anywhere)) ??
    live.findLast((hotkey) => hotkey.keys === one && (!blocked || hotkey.anywhere));
  if (lead !== "") {
    window.clearTimeout(leadTimer);
    lead = "";
  }
  if (found) {
    if (one.length > 1 && !one.includes("+") && one !== "Escape" && isWidget(event.target)) return;
    event.preventDefault();
    found.run(event);
    return;
  }
  if (!blocked && live.some((hotkey) => hotkey.keys.startsWith(`${one} `))) {
    lead = one;
    leadTimer = window.setTimeout(() => {
      lead = "";
    }, 1_200);
  }
}

interface Options {
  group?: string;
  enabled?: boolean;
  anywhere?: boolean;
  palette?: boolean;
}

export function useHotkey(keys: string, label: string, run: (event: KeyboardEvent) => void, options: Options = {}) {
  const latest = useRef(run);
  latest.current = run;
  const { group = "", enabled = true, anywhere = false, palette = true } = options;
  // Whoever sees a view can use its keys: they are not to come later than its picture.
  useLayoutEffect(() => {
    if (!enabled) return;
    return register({ keys, label, group, anywhere, palette, run: (event) => latest.current(event) });
  }, [keys, label, group, enabled, anywhere, palette]);
}

export function useLiveHotkeys(): readonly Hotkey[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}
