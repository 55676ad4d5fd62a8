// Over the days: their dates, what the clocks do on them, how much fires; and under the dates the jobs that are too
// frequent to be drawn one by one, each as a stripe over its days.
import { ClockAlert, Repeat } from "lucide-react";
import { useMemo, useState } from "react";
import type { CalendarView } from "@/api/calendar";
import { clock, parts } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { figure, useSaid, useWords } from "@/lib/words";
import { DayMarks } from "./DayMarks";
import { stripes } from "./layout";
import { GUTTER, type Opened } from "./WeekGrid";
import { calendarWords } from "./words";

const ROW_PX = 20;
const FEW = 3;

interface DayHeadsProps {
  week: CalendarView;
  from: number;
  count: number;
  onDay: (date: string) => void;
  onOpen: (opened: Opened) => void;
}

/** There is little room beside a date. */
function brief(n: number): string {
  return n < 1_000 ? figure(n) : `${figure(n < 10_000 ? Math.round(n / 100) / 10 : Math.round(n / 1_000))}k`;
}

export function DayHeads({ week, from, count, onDay, onOpen }: DayHeadsProps) {
  const w = useWords(calendarWords);
  const said = useSaid();
  const [all, setAll] = useState(false);
  const lanes = useMemo(
    () =>
      stripes(
        week.bands
          .filter((band) => band.day >= from && band.day < from + count)
          .map((band) => ({ ...band, day: band.day - from })),
      ),
    [week, from, count],
  );
  const rows = Math.max(0, ...lanes.map((stripe) => stripe.row + 1));
  const shown = all || rows <= FEW + 1 ? rows : FEW;
  const hidden = lanes.filter((stripe) => stripe.row >= shown).length;

  return (
    <div className="sticky top-0 z-10 border-line border-b bg-surface">
      <div className="flex">
        <div className="shrink-0" style={{ width: GUTTER }} />
        {week.days.slice(from, from + count).map((day, i) => {
          const total = (week.load[from + i] ?? []).reduce((sum, n) => sum + n, 0);
          return (
            <div
              key={day.date}
              className={cx(
                "@container flex min-w-0 items-center gap-1.5 border-line border-l px-2 py-1.5",
                day.today && "bg-accent-soft/25",
              )}
              style={{ width: `calc((100% - ${GUTTER}px) / ${count})` }}
            >
              <button
                type="button"
                onClick={() => onDay(day.date)}
                className="flex shrink-0 items-center gap-1.5 rounded-sm outline-none hover:text-accent-ink focus-visible:outline-2 focus-visible:outline-focus"
                title={`${w.longWeekday(day.weekday)} ${w.dayOf(day.date)}`}
              >
                <span className={cx("text-xs", day.today ? "font-medium text-accent-ink" : "text-ink-3")}>
                  {w.weekday(day.weekday)}
                </span>
                <span
                  className={cx(
                    "flex h-6 items-center justify-center rounded-full font-semibold text-md",
                    day.today ? "min-w-6 bg-accent px-1.5 text-on-accent" : day.weekday > 5 && "text-ink-2",
                  )}
                >
                  {parts(day.date).day}
                </span>
              </button>
              <DayMarks day={day} brief={count > 1} />
              {day.clock_change && (
                <span
                  data-testid="calendar-clock-change"
                  className="flex min-h-5 min-w-5 shrink-0 items-center justify-center gap-1 rounded-sm bg-warn-soft px-1 text-2xs text-warn"
                  title={said(day.clock_change)}
                >
                  <ClockAlert size={12} className="shrink-0" />
                  {count === 1 && <span className="truncate">{said(day.clock_change)}</span>}
                </span>
              )}
              {total > 0 && (
                <span
                  className={cx(
                    "ml-auto min-w-0 truncate text-2xs text-ink-3",
                    // Half a figure is a wrong one.
                    day.today ? "@max-[92px]:hidden" : "@max-[76px]:hidden",
                    // Beside the name of the day there is no room for it.
                    count > 1 && "peer-data-[kind]/mark:hidden",
                  )}
                  title={day.unlisted > 0 ? `${w.firings(total)}\n${w.unlisted(day.unlisted)}` : w.firings(total)}
                >
                  {brief(total)}
                </span>
              )}
            </div>
          );
        })}
      </div>
      {rows > 0 && (
        <div className="flex border-line border-t pt-1 pb-1">
          <div
            className="flex shrink-0 items-start justify-end pt-0.5 pr-2 text-2xs text-ink-3"
            style={{ width: GUTTER }}
            title={w.frequentHint}
          >
            {w.frequent}
          </div>
          <div className="relative min-w-0 flex-1" style={{ height: shown * ROW_PX + (rows > shown || all ? 18 : 0) }}>
            {lanes
              .filter((stripe) => stripe.row < shown)
              .map((stripe) => {
                const band = stripe.bands[0];
                if (!band) return null;
                return (
                  <button
                    key={`${band.job}-${stripe.from}`}
                    type="button"
                    data-testid="calendar-band"
                    data-job={band.job}
                    data-hue={band.hue % 12}
                    title={`${band.name}\n${said(band.words)}`}
                    onClick={(event) =>
                      onOpen({ is: "band", band: { ...band, day: band.day + from }, anchor: event.currentTarget })
                    }
                    className="absolute flex items-center overflow-hidden rounded-sm border-(--job-edge) border-l-3 bg-(--job-soft) text-(--job-ink) text-2xs outline-none hover:bg-(--job-soft-hover) focus-visible:outline-2 focus-visible:outline-focus"
                    style={{
                      top: stripe.row * ROW_PX,
                      height: ROW_PX - 2,
                      left: `calc(${(stripe.from / count) * 100}% + 3px)`,
                      width: `calc(${((stripe.end - stripe.from) / count) * 100}% - 5px)`,
                    }}
                  >
                    {Array.from({ length: stripe.end - stripe.from }, (_, i) => {
                      const own = stripe.bands.filter((each) => each.day === stripe.from + i);
                      const n = own.reduce((sum, each) => sum + each.count, 0);
                      const whole = own.some((each) => each.from_minute <= 60 && each.to_minute >= 1380);
                      return (
                        <span key={i} className="flex min-w-0 flex-1 items-center gap-1 px-1.5">
                          {i === 0 && (
                            <>
                              <Repeat size={11} className="shrink-0" />
                              <span className="min-w-0 truncate font-medium">{band.name}</span>
                            </>
                          )}
                          <span className="ml-auto shrink-0 opacity-75">
                            {!whole && own[0] && count === 1 && `${clock(own[0].from_minute)} · `}×{figure(n)}
                          </span>
                        </span>
                      );
                    })}
                  </button>
                );
              })}
            {(hidden > 0 || (all && rows > FEW + 1)) && (
              <button
                type="button"
                onClick={() => setAll(!all)}
                className="absolute bottom-0 left-1 rounded-sm px-1 text-2xs text-ink-3 outline-none hover:text-ink focus-visible:outline-2 focus-visible:outline-focus"
              >
                {all ? w.fewerBands : w.moreBands(hidden)}
              </button>
            )}
          </div>
        </div>
      )}
    </div>
  );
}
