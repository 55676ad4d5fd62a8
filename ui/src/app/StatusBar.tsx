// The line at the foot: how fast, what waits where, when something last happened. All from the feed's frames.
import { useCalmly } from "@/api/live";
import { LANES } from "@/components";
import { stateWords } from "@/components/states";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { relative, span } from "@/lib/relative";
import { figure, useLang, useWords } from "@/lib/words";
import { shellWords } from "./words";

export function StatusBar() {
  const w = useWords(shellWords);
  const s = useWords(stateWords);
  const lang = useLang();
  const now = useNow();
  const status = useCalmly((live) => live.status);
  const rate = status?.tasks_per_second ?? 0;
  const last = status?.last_event_at ?? null;
  return (
    <footer
      className={cx(
        "flex h-(--statusbar) shrink-0 items-center gap-4 overflow-hidden whitespace-nowrap border-line border-t bg-surface px-4 text-2xs text-ink-3",
      )}
    >
      <span className="min-w-20">{w.rate(rate >= 100 ? figure(Math.round(rate)) : rate.toFixed(1))}</span>
      <span className="min-w-18">{w.running(status?.running ?? 0)}</span>
      <span className="flex items-center gap-3">
        {w.waiting}
        {LANES.map((lane) => {
          const view = status?.lanes.find((each) => each.lane === lane);
          const depth = view?.depth ?? 0;
          const oldest = view?.oldest_wait_ms;
          return (
            <span
              key={lane}
              title={oldest === null || oldest === undefined ? undefined : span(oldest, lang)}
              className={cx("flex gap-1", depth > 0 && "text-ink")}
            >
              {s.lane[lane]}
              <span className="min-w-3 font-medium">{figure(depth)}</span>
            </span>
          );
        })}
      </span>
      <span className="ml-auto">
        {w.lastEvent} {last === null ? w.never : relative(Math.min(last, now), now, lang)}
      </span>
    </footer>
  );
}
