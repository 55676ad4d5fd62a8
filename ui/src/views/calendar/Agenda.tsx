// The same firings as a list, day under day: for reading rather than for moving.
import { useLayoutEffect, useRef } from "react";
import type { CalendarEntry, CalendarView } from "@/api/calendar";
import { InstanceStateBadge } from "@/components";
import { clock } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { BlackoutMark } from "./BlackoutBands";
import { useEntryTitle } from "./Chip";
import { DayMarks } from "./DayMarks";
import { Mark } from "./EntryPopover";
import { keyOf } from "./moving";
import type { Opened } from "./WeekGrid";
import { calendarWords } from "./words";
import "./hues.css";

interface AgendaProps {
  week: CalendarView;
  onOpen: (opened: Opened) => void;
  onMenu: (entry: CalendarEntry, at: { x: number; y: number }) => void;
}

export function Agenda({ week, onOpen, onMenu }: AgendaProps) {
  const w = useWords(calendarWords);
  const said = useSaid();
  const title = useEntryTitle();
  const box = useRef<HTMLDivElement>(null);
  const first = week.days[0]?.date;
  // Opens at today, where it is among the days.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another week is what this waits for
  useLayoutEffect(() => {
    box.current?.querySelector("[data-today=true]")?.scrollIntoView({ block: "start" });
  }, [first]);
  return (
    <div
      ref={box}
      data-testid="calendar-agenda"
      className="h-full overflow-y-auto border-line border-t bg-surface pb-6"
    >
      {week.days.map((day, i) => {
        const entries = week.entries.filter((entry) => entry.day === i);
        const bands = week.bands.filter((band) => band.day === i);
        return (
          <section
            key={day.date}
            data-today={day.today}
            aria-label={`${w.longWeekday(day.weekday)} ${w.dayOf(day.date)}`}
          >
            <h2
              className={cx(
                "sticky top-0 z-1 flex h-9 items-center gap-2 border-line border-b bg-canvas px-5 font-semibold",
                day.today && "text-accent-ink",
              )}
            >
              {w.longWeekday(day.weekday)}
              <span className="font-normal text-ink-2">{w.dayOf(day.date)}</span>
              {day.today && <span className="rounded-full bg-accent px-2 text-2xs text-on-accent">{w.today}</span>}
              <DayMarks day={day} />
              <BlackoutMark day={day} named onOpen={(spans, anchor) => onOpen({ is: "blackouts", spans, anchor })} />
              {day.clock_change && (
                <span className="truncate font-normal text-warn text-xs">{said(day.clock_change)}</span>
              )}
            </h2>
            {entries.length + bands.length === 0 && <p className="px-5 py-2 text-ink-3 text-xs">{w.agenda.nothing}</p>}
            {bands.map((band) => (
              <button
                key={`${band.job}-${band.from_minute}`}
                type="button"
                data-hue={band.hue % 12}
                onClick={(event) => onOpen({ is: "band", band, anchor: event.currentTarget })}
                className="flex h-8 w-full items-center gap-3 border-line border-b px-5 text-left outline-none hover:bg-hover focus-visible:bg-hover"
              >
                <span className="w-11 shrink-0 text-ink-3 text-xs">{clock(band.from_minute)}</span>
                <span className="mx-1.5 h-3.5 w-1 shrink-0 rounded-full bg-(--job-edge)" />
                <span className="w-56 min-w-0 shrink truncate font-medium">{band.name}</span>
                <span className="min-w-0 flex-1 truncate text-ink-2">
                  {w.agenda.band(
                    band.count,
                    clock(band.from_minute),
                    band.to_minute >= 1440 ? "24:00" : clock(band.to_minute),
                  )}
                </span>
              </button>
            ))}
            {entries.map((entry) => (
              <button
                key={keyOf(entry)}
                type="button"
                data-testid="calendar-entry"
                data-key={keyOf(entry)}
                data-job={entry.job}
                data-name={entry.name}
                data-planned={entry.planned ?? ""}
                data-state={entry.state ?? ""}
                data-hue={entry.hue % 12}
                title={title(entry)}
                onClick={(event) => onOpen({ is: "entries", entries: [entry], anchor: event.currentTarget })}
                onContextMenu={(event) => {
                  event.preventDefault();
                  onMenu(entry, { x: event.clientX, y: event.clientY });
                }}
                className="flex h-8 w-full items-center gap-3 border-line border-b px-5 text-left outline-none [contain-intrinsic-size:auto_32px] [content-visibility:auto] hover:bg-hover focus-visible:bg-hover"
              >
                <span className="w-11 shrink-0 text-xs">{clock(entry.minute)}</span>
                <Mark entry={entry} />
                <span className="w-56 min-w-0 shrink truncate font-medium">{entry.name}</span>
                <span className="min-w-0 flex-1 truncate text-ink-2">{said(entry.reason ?? entry.words)}</span>
                {entry.state && <InstanceStateBadge state={entry.state} />}
              </button>
            ))}
          </section>
        );
      })}
    </div>
  );
}
