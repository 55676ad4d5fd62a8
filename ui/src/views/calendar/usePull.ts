// Pulling the end of a blackout window in the grid, by the pointer or by keys: what the grid hears of it. Escape leaves it
// where it was; let go elsewhere it is asked about.
import { useEffect, useRef } from "react";
import type { BlackoutSpan } from "@/api/types";
import type { Pulling } from "./blackouts";
import { DAY_MINUTES } from "./layout";

interface PullIn {
  pulling: Pulling;
  days: readonly { date: string; blackouts: readonly BlackoutSpan[] }[];
  /** The end of the last day that is shown, counted as `minuteAt` counts. */
  most: number;
  /** The minute under the pointer, counted from midnight of the first day. */
  minuteAt: (x: number, y: number, step: number) => number | null;
  /** Why the end of that window stays where it is. */
  whyNot: (span: BlackoutSpan) => string | null;
  onRefused: (at: { x: number; y: number }, why: string) => void;
  onDrop: () => void;
}

const KEYS: Record<string, number> = { ArrowUp: -1, ArrowDown: 1 };

export function usePull({ pulling, days, most, minuteAt, whyNot, onRefused, onDrop }: PullIn) {
  const first = days[0]?.date ?? "";
  /** From the end to the pointer that took hold of it. */
  const grip = useRef(0);
  const spanOf = (key: string | undefined) =>
    days.flatMap((day) => day.blackouts).find((span) => `${span.name}|${span.from.ms}` === key);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const pull = pulling.get();
      if (event.key !== "Escape" || !pull || pull.asked) return;
      event.preventDefault();
      event.stopPropagation();
      pulling.leave();
    };
    window.addEventListener("keydown", onKey, true);
    return () => window.removeEventListener("keydown", onKey, true);
  }, [pulling]);

  const begin = (span: BlackoutSpan, by: "pointer" | "keys", at: { x: number; y: number }) => {
    const why = whyNot(span);
    if (why === null) pulling.begin(span, first, by);
    else onRefused(at, why);
    return why === null;
  };

  const pointer: React.HTMLAttributes<HTMLElement> = {
    onPointerDown: (event) => {
      const span = spanOf(event.currentTarget.dataset.blackoutEnd);
      if (event.button !== 0 || !span) return;
      event.stopPropagation();
      event.preventDefault();
      const at = { x: event.clientX, y: event.clientY };
      grip.current = at.y - event.currentTarget.getBoundingClientRect().bottom;
      if (begin(span, "pointer", at)) event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove: (event) => {
      if (pulling.get()?.by !== "pointer") return;
      event.stopPropagation();
      const [x, y] = [event.clientX, event.clientY];
      const minute = minuteAt(x, y - grip.current, event.shiftKey ? 1 : 5);
      if (minute !== null) pulling.to(minute, most, { x, y });
    },
    onPointerUp: (event) => {
      event.stopPropagation();
      if (pulling.get()?.by === "pointer" && pulling.drop()) onDrop();
    },
    onPointerCancel: () => pulling.leave(),
  };

  /** True where the key was meant for a window. */
  const onKey = (event: React.KeyboardEvent): boolean => {
    const pull = pulling.get();
    if (pull?.by === "keys" && !pull.asked) {
      if (event.key === "Enter") {
        if (pulling.drop()) onDrop();
      } else if (event.key in KEYS) pulling.to(pull.end + (KEYS[event.key] ?? 0) * (event.shiftKey ? 5 : 15), most);
      else if (event.key === "ArrowLeft" || event.key === "ArrowRight")
        pulling.to(pull.end + (event.key === "ArrowRight" ? DAY_MINUTES : -DAY_MINUTES), most);
      return true;
    }
    const bar = (event.target as HTMLElement).closest<HTMLElement>("[data-blackout]");
    if (!bar || event.key !== "m") return false;
    const span = spanOf(bar.dataset.blackout);
    const { left, bottom } = bar.getBoundingClientRect();
    if (span) begin(span, "keys", { x: left, y: bottom });
    return true;
  };

  return { pointer, onKey };
}
