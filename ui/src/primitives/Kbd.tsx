// A key, as printed on it. 'ctrl+k' is drawn as ⌃K, or ⌘K on a Mac; 'g p' as two keys.
import { cx } from "@/lib/cx";

const MAC = typeof navigator !== "undefined" && navigator.platform.startsWith("Mac");
const NAMES: Record<string, string> = {
  ctrl: MAC ? "⌘" : "Ctrl",
  shift: "⇧",
  alt: MAC ? "⌥" : "Alt",
  Enter: "↵",
  Escape: "Esc",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Space: "␣",
};

export function keyCaps(keys: string): string[] {
  return keys
    .split(" ")
    .flatMap((stroke) => stroke.split(/\+(?=.)/))
    .flatMap((key) =>
      /^[A-Z]$/.test(key) ? ["⇧", key] : [NAMES[key] ?? (key.length === 1 ? key.toUpperCase() : key)],
    );
}

export function Kbd({ keys, on = "surface" }: { keys: string; on?: "surface" | "accent" }) {
  return (
    <span className="inline-flex shrink-0 items-center gap-0.5" aria-hidden="true">
      {keyCaps(keys).map((cap, i) => (
        <kbd
          key={i}
          className={cx(
            "inline-flex h-4 min-w-4 items-center justify-center rounded-xs px-1 font-sans text-[10.5px] leading-none",
            on === "accent" ? "bg-[oklch(0_0_0/0.2)] text-on-accent" : "border border-line bg-sunken text-ink-3",
          )}
        >
          {cap}
        </kbd>
      ))}
    </span>
  );
}
