// What a day of the calendar is, and what it shall be: as the week has it, a day off or a working day, with a name.
import { useMemo, useState } from "react";
import { Dialog, Popover } from "react-aria-components";
import type { Words } from "@/api/types";
import { getLang, useSaid, useWords } from "@/lib/words";
import { Button, Segmented, TextField } from "@/primitives";
import { calendarsWords } from "./calendarWords";
import type { YearDay } from "./working";
import { useDayWords } from "./YearGrid";

export interface DayChange {
  kind: "off" | "work";
  name: Words | null;
}

interface DayPopoverProps {
  day: YearDay;
  covered: boolean;
  anchor: HTMLElement;
  /** Where the change is written. */
  layer: string;
  onChange: (mark: DayChange | null) => void;
  onClose: () => void;
}

export function DayPopover({ day, covered, anchor, layer, onChange, onClose }: DayPopoverProps) {
  const w = useWords(calendarsWords);
  const said = useSaid();
  const what = useDayWords();
  const trigger = useMemo(() => ({ current: anchor }), [anchor]);
  // One opens a day to make of it what it is not.
  const [kind, setKind] = useState<"week" | "off" | "work">(day.mark ? day.mark.kind : day.works ? "off" : "work");
  const [name, setName] = useState(day.mark?.name ? said(day.mark.name) : "");
  const apply = () => {
    const text = name.trim();
    // A name that is kept keeps its other language.
    const kept = day.mark?.name;
    const words = text === "" ? null : kept && kept[getLang()] === text ? kept : { en: text, zh: text };
    onChange(kind === "week" ? null : { kind, name: words });
    onClose();
  };
  return (
    <Popover
      triggerRef={trigger}
      isOpen
      onOpenChange={(open) => !open && onClose()}
      placement="right top"
      offset={6}
      className="enter-pop w-80 rounded-lg bg-surface shadow-pop"
      data-overlay=""
      data-testid="day-popover"
    >
      <Dialog aria-label={w.dateOf(day.date)} className="outline-none">
        <form
          className="flex flex-col gap-1 px-4 pt-3 pb-3"
          onSubmit={(event) => {
            event.preventDefault();
            apply();
          }}
        >
          <div className="font-semibold text-md">
            {w.weekday(day.weekday)} {w.dateOf(day.date)}
          </div>
          <p className="mb-2 text-ink-2">{what(day, covered)}</p>
          <Segmented<"week" | "off" | "work">
            bare
            label={w.dateOf(day.date)}
            value={kind}
            onChange={setKind}
            size="sm"
            options={(["week", "off", "work"] as const).map((value) => ({ value, label: w.kinds[value] }))}
            className="mb-2"
          />
          {kind !== "week" && <TextField autoFocus label={w.name} hint={w.nameHint} value={name} onChange={setName} />}
          <div className="flex items-center gap-2">
            <span className="min-w-0 flex-1 text-ink-3 text-xs">{w.writesInto(layer)}</span>
            <Button variant="primary" size="sm" type="submit">
              {w.apply}
            </Button>
          </div>
        </form>
      </Dialog>
    </Popover>
  );
}
