// How the things of this product look wherever they are named.
//
//   <TaskState code={202} />  <InstanceStateBadge state="running" />    shape + number + name, one size
//   <OutcomeStrip outcomes={[{ state, id, title }]} />                  the last firings, oldest left
//   <DueIn at={ms} text="14:05" />                                       the node's text, and how far off it is
//   <JobName name tenant /> <ScheduleWords text expression /> <Severity level /> <LaneName lane />
import { AlertOctagon, AlertTriangle, Info, Siren } from "lucide-react";
import type { ReactNode } from "react";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { relative, span } from "@/lib/relative";
import { useLang, useWords } from "@/lib/words";
import { Clip, Hint, type Tone, toneSoft, toneText, toneVar } from "@/primitives";
import { Glyph } from "./StateGlyph";
import { instanceLook, instanceState, isTaskCode, stateWords, taskLook } from "./states";

export function TaskState({ code, brief = false }: { code: number; brief?: boolean }) {
  const w = useWords(stateWords);
  if (!isTaskCode(code)) return <span>{code}</span>;
  const look = taskLook[code];
  return (
    <span
      className="inline-flex items-center gap-1.5 whitespace-nowrap"
      title={`${code} ${w.task[code]}: ${w.taskMeaning[code]}`}
    >
      <Glyph shape={look.shape} tone={look.tone} />
      {/* On the line of the words beside it, wherever it stands. */}
      <span className="self-baseline text-ink-3 text-xs leading-5">{code}</span>
      {!brief && <span className={cx("self-baseline", toneText[look.tone])}>{w.task[code]}</span>}
    </span>
  );
}

export function InstanceStateBadge({ state, brief = false }: { state: string; brief?: boolean }) {
  const w = useWords(stateWords);
  const known = instanceState(state);
  const look = instanceLook[known];
  return (
    <span className="inline-flex items-center gap-1.5 whitespace-nowrap" title={w.instance[known]}>
      <Glyph shape={look.shape} tone={look.tone} />
      {!brief && <span className={cx("self-baseline", toneText[look.tone])}>{w.instance[known]}</span>}
      {brief && <span className="sr-only">{w.instance[known]}</span>}
    </span>
  );
}

export interface Outcome {
  id: string;
  state: string;
  title?: string;
}

/** A mark for each of the last firings, newest at the right: height and notch tell the outcome apart, not the colour alone. */
export function OutcomeStrip({ outcomes, most = 14 }: { outcomes: readonly Outcome[]; most?: number }) {
  const w = useWords(stateWords);
  const shown = outcomes.slice(-most);
  if (shown.length === 0) return null;
  const label = shown.map((each) => w.instance[instanceState(each.state)]).join(", ");
  return (
    <svg width={most * 6} height={16} role="img" aria-label={label} className="shrink-0">
      <title>{label}</title>
      {shown.map((each, i) => {
        const state = instanceState(each.state);
        const x = (most - shown.length + i) * 6;
        const fill = toneVar[instanceLook[state].tone];
        if (state === "succeeded") return <rect key={each.id} x={x} y={3} width={4} height={10} rx={1.2} fill={fill} />;
        if (state === "failed")
          return (
            <g key={each.id} fill={fill}>
              <rect x={x} y={1} width={4} height={9} rx={1.2} />
              <rect x={x} y={12} width={4} height={3} rx={1.2} />
            </g>
          );
        if (state === "running")
          return <rect key={each.id} x={x} y={3} width={4} height={10} rx={1.2} fill={fill} className="breathing" />;
        if (state === "missed" || state === "skipped")
          return <rect key={each.id} x={x + 0.5} y={11.5} width={3} height={3} rx={1.2} fill={fill} />;
        return (
          <rect
            key={each.id}
            x={x + 0.6}
            y={5.6}
            width={2.8}
            height={6.8}
            rx={1.2}
            fill="none"
            stroke={fill}
            strokeWidth={1.2}
          />
        );
      })}
    </svg>
  );
}

/** When something is due or was: the node's own words for the time, and the distance, which moves. */
export function DueIn({ at, text, quiet = false }: { at: number; text?: string | null | undefined; quiet?: boolean }) {
  const now = useNow();
  const lang = useLang();
  const distance = relative(at, now, lang);
  return (
    <span className="inline-flex min-w-0 items-baseline gap-1.5" title={text ? `${text} · ${distance}` : distance}>
      {text && <span className="truncate">{text}</span>}
      <span className={cx("shrink-0 text-xs", quiet || text ? "text-ink-3" : "")}>{distance}</span>
    </span>
  );
}

/** How long something has been going on, counting. */
export function Elapsed({ since, until }: { since: number; until?: number | null | undefined }) {
  const now = useNow();
  const lang = useLang();
  return <span>{span((until ?? now) - since, lang)}</span>;
}

export function JobName({
  name,
  tenant,
  paused,
  className,
}: {
  name: string;
  tenant?: string | null;
  paused?: boolean;
  className?: string;
}) {
  return (
    <span
      className={cx("prose-nums flex min-w-0 items-baseline gap-1.5", className)}
      title={tenant ? `${tenant} / ${name}` : name}
    >
      <span className={cx("truncate font-medium", paused && "text-ink-3")}>{name}</span>
      {tenant && <span className="max-w-[45%] shrink truncate text-ink-3 text-xs">{tenant}</span>}
    </span>
  );
}

export function ScheduleWords({ text, expression }: { text: string; expression?: string | null | undefined }) {
  const body = (
    <Clip className="text-ink-2" title={expression ? `${text}\n${expression}` : text}>
      {text}
    </Clip>
  );
  return body;
}

export type SeverityLevel = "info" | "warning" | "critical" | "emergency";

const SEVERITY: Record<SeverityLevel, { tone: Tone; icon: ReactNode }> = {
  info: { tone: "running", icon: <Info /> },
  warning: { tone: "warn", icon: <AlertTriangle /> },
  critical: { tone: "bad", icon: <AlertOctagon /> },
  emergency: { tone: "bad", icon: <Siren /> },
};

const GRAVITY: readonly SeverityLevel[] = ["emergency", "critical", "warning", "info"];

/** For sorting: the gravest first. */
export function bySeverity(a: SeverityLevel, b: SeverityLevel): number {
  return GRAVITY.indexOf(a) - GRAVITY.indexOf(b);
}

export function severityTone(level: SeverityLevel): Tone {
  return SEVERITY[level].tone;
}

export function Severity({ level, brief = false }: { level: SeverityLevel; brief?: boolean }) {
  const w = useWords(stateWords);
  const { tone, icon } = SEVERITY[level];
  const mark = (
    <span
      className={cx(
        "inline-flex h-5 items-center gap-1 whitespace-nowrap rounded-sm px-1.5 text-2xs [&_svg]:size-3.5",
        level === "emergency" ? "bg-bad text-surface" : toneSoft[tone],
      )}
    >
      {icon}
      {!brief && w.severity[level]}
      {brief && <span className="sr-only">{w.severity[level]}</span>}
    </span>
  );
  return brief ? <Hint text={w.severity[level]}>{mark}</Hint> : mark;
}

export type Lane = "immediate" | "high" | "retry" | "normal" | "low";
export const LANES: readonly Lane[] = ["immediate", "high", "retry", "normal", "low"];

export function LaneName({ lane }: { lane: Lane }) {
  const w = useWords(stateWords);
  return <span>{w.lane[lane]}</span>;
}
