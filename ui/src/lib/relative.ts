// How far away a moment is, in words. Works on differences in milliseconds alone: what day or hour that is on some
// clock on a wall is the node's to say, not the window's.
import type { Lang } from "./words";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time at the precision one reads at a glance: '820 ms', '4.2 s', '3 min 05 s', '2 h 10 min', '3 d 4 h'. */
export function span(ms: number, lang: Lang): string {
  const zh = lang === "zh";
  const n = Math.max(0, ms);
  if (n < SECOND) return zh ? `${Math.round(n)} 毫秒` : `${Math.round(n)} ms`;
  if (n < 10 * SECOND) return zh ? `${(n / SECOND).toFixed(1)} 秒` : `${(n / SECOND).toFixed(1)} s`;
  if (n < MINUTE) return zh ? `${Math.floor(n / SECOND)} 秒` : `${Math.floor(n / SECOND)} s`;
  if (n < HOUR) {
    const seconds = Math.floor((n % MINUTE) / SECOND);
    const tail = seconds === 0 ? "" : zh ? ` ${pad(seconds)} 秒` : ` ${pad(seconds)} s`;
    return `${Math.floor(n / MINUTE)} ${zh ? "分" : "min"}${tail}`;
  }
  if (n < DAY) {
    const minutes = Math.floor((n % HOUR) / MINUTE);
    return `${Math.floor(n / HOUR)} ${zh ? "小时" : "h"}${minutes === 0 ? "" : ` ${pad(minutes)} ${zh ? "分" : "min"}`}`;
  }
  const hours = Math.floor((n % DAY) / HOUR);
  return `${Math.floor(n / DAY)} ${zh ? "天" : "d"}${hours === 0 || n >= 10 * DAY ? "" : ` ${hours} ${zh ? "小时" : "h"}`}`;
}

/** What is left, counted down by whole seconds and as wide as before: '9 s', '3 min 00 s'. Nothing below zero. */
export function countdown(ms: number, lang: Lang): string {
  const left = Math.max(0, Math.ceil(ms / SECOND) * SECOND);
  const [minutes, seconds] = lang === "zh" ? ["分", "秒"] : ["min", "s"];
  if (left < MINUTE) return `${left / SECOND} ${seconds}`;
  if (left >= HOUR) return span(left, lang);
  return `${Math.floor(left / MINUTE)} ${minutes} ${pad((left % MINUTE) / SECOND)} ${seconds}`;
}

/** One unit only, for 'in …' and '… ago'. */
function rough(ms: number, lang: Lang): string {
  const zh = lang === "zh";
  if (ms < MINUTE) return `${Math.max(1, Math.round(ms / SECOND))} ${zh ? "秒" : "s"}`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} ${zh ? "分钟" : "min"}`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} ${zh ? "小时" : "h"}`;
  return `${Math.floor(ms / DAY)} ${zh ? "天" : "d"}`;
}

/** Where `at` stands seen from `now`: 'in 3 min', 'just now', '2 h ago'. */
export function relative(at: number, now: number, lang: Lang): string {
  const ahead = at - now;
  if (Math.abs(ahead) < 1_500) return lang === "zh" ? (ahead > 0 ? "现在" : "刚刚") : ahead > 0 ? "now" : "just now";
  if (ahead > 0) return lang === "zh" ? `${rough(ahead, lang)}后` : `in ${rough(ahead, lang)}`;
  return lang === "zh" ? `${rough(-ahead, lang)}前` : `${rough(-ahead, lang)} ago`;
}

function pad(n: number): string {
  return String(n).padStart(2, "0");
}
