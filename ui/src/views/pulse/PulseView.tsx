// Is all well? In one line first, then what needs a hand, then the detail: what comes in the next hour, what waits, what
// is under way, what went wrong, what did not fire and why.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { BellOff, Check, CircleAlert, Hand } from "lucide-react";
import { useCalmly, useLive } from "@/api/live";
import { pulseQuery } from "@/api/pulse";
import type { AlarmRow, InstanceRow, LaneView, OutcomesView, Pulse, Upcoming } from "@/api/types";
import {
  Answer,
  bySeverity,
  DueIn,
  Elapsed,
  InstanceStateBadge,
  LANES,
  PaceWords,
  RefusalNotice,
  Severity,
  ShardBar,
  stateWords,
  TaskState,
  View,
} from "@/components";
import { cx } from "@/lib/cx";
import { span } from "@/lib/relative";
import { figure, useLang, useSaid, useWords } from "@/lib/words";
import { Clip, Skeleton } from "@/primitives";
import { Away } from "./Away";
import { Card, Nothing } from "./Card";
import { FirstRun } from "./FirstRun";
import { NextHour } from "./NextHour";
import { pulseWords } from "./words";

export function PulseView() {
  const w = useWords(pulseWords);
  const pulse = useQuery(pulseQuery());
  return (
    <View title={w.title} lead={pulse.data && <Lead pulse={pulse.data} />} scroll>
      <Answer of={pulse} skeleton={<Outline />}>
        {(data) => (data.jobs === 0 ? <FirstRun /> : <Detail pulse={data} />)}
      </Answer>
      {pulse.data && pulse.isError && <RefusalNotice error={pulse.error} />}
    </View>
  );
}

function Lead({ pulse }: { pulse: Pulse }) {
  const w = useWords(pulseWords);
  const held = useLive(({ status }) => Boolean(status?.hold));
  if (pulse.jobs === 0) return null;
  const hands = pulse.alarms.filter((alarm) => alarm.state === "firing").length;
  const [icon, text, tone] = held
    ? [<Hand key="held" />, w.held, "text-warn"]
    : hands > 0
      ? [<CircleAlert key="hands" />, w.hands(hands), "text-bad"]
      : [<Check key="well" />, w.well, "text-ok"];
  return (
    <span className={cx("inline-flex items-center gap-1.5 font-medium [&_svg]:size-4", tone)}>
      {icon}
      {text}
    </span>
  );
}

function Detail({ pulse }: { pulse: Pulse }) {
  const w = useWords(pulseWords);
  const status = useCalmly((live) => live.status);
  const total = pulse.next_hour.reduce((sum, minute) => sum + minute.firings, 0);
  return (
    <div className="@container">
      <div className="grid grid-cols-6 gap-3">
        <Card className="col-span-6 @4xl:col-span-4" title={w.nextHour} note={w.firingsInHour(total)}>
          <NextHour minutes={pulse.next_hour} />
        </Card>
        <Card className="col-span-3 @4xl:col-span-2" title={w.upcoming} flush>
          <UpcomingList upcoming={pulse.upcoming} />
        </Card>
        <Card className="col-span-3 @4xl:col-span-2" title={w.lanes}>
          <Lanes lanes={status?.lanes ?? []} />
        </Card>
        <Card className="col-span-3 @4xl:col-span-2" title={w.success}>
          <Outcomes outcomes={pulse.outcomes} />
        </Card>
        <Card
          className="col-span-3 @4xl:col-span-2"
          title={w.running}
          note={status ? figure(status.running) : undefined}
          flush
        >
          <Running running={pulse.running} />
        </Card>
        {pulse.sharded.length > 0 && (
          <Card className="col-span-6" title={w.sharded} note={figure(pulse.sharded.length)} flush>
            <Sharded runs={pulse.sharded} />
          </Card>
        )}
        <Card
          className="col-span-6 @4xl:col-span-3"
          title={w.alarms}
          flush
          action={
            <Link to="/alarms" className="text-accent-ink text-xs hover:underline">
              {w.allAlarms}
            </Link>
          }
        >
          <Alarms alarms={pulse.alarms} />
        </Card>
        <Away className="col-span-6 @4xl:col-span-3" />
      </div>
    </div>
  );
}

function UpcomingList({ upcoming }: { upcoming: readonly Upcoming[] }) {
  const w = useWords(pulseWords);
  if (upcoming.length === 0) return <Nothing>{w.noUpcoming}</Nothing>;
  return (
    <ul>
      {upcoming.slice(0, 5).map((each, i) => (
        <li key={`${each.job}-${each.due.ms}-${i}`}>
          <Link to="/jobs/$job" params={{ job: each.job }} className="flex h-7 items-center gap-3 px-4 hover:bg-hover">
            <Clip className="flex-1">{each.name}</Clip>
            <span className="shrink-0 text-ink-2">{each.due.text.slice(11, 16)}</span>
            <span className="w-20 shrink-0 text-right">
              <DueIn at={each.due.ms} quiet />
            </span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Lanes({ lanes }: { lanes: readonly LaneView[] }) {
  const w = useWords(pulseWords);
  const s = useWords(stateWords);
  const lang = useLang();
  const most = Math.max(20, ...lanes.map((lane) => lane.depth));
  return (
    <ul className="flex flex-col gap-1.5">
      {LANES.map((name) => {
        const lane = lanes.find((each) => each.lane === name);
        const depth = lane?.depth ?? 0;
        return (
          <li key={name} className="grid grid-cols-[72px_1fr_48px_84px] items-center gap-2">
            <span className={depth === 0 ? "text-ink-3" : ""}>{s.lane[name]}</span>
            <span className="h-1.5 overflow-hidden rounded-full bg-sunken">
              <span
                className="block h-full rounded-full bg-queued transition-[width] duration-200"
                style={{ width: depth === 0 ? 0 : `${Math.max(2, Math.sqrt(depth / most) * 100)}%` }}
              />
            </span>
            <span className={cx("text-right", depth === 0 ? "text-ink-3" : "font-medium")}>{figure(depth)}</span>
            <span className="truncate text-right text-ink-3 text-xs">
              {lane?.oldest_wait_ms ? span(lane.oldest_wait_ms, lang) : depth === 0 ? w.empty : ""}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

function Outcomes({ outcomes }: { outcomes: OutcomesView }) {
  const w = useWords(pulseWords);
  const { succeeded, failed, rate } = outcomes;
  if (rate === null) return <Nothing>{w.noOutcome}</Nothing>;
  const text = (rate * 100).toFixed(rate === 1 || rate === 0 ? 0 : 1);
  return (
    <div className="flex h-full flex-col justify-center gap-3">
      <div className="flex items-baseline gap-2">
        <span className="font-semibold text-2xl tracking-tight">{text}%</span>
        <span className="text-ink-3">{w.rate}</span>
      </div>
      <div className="flex h-2 gap-0.5 overflow-hidden rounded-full">
        {succeeded > 0 && <span className="rounded-full bg-ok" style={{ flexGrow: succeeded }} />}
        {failed > 0 && <span className="min-w-1.5 rounded-full bg-bad" style={{ flexGrow: failed }} />}
      </div>
      <div className="flex justify-between text-xs">
        <span className="text-ok">✓ {w.succeeded(succeeded)}</span>
        <span className={failed > 0 ? "text-bad" : "text-ink-3"}>✕ {w.failed(failed)}</span>
      </div>
    </div>
  );
}

function Running({ running }: { running: readonly InstanceRow[] }) {
  const w = useWords(pulseWords);
  if (running.length === 0) return <Nothing>{w.nothingRuns}</Nothing>;
  return (
    <ul>
      {running.slice(0, 5).map((instance) => {
        const task = instance.tasks[0];
        return (
          <li key={instance.id} className="flex h-7 items-center gap-2.5 px-4">
            {task ? <TaskState code={task.state} brief /> : <InstanceStateBadge state={instance.state} brief />}
            <Link
              to="/jobs/$job"
              params={{ job: instance.job }}
              className="min-w-0 flex-1 truncate hover:underline"
              title={instance.job_name}
            >
              {instance.job_name}
            </Link>
            <span className="shrink-0 text-ink-3 text-xs">
              <Elapsed since={(instance.started ?? instance.due).ms} />
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** What is cut into shards and under way, with how far it is. */
function Sharded({ runs }: { runs: readonly InstanceRow[] }) {
  return (
    <ul data-testid="pulse-sharded">
      {runs.map(
        (run) =>
          run.sharding && (
            <li key={run.id}>
              <Link
                to="/runs/$instance"
                params={{ instance: run.id }}
                className="grid h-8 grid-cols-[minmax(120px,1fr)_minmax(160px,2fr)_minmax(180px,1fr)] items-center gap-4 px-4 hover:bg-hover"
              >
                <Clip className="font-medium">{run.job_name}</Clip>
                <ShardBar of={run.sharding} />
                <span className="flex min-w-0 justify-end gap-3 truncate text-ink-3 text-xs">
                  <PaceWords of={run.sharding} run={run.id} since={run.started?.ms ?? null} />
                </span>
              </Link>
            </li>
          ),
      )}
    </ul>
  );
}

function Alarms({ alarms }: { alarms: readonly AlarmRow[] }) {
  const w = useWords(pulseWords);
  const said = useSaid();
  if (alarms.length === 0) return <Nothing icon={<BellOff />}>{w.noAlarms}</Nothing>;
  return (
    <ul>
      {alarms
        .toSorted((a, b) => bySeverity(a.severity, b.severity) || b.last.ms - a.last.ms)
        .slice(0, 6)
        .map((alarm) => (
          <li key={alarm.id}>
            <Link
              to="/alarms"
              search={{ alarm: alarm.id }}
              className="flex h-8 items-center gap-2.5 px-4 hover:bg-hover"
            >
              <span className="flex w-23 shrink-0">
                <Severity level={alarm.severity} />
              </span>
              <Clip className={cx("flex-1", alarm.state !== "firing" && "text-ink-3")}>{said(alarm.message)}</Clip>
              {alarm.count > 1 && <span className="shrink-0 text-ink-3 text-xs">{w.times(alarm.count)}</span>}
              <span className="w-20 shrink-0 text-right">
                <DueIn at={alarm.last.ms} quiet />
              </span>
            </Link>
          </li>
        ))}
    </ul>
  );
}

function Outline() {
  return (
    <div className="grid grid-cols-6 gap-3" aria-hidden="true">
      {[4, 2, 2, 2, 2, 3, 3].map((width, i) => (
        <div key={i} className="panel h-40 p-4" style={{ gridColumn: `span ${width}` }}>
          <div className="w-28">
            <Skeleton className="h-3 w-full" />
          </div>
        </div>
      ))}
    </div>
  );
}
