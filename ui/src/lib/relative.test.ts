import { expect, test } from "vitest";
import { countdown, relative, span } from "./relative";

const MIN = 60_000;
const HOUR = 60 * MIN;
const DAY = 24 * HOUR;

test.each([
  [0, "just now", "刚刚"],
  [-900, "just now", "刚刚"],
  [900, "now", "现在"],
  [12_000, "in 12 s", "12 秒后"],
  [3 * MIN, "in 3 min", "3 分钟后"],
  [59 * MIN + 59_000, "in 59 min", "59 分钟后"],
  [-2 * HOUR, "2 h ago", "2 小时前"],
  [-40 * DAY, "40 d ago", "40 天前"],
])("%i ms away is said as '%s'", (ahead, en, zh) => {
  const now = 1_800_000_000_000;
  expect(relative(now + ahead, now, "en")).toBe(en);
  expect(relative(now + ahead, now, "zh")).toBe(zh);
});

test.each([
  [-5, "0 ms", "0 毫秒"],
  [820, "820 ms", "820 毫秒"],
  [4_160, "4.2 s", "4.2 秒"],
  [59_999, "59 s", "59 秒"],
  [3 * MIN, "3 min", "3 分"],
  [3 * MIN + 5_000, "3 min 05 s", "3 分 05 秒"],
  [2 * HOUR + 10 * MIN, "2 h 10 min", "2 小时 10 分"],
  [3 * DAY + 4 * HOUR, "3 d 4 h", "3 天 4 小时"],
])("%i ms lasts '%s'", (ms, en, zh) => {
  expect(span(ms, "en")).toBe(en);
  expect(span(ms, "zh")).toBe(zh);
});

test.each([
  [-5, "0 s", "0 秒"],
  [1, "1 s", "1 秒"],
  [29_001, "30 s", "30 秒"],
  [3 * MIN, "3 min 00 s", "3 分 00 秒"],
  [3 * MIN - 1, "3 min 00 s", "3 分 00 秒"],
  [2 * HOUR + 10 * MIN, "2 h 10 min", "2 小时 10 分"],
])("%i ms that are left are counted down as '%s'", (ms, en, zh) => {
  expect(countdown(ms, "en")).toBe(en);
  expect(countdown(ms, "zh")).toBe(zh);
});
