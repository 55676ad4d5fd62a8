// How much fires when: one bar for each quarter of an hour, along the edge of the day.
import { useWords } from "@/lib/words";
import { clock } from "./civil";
import { calendarWords } from "./words";

interface LoadStripProps {
  counts: readonly number[];
  /** The most in any quarter of the days shown. */
  busiest: number;
  width: number;
}

export function LoadStrip({ counts, busiest, width }: LoadStripProps) {
  const w = useWords(calendarWords);
  const n = Math.max(1, counts.length);
  // The root of the share: one firing beside a thousand is still to be seen.
  const reach = (count: number) => (count === 0 ? 0 : 1.5 + (width - 1.5) * Math.sqrt(count / busiest));
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
