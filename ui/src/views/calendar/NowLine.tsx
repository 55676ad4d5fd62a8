// The present, across the days: full where today is, faint beside it.
import { clock } from "@/lib/civil";
import { toY } from "./layout";

interface NowLineProps {
  minute: number | null;
  column: number;
  count: number;
  hourPx: number;
}

export function NowLine({ minute, column, count, hourPx }: NowLineProps) {
  if (minute === null || column < 0) return null;
  return (
    <div
      aria-hidden="true"
      data-testid="calendar-now"
      className="pointer-events-none absolute inset-x-0 z-3"
      style={{ top: toY(minute, hourPx) }}
    >
      <div className="absolute inset-x-0 border-bad/25 border-t" />
      <div
        className="absolute border-bad border-t-2"
        style={{ left: `${(column / count) * 100}%`, width: `${100 / count}%`, top: -1 }}
      />
      <div
        className="absolute -top-1 size-2 -translate-x-1/2 rounded-full bg-bad"
        style={{ left: `${(column / count) * 100}%` }}
      />
      <span className="absolute top-0 right-full mr-1 -translate-y-1/2 rounded-xs bg-bad px-1 font-medium text-2xs text-surface">
        {clock(Math.floor(minute))}
      </span>
    </div>
  );
}
