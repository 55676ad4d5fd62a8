// The next hour, minute by minute: a bar for each, as high as there are firings. Under it a line, always there, that says
// what fires in the minute one points at.
import { useState } from "react";
import type { StripMinute } from "@/api/types";
import { cx } from "@/lib/cx";
import { marks, useWords } from "@/lib/words";
import { pulseWords } from "./words";

const HEIGHT = 88;

export function NextHour({ minutes }: { minutes: readonly StripMinute[] }) {
  const w = useWords(pulseWords);
  const m = useWords(marks);
  const [at, setAt] = useState<number | null>(null);
  const most = Math.max(4, ...minutes.map((minute) => minute.firings));
  const total = minutes.reduce((sum, minute) => sum + minute.firings, 0);
  const shown = at === null ? undefined : minutes[at];
  return (
    <div>
      <div
        role="img"
        aria-label={w.firingsInHour(total)}
        className="flex items-end gap-px"
        style={{ height: HEIGHT }}
        onPointerLeave={() => setAt(null)}
      >
        {minutes.map((minute, i) => (
          <div
            key={minute.at.ms}
            onPointerEnter={() => setAt(i)}
            className="group flex h-full min-w-0 flex-1 items-end"
          >
            <div
              className={cx(
                "w-full rounded-t-xs transition-colors duration-100",
                minute.firings === 0 ? "bg-line" : at === i ? "bg-accent-ink" : "bg-accent/55 dark:bg-accent-ink/45",
              )}
              style={{ height: minute.firings === 0 ? 2 : Math.max(5, Math.sqrt(minute.firings / most) * HEIGHT) }}
            />
          </div>
        ))}
      </div>
      <div className="relative mt-1 h-4 border-line border-t text-2xs text-ink-3">
        {minutes.map((minute, i) =>
          i % 10 === 0 ? (
            <span key={minute.at.ms} className="absolute top-0.5" style={{ left: `${(i / 60) * 100}%` }}>
              {minute.at.text.slice(11, 16)}
            </span>
          ) : null,
        )}
      </div>
      <div className="mt-2 h-5 truncate text-xs">
        {shown ? (
          <>
            <span className="font-medium">{shown.at.text.slice(11, 16)}</span>
            <span className="text-ink-2"> · {w.firings(shown.firings)}</span>
            <span className="text-ink-3">
              {shown.jobs.length > 0 && ` · ${shown.jobs.join(m.and)}`}
              {shown.firings > shown.jobs.length && shown.jobs.length >= 5 && ` ${w.andMore}`}
            </span>
          </>
        ) : (
          <span className="text-ink-3">{total === 0 ? w.nothingPlanned : w.pointAtStrip}</span>
        )}
      </div>
    </div>
  );
}
