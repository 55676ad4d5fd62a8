// One run: what became of it and why when, its tasks and their steps, what it got, gave and wrote; and what can be done.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useRouter } from "@tanstack/react-router";
import { ChevronLeft, CircleX, OctagonX, Play, RotateCcw } from "lucide-react";
import { useRef, useState } from "react";
import { instanceQuery, useCancelInstances, useRetryInstances } from "@/api/instances";
import { jobQuery } from "@/api/jobs";
import type { InstanceDetail, TaskRow } from "@/api/types";
import { Answer, DueIn, InstanceStateBadge, RefusalNotice, View } from "@/components";
import { useHotkey } from "@/lib/hotkeys";
import { useWider } from "@/lib/width";
import { useSaid, useWords } from "@/lib/words";
import {
  Button,
  CodeBlock,
  Dialog,
  Facts,
  IconButton,
  Notice,
  Section,
  Segmented,
  SkeletonRows,
  Tabs,
  toast,
} from "@/primitives";
import { AgainDialog } from "./AgainDialog";
import { Chain } from "./Chain";
import { ComparePanel } from "./ComparePanel";
import { LogPane } from "./LogPane";
import { SaveReport } from "./shards/SaveReport";
import { ShardedRun, type Side } from "./shards/ShardedRun";
import { TaskCard } from "./TaskCard";
import { WhyPanel } from "./WhyPanel";
import { runWords } from "./words";

const here = getRouteApi("/runs/$instance");
/** From this width on the details stand beside the log. */
const WIDE_PX = 900;

export function RunView() {
  const { instance } = here.useParams();
  const query = useQuery({ ...instanceQuery(instance), select: withoutTally });
  const w = useWords(runWords);
  const router = useRouter();
  if (query.isError && query.data === undefined)
    return (
      <View
        title={w.title}
        actions={
          <Button size="sm" icon={<ChevronLeft />} onPress={() => router.history.push("/runs")}>
            {w.back}
          </Button>
        }
      >
        <RefusalNotice error={query.error} onAgain={() => void query.refetch()} />
      </View>
    );
  return (
    <Answer
      of={query}
      skeleton={
        <View title={w.title}>
          <SkeletonRows rows={10} />
        </View>
      }
    >
      {(detail) => <Run key={detail.row.id} of={detail} />}
    </Answer>
  );
}

/** How far it is moves ten times a second; what shows that asks for it itself, so that the whole view is not drawn anew. */
function withoutTally(detail: InstanceDetail): InstanceDetail {
  const { row } = detail;
  if (!row.sharding) return detail;
  return { ...detail, row: { ...row, sharding: { ...row.sharding, tally: { done: 0, total: 0 } } } };
}

function Run({ of: detail }: { of: InstanceDetail }) {
  const w = useWords(runWords);
  const said = useSaid();
  const router = useRouter();
  const { row } = detail;
  const job = useQuery(jobQuery(row.job));
  const cancel = useCancelInstances();
  const retry = useRetryInstances();
  const [asking, setAsking] = useState(false);
  const [again, setAgain] = useState(false);
  const [tab, setTab] = useState<"log" | "detail">("log");
  const [side, setSide] = useState<Side | null>(null);
  const [taskId, setTaskId] = useState<string | null>(null);
  const [look, setLook] = useState<Look>("tasks");
  const box = useRef<HTMLDivElement>(null);
  const wide = useWider(box, WIDE_PX);
  const task = detail.tasks.find((each) => each.id === taskId) ?? telling(detail.tasks);

  const no = (allowed: { ok: boolean; why: { en: string; zh: string } | null } | undefined) =>
    allowed && !allowed.ok ? (allowed.why ? said(allowed.why) : "—") : null;
  const whyNotCancel = no(row.can_cancel);
  const whyNotRetry = no(row.can_retry);
  const whyNotAgain = job.isError ? w.jobGone : no(job.data?.row.can_run);

  const back = () => router.history.push("/runs");
  const onCancel = () => whyNotCancel === null && setAsking(true);
  const onRetry = () => whyNotRetry === null && retry.mutate([row.id], { onSuccess: () => toast({ text: w.retried }) });
  const onAgain = () => whyNotAgain === null && setAgain(true);
  const onAskedAgain = (next: string | undefined) => {
    setAgain(false);
    toast({ text: w.askedAgain(row.job_name) });
    if (next) router.history.push(`/runs/${encodeURIComponent(next)}`);
  };
  const keys = { group: w.group };
  useHotkey("c", w.cancel, onCancel, { ...keys, enabled: whyNotCancel === null });
  useHotkey("r", w.retry, onRetry, { ...keys, enabled: whyNotRetry === null });
  useHotkey("R", w.again, onAgain, keys);
  // Where the details stand behind the log they come forward.
  const turn = (to: Look) => {
    setLook(look === to ? "tasks" : to);
    setTab("detail");
    setSide("run");
  };
  useHotkey("w", w.look.why, () => turn("why"), keys);
  useHotkey("v", w.look.compare, () => turn("compare"), keys);
  useHotkey("Escape", w.back, back, { ...keys, palette: false });

  const log = task ? <LogPane key={task.id} task={task} jobName={row.job_name} /> : null;
  const details = <Details of={detail} task={task} onTask={setTaskId} look={look} onLook={setLook} />;
  return (
    <View
      title={
        <span className="flex min-w-0 items-baseline gap-2">
          <IconButton
            size="sm"
            label={w.back}
            kbd="Escape"
            icon={<ChevronLeft />}
            onPress={back}
            className="-ml-2 self-center"
          />
          <Link
            to="/jobs/$job"
            params={{ job: row.job }}
            className="max-w-80 truncate rounded-sm outline-none hover:text-accent-ink focus-visible:outline-2 focus-visible:outline-focus"
            title={row.job_name}
          >
            {row.job_name}
          </Link>
          <span className="font-normal text-sm" data-testid="run-state" data-state={row.state}>
            <InstanceStateBadge state={row.state} />
          </span>
        </span>
      }
      lead={
        <span className="text-xs">
          <DueIn at={row.due.ms} text={`${row.due.text} ${row.due.offset}`} />
        </span>
      }
      actions={
        <>
          <Button size="sm" icon={<OctagonX />} kbd="c" why={whyNotCancel} onPress={onCancel} data-testid="run-cancel">
            {w.cancel}
          </Button>
          <Button size="sm" icon={<RotateCcw />} kbd="r" why={whyNotRetry} onPress={onRetry} data-testid="run-retry">
            {w.retry}
          </Button>
          <Button
            size="sm"
            icon={<Play />}
            kbd="R"
            hint={w.againHint}
            why={whyNotAgain}
            onPress={onAgain}
            data-testid="run-again"
          >
            {w.again}…
          </Button>
        </>
      }
    >
      <div ref={box} className="flex h-full min-h-0 flex-col gap-3 overflow-y-auto px-5 pb-4">
        <Trouble of={detail} />
        {!row.sharding && <Chain of={detail} />}
        {row.sharding ? (
          <ShardedRun
            of={detail}
            wide={wide}
            about={details}
            side={side}
            onSide={setSide}
            actions={<SaveReport row={row} />}
          />
        ) : wide ? (
          <div className="grid min-h-80 flex-1 grid-cols-[minmax(320px,2fr)_3fr] grid-rows-[minmax(0,1fr)] gap-3">
            <div className="min-h-0 overflow-y-auto pr-0.5">{details}</div>
            <div className="min-h-0">{log}</div>
          </div>
        ) : (
          <>
            <Tabs
              label={w.part}
              value={tab}
              onChange={setTab}
              tabs={[
                { id: "log", label: w.tabs.log },
                { id: "detail", label: w.tabs.detail },
              ]}
            />
            <div className="min-h-72 flex-1">{tab === "log" ? log : details}</div>
          </>
        )}
      </div>
      {again && <AgainDialog of={detail} onClose={() => setAgain(false)} onDone={onAskedAgain} />}
      <Dialog
        open={asking}
        onClose={() => setAsking(false)}
        role="alertdialog"
        title={w.cancelTitle}
        lead={w.cancelLead}
        footer={
          <>
            <Button onPress={() => setAsking(false)}>{w.keep}</Button>
            <Button
              variant="danger"
              autoFocus
              data-testid="confirm-cancel"
              onPress={() => {
                cancel.mutate([row.id], { onSuccess: () => toast({ text: w.cancelled }) });
                setAsking(false);
              }}
            >
              {w.cancel}
            </Button>
          </>
        }
      />
    </View>
  );
}

/** The task one wants to read of first: one that failed, else one that still runs, else the first. */
function telling(tasks: readonly TaskRow[]): TaskRow | undefined {
  return (
    tasks.find((task) => task.failure !== null && task.state >= 300) ??
    tasks.find((task) => task.state >= 200 && task.state < 300) ??
    tasks[0]
  );
}

function Trouble({ of: detail }: { of: InstanceDetail }) {
  const w = useWords(runWords);
  const said = useSaid();
  const over = detail.row.finished !== null;
  const failed = detail.tasks.find((task) => task.failure !== null && task.state !== 301);
  const failure = detail.failure ?? failed?.failure;
  if (!failure) return null;
  return (
    <div data-testid="run-failure">
      <Notice tone="bad" icon={<CircleX />} title={said(failure.message)}>
        {over && failure.class === "transient" ? w.failure.noneLeft : w.failure[failure.class]}
        <span className="mt-0.5 flex flex-wrap items-center gap-x-2 text-2xs text-ink-3">
          <code className="select-text">{failure.code}</code>
          <span>{w.failure.classes[failure.class]}</span>
          {failed?.failure && <span>{w.attempt(Math.max(1, failed.attempt), failed.attempts_most)}</span>}
        </span>
      </Notice>
    </div>
  );
}

interface DetailsProps {
  of: InstanceDetail;
  task: TaskRow | undefined;
  onTask: (id: string) => void;
  look: Look;
  onLook: (look: Look) => void;
}

function Details({ of: detail, task, onTask, look, onLook }: DetailsProps) {
  const w = useWords(runWords);
  const said = useSaid();
  const { row } = detail;
  const many = detail.tasks.length > 1;
  const facts: [string, React.ReactNode][] = [
    [w.facts.schedule, said(detail.words)],
    [w.facts.origin, w.origins[row.origin]],
  ];
  if (detail.reason) facts.push([w.facts.reason, said(detail.reason)]);
  if (detail.asked_by) facts.push([w.facts.askedBy, detail.asked_by]);
  if (detail.repeats)
    facts.push([
      w.facts.repeats,
      <Link
        key="repeats"
        to="/runs/$instance"
        params={{ instance: detail.repeats }}
        className="text-accent-ink hover:underline"
      >
        {w.earlierRun}
      </Link>,
    ]);
  facts.push(
    [w.facts.processor, `${detail.group}/${detail.processor}`],
    [w.facts.mode, w.modes[detail.mode]],
    [w.facts.overlap, w.overlaps[detail.overlap]],
    [w.facts.version, `v${row.version}`],
    [
      w.facts.id,
      <code key="id" className="break-all text-2xs">
        {row.id}
      </code>,
    ],
  );
  const parameters = Object.keys(detail.parameters).length === 0 ? null : detail.parameters;
  return (
    <div className="flex flex-col gap-3">
      <Segmented
        bare
        size="sm"
        label={w.look.label}
        value={look}
        onChange={onLook}
        options={[
          { value: "tasks", label: w.look.tasks },
          { value: "why", label: w.look.why },
          { value: "compare", label: w.look.compare },
        ]}
      />
      {look === "why" && <WhyPanel instance={row.id} />}
      {look === "compare" && <ComparePanel instance={row.id} />}
      {look === "tasks" && (
        <Tasks of={detail} task={task} onTask={onTask} many={many} parameters={parameters} facts={facts} />
      )}
    </div>
  );
}

type Look = "tasks" | "why" | "compare";

interface TasksProps extends Pick<DetailsProps, "of" | "task" | "onTask"> {
  many: boolean;
  parameters: Record<string, unknown> | null;
  facts: [string, React.ReactNode][];
}

function Tasks({ of: detail, task, onTask, many, parameters, facts }: TasksProps) {
  const w = useWords(runWords);
  return (
    <div className="flex flex-col gap-4">
      {detail.row.sharding && <Chain of={detail} />}
      <div className="flex flex-col gap-2">
        {detail.tasks.map((each, i) => (
          <TaskCard
            key={each.id}
            task={each}
            number={i + 1}
            chosen={each.id === task?.id}
            onChoose={many ? () => onTask(each.id) : null}
          />
        ))}
      </div>
      <Section title={w.result}>
        {detail.result === null || detail.result === undefined ? (
          <p className="text-ink-3">{w.noResult}</p>
        ) : (
          <CodeBlock>{pretty(detail.result)}</CodeBlock>
        )}
      </Section>
      <Section title={w.parameters}>
        {parameters ? <CodeBlock>{pretty(parameters)}</CodeBlock> : <p className="text-ink-3">{w.noParameters}</p>}
      </Section>
      <Section title={w.about}>
        <div className="panel px-3 py-2.5">
          <Facts rows={facts} />
        </div>
      </Section>
    </div>
  );
}

function pretty(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
