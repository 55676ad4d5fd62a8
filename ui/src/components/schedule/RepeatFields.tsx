// A repetition, read as a sentence: every so many days, weeks or months, on which days, from when, until when.
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { Field, NumberField, Segmented, TextField } from "@/primitives";
import { ClockFields } from "./ClockFields";
import { optionsOf, type SchedulePartProps, WallField, ZoneField } from "./fields";
import { type Level, readDays, type ScheduleDraft, withDay } from "./schedule";
import { scheduleWords } from "./words";

const LEVELS: readonly Level[] = ["hour", "day", "week", "month", "year", "workday"];
const FROM_START = Array.from({ length: 31 }, (_, i) => i + 1);
const FROM_END = [-1, -2, -3, -4, -5];

/** `windows`: it is not runs that repeat. */
export function RepeatFields({ windows = false, ...props }: SchedulePartProps & { windows?: boolean }) {
  const { draft, set, error } = props;
  const t = useWords(scheduleWords).repeat;
  const { repeat } = draft;
  const change = (part: Partial<ScheduleDraft["repeat"]>) => set((old) => ({ repeat: { ...old.repeat, ...part } }));
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-1">
      <div className="col-span-2 flex flex-wrap items-start gap-x-2">
        <NumberField
          className="w-24"
          label={t.every}
          min={1}
          value={repeat.interval}
          onChange={(interval) => change({ interval })}
          error={error("schedule.repeatInterval")}
        />
        <Segmented<Level>
          bare
          className="mt-5.5"
          label={t.levelLabel}
          value={repeat.level}
          onChange={(level) => change({ level })}
          options={LEVELS.map((value) => ({ value, label: t.unit(value, repeat.interval ?? 1) }))}
        />
      </div>
      {repeat.level === "week" && (
        <Field className="col-span-2" label={t.weekdays} hint={t.dayHint} error={error("schedule.repeatDays")}>
          {(aria) => <Weekdays {...aria} value={repeat.weekdays} onChange={(weekdays) => change({ weekdays })} />}
        </Field>
      )}
      {repeat.level === "month" && (
        <MonthDays
          value={repeat.monthDays}
          onChange={(monthDays) => change({ monthDays })}
          error={error("schedule.repeatDays")}
        />
      )}
      {repeat.level === "workday" && (
        <p className="col-span-2 mb-1 text-ink-3 text-xs">{windows ? t.workdayHintShared : t.workdayHint}</p>
      )}
      <WallField
        label={windows ? t.firstTime : t.firstRun}
        hint={repeat.level === "hour" ? "" : t.firstRunHint}
        value={repeat.start}
        onChange={(start) => change({ start })}
        error={error("schedule.startTime")}
      />
      <ZoneField {...props} />
      <div className="col-span-2 flex flex-wrap items-start gap-x-3">
        <Segmented
          label={t.ends}
          value={repeat.ends}
          onChange={(ends) => change({ ends })}
          options={optionsOf(t.endsKinds)}
        />
        {repeat.ends === "on" && (
          <WallField
            label={t.endsOn}
            value={repeat.endsOn}
            onChange={(endsOn) => change({ endsOn })}
            error={error("schedule.endTime")}
          />
        )}
        {repeat.ends === "count" && (
          <NumberField
            className="w-36"
            label={windows ? t.endsCountTimes : t.endsCount}
            min={1}
            value={repeat.count}
            onChange={(count) => change({ count })}
            error={error("schedule.count")}
          />
        )}
      </div>
      <ClockFields {...props} />
    </div>
  );
}

/** Looks of one of many that can be on together. */
const toggle = (on: boolean) =>
  cx(
    "h-7 rounded-md ring-1 ring-inset transition-colors duration-100",
    on
      ? "bg-accent-soft font-medium text-accent-ink ring-accent-ink"
      : "bg-surface text-ink-2 ring-line-strong hover:bg-hover",
  );

interface WeekdaysProps {
  id: string;
  "aria-describedby": string;
  value: readonly number[];
  onChange: (value: number[]) => void;
}

function Weekdays({ id, value, onChange, "aria-describedby": describedBy }: WeekdaysProps) {
  const names = useWords(scheduleWords).repeat.weekdayNames.split(" ");
  return (
    <div id={id} role="group" aria-describedby={describedBy} className="flex flex-wrap gap-1">
      {names.map((name, i) => {
        const day = i + 1;
        const on = value.includes(day);
        return (
          <button
            key={name}
            type="button"
            aria-pressed={on}
            onClick={() => onChange(on ? value.filter((each) => each !== day) : [...value, day])}
            className={cx(toggle(on), "min-w-11 px-2")}
          >
            {name}
          </button>
        );
      })}
    </div>
  );
}

interface MonthDaysProps {
  value: string;
  onChange: (value: string) => void;
  error: string | null;
}

/** Written or clicked: the days as text, and the same days to be turned on and off. */
function MonthDays({ value, onChange, error }: MonthDaysProps) {
  const t = useWords(scheduleWords).repeat;
  const days = readDays(value) ?? [];
  const one = (day: number, label: string, className: string) => (
    <button
      key={day}
      type="button"
      aria-pressed={days.includes(day)}
      onClick={() => onChange(withDay(days, day).join(", "))}
      className={cx(toggle(days.includes(day)), className)}
    >
      {label}
    </button>
  );
  return (
    <div className="col-span-2 flex min-w-0 flex-col gap-1.5">
      <TextField
        label={t.monthDays}
        hint={t.dayHint}
        value={value}
        onChange={onChange}
        error={error}
        placeholder="1, 15, -1"
      />
      <div role="group" aria-label={t.daysOf} className="grid grid-cols-8 gap-1 @xl:grid-cols-16">
        {FROM_START.map((day) => one(day, String(day), "text-xs"))}
      </div>
      <div role="group" aria-label={t.fromEnd} className="mb-2 flex flex-wrap items-center gap-1">
        <span className="mr-1 text-ink-3 text-xs">{t.fromEnd}</span>
        {FROM_END.map((day) => one(day, t.last(-day), "px-2 text-xs"))}
      </div>
    </div>
  );
}
