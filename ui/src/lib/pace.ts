// How fast something goes on and when it may be done, from what was seen of it. Pure, but for what `usePace` remembers of
// whatever is on the page.
import { now as clockNow } from "./clock";

export interface Sample {
  at: number;
  done: number;
}

export interface Pace {
  /** A second; null while too little was seen. */
  rate: number | null;
  /** Null where nothing moves, or nobody knows. */
  leftMs: number | null;
}

/** The rate is that of so long; what came before says nothing of now. */
const OVER_MS = 30_000;
/** From fewer milliseconds no rate is told. */
const LEAST_MS = 2_000;
const EVERY_MS = 500;

/** The samples with one more. Those that are too old go, but one, so that the window is always whole. */
export function noted(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last && (sample.at - last.at < EVERY_MS || sample.done < last.done)) {
    // It begins anew where it went back: another round.
    return sample.done < last.done ? [sample] : samples;
  }
  const all = [...samples, sample];
  const young = all.findIndex((each) => sample.at - each.at <= OVER_MS);
  return all.slice(Math.max(0, young - 1));
}

/** `since`: when it began, for as long as little was seen of it. */
export function pace(samples: readonly Sample[], done: number, total: number, since: number | null, now: number): Pace {
  const first = samples[0];
  const seenMs = first ? now - first.at : 0;
  let rate: number | null = null;
  if (first && seenMs >= LEAST_MS) rate = ((done - first.done) * 1_000) / seenMs;
  else if (since !== null && now - since >= LEAST_MS) rate = (done * 1_000) / (now - since);
  const left = Math.max(0, total - done);
  return { rate, leftMs: left === 0 ? 0 : rate !== null && rate > 0 ? (left * 1_000) / rate : null };
}

/** In tenths, rounded down: what is not whole is never said to be. */
export function percent(done: number, total: number): number {
  if (total === 0 || done >= total) return 100;
  return Math.min(99.9, Math.floor((done * 1_000) / total) / 10);
}

const seen = new Map<string, readonly Sample[]>();
const MOST_KEPT = 200;

/** Of one thing that goes on. `key` names it, and its round. */
export function paceOf(key: string, done: number, total: number, since: number | null): Pace {
  const now = clockNow();
  const samples = noted(seen.get(key) ?? [], { at: now, done });
  seen.delete(key);
  seen.set(key, samples);
  if (seen.size > MOST_KEPT) {
    const [oldest] = seen.keys();
    if (oldest !== undefined) seen.delete(oldest);
  }
  return pace(samples, done, total, since, now);
}
