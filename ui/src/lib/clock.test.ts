import { expect, test } from "vitest";
import { type Heard, hear, offsetOf, STRETCH_MS } from "./clock";

/** The offset after frames of [sent, by the node's clock; come in, by the window's]. */
const after = (frames: [number, number][]) =>
  offsetOf(frames.reduce<Heard | null>((heard, [told, at]) => hear(heard, told, at), null) as Heard);

test.each<[string, [number, number][], number]>([
  ["the first frame is believed", [[1_000, 10]], 990],
  [
    "a late frame does not put the clock back",
    [
      [1_000, 10],
      [2_000, 3_000],
    ],
    990,
  ],
  [
    "a quicker one puts it on",
    [
      [1_000, 500],
      [2_000, 1_010],
    ],
    990,
  ],
  [
    "what was told in the stretch before still counts",
    [
      [1_000, 10],
      [2_000, STRETCH_MS + 5_000],
    ],
    990,
  ],
  [
    "a clock put back at the node is followed once two stretches are over",
    [
      [100_000, 0],
      [50_000 + STRETCH_MS, STRETCH_MS],
      [50_000 + 2 * STRETCH_MS, 2 * STRETCH_MS],
    ],
    50_000,
  ],
  [
    "one put forward is followed at once",
    [
      [1_000, 0],
      [3_602_000, 1_000],
    ],
    3_601_000,
  ],
])("%s", (_, frames, offset) => expect(after(frames)).toBe(offset));
