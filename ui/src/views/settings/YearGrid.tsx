// Twelve months at a glance. What a day is shows by its shape as well as its colour: a filled circle is a day off by
// exception, a square with a bar a working day by exception; a ring around either is a change that is not saved. The arrow
// keys go from day to day.
import { useRef } from "react";
import { cx } from "@/lib/cx";
import { marks, useSaid, useWords } from "@/lib/words";
import { calendarsWords } from "./calendarWords";
import { monthsOf, type YearDay } from "./working";

interface YearGridProps {
  year: number;
  days: readonly YearDay[];
  changed: ReadonlySet<string>;
  covered: boolean;
  /** The day that Tab comes to. */
  at: string;
  today: string | null;
  onAt: (date: string) => void;
  onOpen: (date: string, anchor: HTMLElement) => void;
}

export function YearGrid({ year, days, changed, covered, at, today, onAt, onOpen }: YearGridProps) {
  const w = useWords(calendarsWords);
  const box = useRef<HTMLDivElement>(null);
  const letters = w.weekdayLetters.split(" ");
  const here = at.startsWith(`${year}-`) ? at : `${year}-01-01`;
  const onKeyDown = (event: React.KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const next = days[days.findIndex((day) => day.date === here) + by];
    if (!next) return;
    event.preventDefault();
    onAt(next.date);
    box.current?.querySelector<HTMLElement>(`[data-date="${next.date}"]`)?.focus();
  };
  return (
    <div
      ref={box}
      role="group"
      aria-label={String(year)}
      data-testid="year-grid"
      className="grid grid-cols-2 gap-x-4 gap-y-4 @xl:grid-cols-3 @3xl:grid-cols-4"
      onKeyDown={onKeyDown}
    >
      {monthsOf(days).map((month, i) => (
        <section key={i} aria-label={`${w.month(i + 1)} ${year}`}>
          <h3 className="mb-1 font-semibold">{w.month(i + 1)}</h3>
          <div aria-hidden="true" className="grid grid-cols-7 text-center text-2xs text-ink-3">
            {letters.map((letter, k) => (
              <span key={k}>{letter}</span>
            ))}
          </div>
          <div className={cx("grid grid-cols-7 gap-y-0.5 rounded-md", !covered && "uncovered")}>
            {month.map((day, k) =>
              day ? (
                <Day
                  key={day.date}
                  day={day}
                  covered={covered}
                  changed={changed.has(day.date)}
                  today={day.date === today}
                  here={day.date === here}
                  onAt={onAt}
                  onOpen={onOpen}
                />
              ) : (
                <span key={`blank-${k}`} />
              ),
            )}
          </div>
        </section>
      ))}
    </div>
  );
}

interface DayProps extends Pick<YearGridProps, "onAt" | "onOpen" | "covered"> {
  day: YearDay;
  changed: boolean;
  today: boolean;
  here: boolean;
}

/** What a day is, for those who hear the page and as its title. */
export function useDayWords() {
  const w = useWords(calendarsWords);
  const said = useSaid();
  const m = useWords(marks);
  return (day: YearDay, covered = true) =>
    day.mark
      ? `${day.works ? w.makeUp : w.holiday}${day.mark.name ? m.colon + said(day.mark.name) : ""}`
      : `${day.works ? w.ordinary : w.weekend}${covered ? "" : m.comma + w.uncovered}`;
}

function Day({ day, covered, changed, today, here, onAt, onOpen }: DayProps) {
  const w = useWords(calendarsWords);
  const m = useWords(marks);
  const what = useDayWords();
  const parts = [
    `${w.weekday(day.weekday)} ${w.dateOf(day.date)}`,
    what(day, covered),
    ...(changed ? [w.changed] : []),
  ];
  const label = parts.join(m.comma);
  return (
    <button
      type="button"
      data-date={day.date}
      data-works={day.works}
      data-mark={day.mark?.kind ?? ""}
      tabIndex={here ? 0 : -1}
      aria-label={label}
      aria-current={today ? "date" : undefined}
      title={label}
      onFocus={() => onAt(day.date)}
      onClick={(event) => onOpen(day.date, event.currentTarget)}
      className="group flex h-6.5 items-center justify-center outline-none"
    >
      <DayFace day={day} changed={changed} today={today} />
    </button>
  );
}

export function DayFace({
  day,
  changed = false,
  today = false,
}: {
  day: Pick<YearDay, "date" | "works" | "mark">;
  changed?: boolean;
  today?: boolean;
}) {
  const kind = day.mark?.kind;
  return (
    <span
      className={cx(
        "relative flex size-6 items-center justify-center text-xs group-hover:bg-hover group-focus-visible:outline-2 group-focus-visible:outline-focus",
        kind === "off" && "rounded-full bg-lost-soft font-semibold text-lost ring-1 ring-lost/45 ring-inset",
        kind === "work" && "rounded-xs bg-ok-soft font-semibold text-ok ring-1 ring-ok/45 ring-inset",
        !kind && (day.works ? "rounded-sm text-ink" : "rounded-sm text-ink-3"),
        changed && "outline-2 outline-accent-ink outline-offset-1 outline-dashed",
        today && "underline decoration-2 decoration-accent-ink underline-offset-3",
      )}
    >
      {Number(day.date.slice(8))}
      {kind === "work" && (
        <span aria-hidden="true" className="absolute inset-x-1 bottom-0.5 h-0.5 rounded-full bg-ok" />
      )}
    </span>
  );
}
