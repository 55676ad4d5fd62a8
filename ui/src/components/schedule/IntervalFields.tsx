// So much time from one to the next, by the clock or by how the last one ended.
import { useWords } from "@/lib/words";
import { Segmented } from "@/primitives";
import { optionsOf, type SchedulePartProps, SpanField, WallField, ZoneField } from "./fields";
import type { ScheduleDraft } from "./schedule";
import { scheduleWords } from "./words";

/** `rateOnly`: there is no end to count from. */
export function IntervalFields({ rateOnly = false, ...props }: SchedulePartProps & { rateOnly?: boolean }) {
  const { draft, set, error } = props;
  const w = useWords(scheduleWords);
  const { interval } = draft;
  const change = (part: Partial<ScheduleDraft["interval"]>) =>
    set((old) => ({ interval: { ...old.interval, ...part } }));
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-1">
      <SpanField
        label={w.interval.every}
        every={interval.every}
        unit={interval.unit}
        onChange={change}
        error={error("schedule.everySeconds")}
      />
      {!rateOnly && (
        <Segmented
          className="col-span-2"
          label={w.interval.kind}
          value={interval.kind}
          onChange={(kind) => change({ kind })}
          options={optionsOf(w.interval.kinds)}
        />
      )}
      <Segmented
        label={w.interval.starts}
        value={interval.starts}
        onChange={(starts) => change({ starts })}
        options={optionsOf(w.interval.startsKinds)}
      />
      {interval.starts === "at" && (
        <>
          <WallField
            label={w.date}
            value={interval.start}
            onChange={(start) => change({ start })}
            error={error("schedule.startTime")}
          />
          <ZoneField {...props} />
        </>
      )}
    </div>
  );
}
