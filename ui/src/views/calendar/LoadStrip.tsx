// How much fires when: one bar for each quarter of an hour, along the edge of the day.

import { clock } from "@/lib/civil";
import { useWords } from "@/lib/words";
import { calendarWords } from "./words";

interface LoadStripProps {
  counts: readonly number[];
  /** The least and the most in any quarter of the week. */
  quietest: number;
  busiest: number;
  width: number;
}

export function LoadStrip({ counts, quietest, busiest, width }: LoadStripProps) {
  const w = useWords(calendarWords);
  const n = Math.max(1, counts.length);
  // What is always there is a thin line, so that what comes on top of it shows; and of that the root, so that one firing
  // beside a thousand is still to be seen.
  const over = Math.max(1, busiest - quietest);
  const reach = (count: number) => (count === 0 ? 0 : 1.5 + (width - 1.5) * Math.sqrt((count - quietest) / over));
  const path = `M${width} 0${counts.map((count, i) => `H${(width - reach(count)).toFixed(2)}V${i + 1}`).join("")}H${width}z`;
  return (
    <div
      data-load=""
      data-testid="calendar-load"
      className="absolute inset-y-0 right-0 overflow-hidden"
      style={{ width }}
      onPointerMove={(event) => {
        const rect = event.currentTarget.getBoundingClientRect();
        const quarter = Math.min(n - 1, Math.max(0, Math.floor(((event.clientY - rect.top) / rect.height) * n)));
        const at = Math.round((quarter * 1440) / n);
        event.currentTarget.title = w.loadHint(clock(at), clock(Math.min(1439, at + 15)), counts[quarter] ?? 0);
      }}
    >
      <svg viewBox={`0 0 ${width} ${n}`} preserveAspectRatio="none" className="block size-full" aria-hidden="true">
        <path d={path} fill="var(--line-strong)" opacity="0.75" />
      </svg>
    </div>
  );
}
