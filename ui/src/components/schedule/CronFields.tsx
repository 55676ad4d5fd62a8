// A cron expression: which dialect, which part is what, where in it the fault stands, and both readings where six fields
// could be read in two ways.
import { useQuery } from "@tanstack/react-query";
import { call, getZone } from "@/api/door";
import type { Fault } from "@/api/types";
import { cx } from "@/lib/cx";
import { marks, useLang, useSaid, useWords } from "@/lib/words";
import { Select, TextField } from "@/primitives";
import { ClockFields } from "./ClockFields";
import { type CronPart, cronParts, marked } from "./cronParts";
import { type SchedulePartProps, ZoneField } from "./fields";
import type { ScheduleDraft } from "./schedule";
import { scheduleWords } from "./words";

const DIALECTS = ["auto", "unix", "seconds", "quartz"] as const;

export function CronFields({ faults, ...props }: SchedulePartProps & { faults: readonly Fault[] }) {
  const { draft, set, error } = props;
  const t = useWords(scheduleWords).cron;
  const { cron } = draft;
  const change = (part: Partial<ScheduleDraft["cron"]>) => set((old) => ({ cron: { ...old.cron, ...part } }));
  const message = error("schedule.expression");
  const span = message ? faults.find((fault) => fault.field === "schedule.expression")?.span : undefined;
  const six = cron.dialect === "auto" && cron.expression.trim().split(/\s+/).length === 6;
  return (
    <div className="grid grid-cols-2 gap-x-4 gap-y-1">
      <div className="col-span-2">
        <TextField
          code
          required
          label={t.expression}
          value={cron.expression}
          onChange={(expression) => change({ expression })}
          error={message}
          inputClassName="text-sm tracking-wide"
        />
        <Legend expression={cron.expression} dialect={cron.dialect} span={span} />
      </div>
      {six && <Readings draft={draft} onPick={(dialect) => change({ dialect })} />}
      <ZoneField {...props} />
      <Select
        label={t.dialect}
        value={cron.dialect}
        onChange={(dialect) => change({ dialect })}
        error={error("schedule.dialect")}
        hint={t.details[cron.dialect]}
        options={DIALECTS.map((value) => ({ value, label: t.dialects[value], detail: t.details[value] }))}
      />
      <ClockFields {...props} />
    </div>
  );
}

interface LegendProps {
  expression: string;
  dialect: ScheduleDraft["cron"]["dialect"];
  span: readonly [number, number] | undefined;
}

/** The expression taken apart: under each field what it is, and a mark under the characters that are wrong. */
function Legend({ expression, dialect, span }: LegendProps) {
  const t = useWords(scheduleWords).cron;
  const m = useWords(marks);
  const parts = cronParts(expression, dialect);
  return (
    <ol className="mb-2 flex min-h-10.5 flex-wrap gap-1.5">
      {parts.map((part) => (
        <li
          key={part.from}
          className={cx(
            "flex min-w-0 flex-col items-center rounded-md px-2 py-0.5 ring-1 ring-inset",
            hit(part, span) ? "bg-bad-soft ring-bad/40" : "bg-sunken ring-line",
          )}
        >
          <code className="max-w-full truncate text-xs" title={part.text}>
            {marked(part, span).map(({ text, bad }, i) => (
              <span
                key={i}
                className={bad ? "text-bad underline decoration-2 decoration-wavy underline-offset-3" : undefined}
              >
                {text}
              </span>
            ))}
          </code>
          <span className={cx("text-2xs", hit(part, span) ? "text-bad" : "text-ink-3")}>
            {hit(part, span) && t.here + m.colon}
            {part.field === null ? "—" : t.fields[part.field]}
          </span>
        </li>
      ))}
    </ol>
  );
}

function hit(part: CronPart, span: readonly [number, number] | undefined): boolean {
  return span !== undefined && span[0] < part.from + part.text.length && span[1] > part.from;
}

/** What a six-field expression comes to in each of its two readings, to choose one of. */
function Readings({ draft, onPick }: { draft: ScheduleDraft; onPick: (dialect: "seconds" | "quartz") => void }) {
  const t = useWords(scheduleWords).cron;
  const said = useSaid();
  const lang = useLang();
  const { zone, dstGap, dstOverlap, cron } = draft;
  const read = useQuery({
    queryKey: ["readings", cron.expression, zone, lang, getZone()],
    staleTime: 60_000,
    retry: false,
    queryFn: () =>
      Promise.all(
        (["seconds", "quartz"] as const).map(async (dialect) => {
          const schedule = {
            kind: "cron" as const,
            expression: cron.expression.trim(),
            dialect,
            timeZone: zone,
            dstGap,
            dstOverlap,
          };
          // Asked as a job is judged: a reading that cannot be is an answer there, and not a refusal.
          const spec = { name: "readings", processor: "shell", schedule };
          const { faults, preview } = await call("check_job", { spec });
          const wrong = faults.find((fault) => fault.field?.startsWith("schedule"));
          if (wrong || !preview) return { dialect, words: wrong?.message ?? { en: "", zh: "" }, next: null };
          return { dialect, words: preview.words, next: preview.runs.slice(0, 2).map((run) => run.due.text) };
        }),
      ),
  });
  return (
    <div role="group" aria-label={t.twoReadings} className="col-span-2 mb-2">
      <p className="mb-1 text-warn text-xs">{t.twoReadings}</p>
      <div className="grid grid-cols-2 gap-2">
        {(read.data ?? []).map(({ dialect, words, next }) => (
          <button
            key={dialect}
            type="button"
            disabled={next === null}
            onClick={() => onPick(dialect)}
            className="min-w-0 rounded-md bg-surface px-3 py-2 text-left ring-1 ring-line-strong ring-inset enabled:hover:bg-hover disabled:bg-sunken"
          >
            <span className="block font-medium">{t.read(t.dialects[dialect])}</span>
            <span className={cx("block", next === null ? "text-ink-3" : "text-ink-2")}>{said(words)}</span>
            <span className="block text-ink-3 text-xs">{next === null ? t.none : next.join(" · ")}</span>
          </button>
        ))}
      </div>
    </div>
  );
}
