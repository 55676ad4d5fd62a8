// Writing a job: at the left what one decides, at the right what it comes to, live. The node judges every change as it is
// typed; what is wrong stands beside its field, once one has been there or has tried to save. Saving is one key.
import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CircleAlert, RotateCw } from "lucide-react";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { call, getZone, Refusal } from "@/api/door";
import { jobQuery, useSaveJob } from "@/api/jobs";
import { bootstrapQuery } from "@/api/node";
import type { Bootstrap, Fault, LapsedException } from "@/api/types";
import { wallAt } from "@/api/walltime";
import { Answer, LeaveGuard, ParameterForm, RefusalNotice, stateWords, useLeaveGuard, View } from "@/components";
import { DraftError, scheduleWords } from "@/components/schedule";
import { now } from "@/lib/clock";
import { useHotkey } from "@/lib/hotkeys";
import { withParameter } from "@/lib/schemaForm";
import { useSettled } from "@/lib/settled";
import { useLang, useSaid, useWords } from "@/lib/words";
import { Button, Notice, NumberField, Select, Skeleton, SkeletonRows, TextField, toast } from "@/primitives";
import { type Draft, emptyDraft, fromSpec, type SetDraft, toSpec } from "./draft";
import { withoutLapsed } from "./Exceptions";
import { EXECUTION_HOMES, ExecutionFields } from "./ExecutionFields";
import { executionWords } from "./executionWords";
import { LapsedAsk, LapsedNotice } from "./Lapsed";
import { RunMenu } from "./RunMenu";
import { RunsPreview } from "./RunsPreview";
import { editJobRoute, newJobRoute } from "./route";
import { ScheduleFields } from "./ScheduleFields";
import { TemplateHelp } from "./TemplateHelp";
import { TimePolicies } from "./TimePolicies";
import { timeWords } from "./timeWords";
import { jobWords } from "./words";

export function NewJobView() {
  const { like, at } = newJobRoute.useSearch();
  return <LoadedForm key={like ?? at ?? "new"} job={null} like={like ?? null} slot={at ?? null} />;
}

export function EditJobView() {
  const { job } = editJobRoute.useParams();
  return <LoadedForm key={job} job={job} like={job} slot={null} />;
}

/** Reads what the form begins with, once: what others save meanwhile does not change it under the hands that type. */
function LoadedForm({ job, like, slot }: { job: string | null; like: string | null; slot: string | null }) {
  const w = useWords(jobWords).form;
  const client = useQueryClient();
  const bootstrap = useQuery(bootstrapQuery());
  const [round, setRound] = useState(0);
  const zone = bootstrap.data?.zone;
  // A command of the shell where that is allowed, else what there is.
  const here = bootstrap.data?.processors ?? [];
  const usual = here.find((each) => each.group === "local" && each.name === "shell") ?? here[0];
  const anew = (at: string, soon: string): Draft => {
    const draft = emptyDraft(at, soon);
    return usual ? { ...draft, group: usual.group, processor: usual.name } : draft;
  };
  const begin = useQuery({
    queryKey: ["form", job, like, slot, round],
    enabled: zone !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async () => {
      const at = zone ?? "UTC";
      if (like === null && slot !== null) {
        const draft = anew(getZone() === "UTC" ? "UTC" : at, slot);
        return { draft: { ...draft, kind: "repeat" as const }, version: null };
      }
      // The next full hour but one, as the wall reads: a first proposal that is not over while one types.
      const soon = `${(await wallAt(client, Math.ceil(now() / 3_600_000) * 3_600_000 + 3_600_000, at)).slice(0, 13)}:00`;
      if (like === null) return { draft: anew(at, soon), version: null };
      const detail = await client.fetchQuery({ ...jobQuery(like), staleTime: 0 });
      const draft = await fromSpec(client, detail.spec as unknown as Record<string, unknown>, at, soon);
      if (job === null) draft.name = `${draft.name}-2`;
      return { draft, version: job === null ? null : detail.row.version };
    },
  });
  if (!bootstrap.data || !begin.data)
    return (
      <View title={job ? " " : w.newTitle}>
        {begin.isError || bootstrap.isError ? (
          <RefusalNotice error={begin.error ?? bootstrap.error ?? new Error()} onAgain={() => setRound(round + 1)} />
        ) : (
          <SkeletonRows rows={8} />
        )}
      </View>
    );
  return (
    <Form
      key={round}
      job={job}
      version={begin.data.version}
      first={begin.data.draft}
      node={bootstrap.data}
      onReload={() => setRound(round + 1)}
    />
  );
}

interface FormProps {
  job: string | null;
  version: number | null;
  first: Draft;
  node: Bootstrap;
  onReload: () => void;
}

function Form({ job, node, onReload, ...begun }: FormProps) {
  // What it began with stays what it was, whatever is read anew meanwhile: the version that is named on saving must be
  // the one these hands have seen.
  const [{ first, version }] = useState(begun);
  const w = useWords(jobWords).form;
  const t = useWords(timeWords);
  const sched = useWords(scheduleWords);
  const lanes = useWords(stateWords).lane;
  const said = useSaid();
  const lang = useLang();
  const client = useQueryClient();
  const navigate = useNavigate();
  const save = useSaveJob();
  const [draft, setDraft] = useState(first);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [tried, setTried] = useState(false);
  const [refusal, setRefusal] = useState<Fault | null>(null);
  const [losing, setLosing] = useState<readonly LapsedException[] | null>(null);
  const [more, setMore] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const dirty = draft !== first;
  const guard = useLeaveGuard(dirty);

  const set: SetDraft = (change, where) => {
    setDraft((old) => ({ ...old, ...(typeof change === "function" ? change(old) : change) }));
    setRefusal(null);
    const part = typeof change === "function" ? change(draft) : change;
    setTouched((old) => new Set([...old, ...(where ?? Object.keys(part).map(touches))]));
  };

  const settled = useSettled(draft, 180);
  const check = useQuery({
    queryKey: ["check", job, lang, getZone(), settled],
    queryFn: async () => {
      try {
        const spec = await toSpec(client, settled);
        return { ...(await call("check_job", { spec, job })), wall: null };
      } catch (error) {
        if (error instanceof DraftError) return { faults: [], preview: null, lapsed: [], wall: error.field };
        throw error;
      }
    },
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    retry: false,
  });

  // Saving names the first of them again.
  const faults = useMemo(() => {
    const found = check.data?.faults ?? [];
    const known = refusal && found.some((each) => each.field === refusal.field && each.code === refusal.code);
    return refusal && !known ? [refusal, ...found] : found;
  }, [refusal, check.data]);
  const seen = (field: string) => tried || [...touched].some((each) => field === each || field.startsWith(`${each}.`));
  const error = (field: string): string | null => {
    if (!seen(field)) return null;
    if (check.data?.wall === field) return field.endsWith("repeatDays") ? sched.repeat.notDays : sched.notWall;
    const fault = faults.find((each) => each.field === field || each.field?.startsWith(`${field}.`));
    return fault ? said(fault.message) : null;
  };
  // Faults that no field on the page would show.
  const homeless = faults.filter(
    (fault) =>
      fault.field === null || !HOMES.some((home) => fault.field === home || fault.field?.startsWith(`${home}.`)),
  );
  const blocking = faults.length + (check.data?.wall ? 1 : 0);

  const lapsed = check.data?.lapsed ?? [];
  const dropLapsed = (gone: readonly LapsedException[]) =>
    set((old) => ({ exceptions: withoutLapsed(old.exceptions, gone) }));

  /** `asked`: what a change of the schedule leaves without meaning has been seen, and goes. */
  const submit = async (asked: readonly LapsedException[] = []) => {
    setTried(true);
    requestAnimationFrame(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
    const judged = settled === draft && !check.isFetching;
    if (save.isPending || (judged && blocking > 0)) return;
    const written = { ...draft, exceptions: withoutLapsed(draft.exceptions, asked) };
    let spec: Record<string, unknown>;
    try {
      spec = await toSpec(client, written);
      // A key that is quicker than the judgement waits for it: nothing that was changed by hand is lost unseen.
      const changed = asked.length === 0 && draft.exceptions.some((each) => each.change !== "added");
      const gone = !changed ? [] : judged ? lapsed : (await call("check_job", { spec, job })).lapsed;
      if (gone.length > 0) {
        setLosing(gone);
        return;
      }
    } catch (cause) {
      if (cause instanceof DraftError) return;
      if (cause instanceof Refusal) {
        setRefusal(cause.fault);
        return;
      }
      throw cause;
    }
    if (asked.length > 0) dropLapsed(asked);
    save.mutate(
      { spec, job, seen_version: version },
      {
        onSuccess: (done) => {
          guard.release();
          toast({ text: w.saved(draft.name.trim()) });
          void navigate({ to: "/jobs/$job", params: { job: done.jobs[0] ?? job ?? "" } });
        },
        onError: (cause) => {
          if (cause instanceof Refusal) setRefusal(cause.fault);
        },
      },
    );
  };
  const leave = () => void (job ? navigate({ to: "/jobs/$job", params: { job } }) : navigate({ to: "/jobs" }));
  useHotkey("ctrl+s", w.save, () => void submit(), { anywhere: true });
  useHotkey("Escape", w.leave, leave, { palette: false });

  // Where the first run stands on no day that was named, the first that was is offered in its place.
  const { level, weekdays, monthDays } = draft.repeat;
  const named =
    draft.kind === "repeat" &&
    ((level === "week" && weekdays.length > 0) || (level === "month" && monthDays.trim() !== ""));
  const namedDay =
    named && check.data?.preview?.warnings.length ? check.data.preview.runs[1]?.local.slice(0, 16) : undefined;
  const execution = useWords(executionWords);
  const processor = node.processors.find((each) => each.name === draft.processor && each.group === draft.group);
  const stale = refusal?.code === CHANGED_MEANWHILE;
  return (
    <View
      title={job ? w.editTitle(first.name) : w.newTitle}
      lead={
        tried && blocking > 0 ? (
          <span className="inline-flex items-center gap-1.5 text-bad">
            <CircleAlert size={15} />
            {w.problems(blocking)}
          </span>
        ) : dirty ? (
          <span className="text-ink-3">{w.unsaved}</span>
        ) : null
      }
      actions={
        <>
          <Button onPress={leave}>{w.cancel}</Button>
          <Button variant="primary" kbd="ctrl+s" onPress={() => void submit()} isPending={save.isPending}>
            {w.save}
          </Button>
        </>
      }
    >
      <div className="flex h-full min-h-0 gap-4 px-5 pb-4">
        <form
          ref={form}
          className="@container min-w-0 flex-1 overflow-y-auto pr-1"
          onSubmit={(event) => event.preventDefault()}
          aria-label={job ? w.editTitle(first.name) : w.newTitle}
        >
          {homeless.map((fault) => (
            <div key={fault.code + fault.message.en} className="mb-3">
              <Notice
                tone="bad"
                icon={<CircleAlert />}
                title={said(fault.message)}
                actions={
                  stale &&
                  job && (
                    <Button size="sm" icon={<RotateCw />} onPress={onReload}>
                      {w.reload}
                    </Button>
                  )
                }
              >
                {fault.hint && said(fault.hint)}
                {fault.code && <code className="block text-2xs text-ink-3">{fault.code}</code>}
              </Notice>
            </div>
          ))}
          <Part title={w.what}>
            <div className="grid grid-cols-2 gap-x-4">
              <TextField
                required
                autoFocus={job === null}
                label={w.name}
                hint={w.nameHint}
                value={draft.name}
                onChange={(name) => set({ name })}
                error={error("name")}
              />
              <TextField
                label={w.description}
                value={draft.description}
                onChange={(description) => set({ description })}
                error={error("description")}
              />
            </div>
          </Part>
          <Part title={w.when}>
            <ScheduleFields
              draft={draft}
              set={set}
              error={error}
              zones={node.zones}
              faults={faults}
              self={job ? first.name : null}
            />
          </Part>
          <Part title={w.work}>
            <Select
              label={w.processor}
              value={`${draft.group}/${draft.processor}`}
              onChange={(next) => {
                const at = next.indexOf("/");
                const other = { group: next.slice(0, at), processor: next.slice(at + 1), parameters: {} };
                set(other, ["processor"]);
                setTouched((old) => new Set([...old].filter((each) => !each.startsWith("parameters"))));
              }}
              error={error("processor") ?? error("executorGroup")}
              hint={
                processor ? (
                  processor.executors === 0 ? (
                    <span className="text-warn">{w.noExecutor}</span>
                  ) : (
                    said(processor.description)
                  )
                ) : (
                  ""
                )
              }
              options={[
                ...node.processors.map((each) => ({
                  value: `${each.group}/${each.name}`,
                  label: said(each.title),
                  detail: `${each.group}/${each.name}`,
                })),
                ...(processor ? [] : [{ value: `${draft.group}/${draft.processor}`, label: draft.processor }]),
              ]}
            />
            <ParameterForm
              key={`${draft.group}/${draft.processor}`}
              schema={processor?.schema}
              value={draft.parameters}
              onChange={(parameters, key) =>
                set(
                  (old) => ({ parameters: withParameter(old.parameters, key, parameters[key]) }),
                  [`parameters.${key}`],
                )
              }
              error={(key) => error(`parameters.${key}`)}
            />
            <TemplateHelp group={draft.group} />
          </Part>
          <Part title={execution.title}>
            <ExecutionFields
              rest={draft.rest}
              set={(change, where) => set((old) => ({ rest: { ...old.rest, ...change } }), [where])}
              error={error}
            />
          </Part>
          <Part title={t.policies}>
            <TimePolicies draft={draft} set={set} error={error} zones={node.zones} />
          </Part>
          <Part title={w.policies}>
            <div className="grid grid-cols-2 gap-x-4 gap-y-1">
              <Select
                label={w.priority}
                value={draft.priority}
                onChange={(priority) => set({ priority })}
                error={error("priority")}
                options={(["immediate", "high", "normal", "low"] as const).map((value) => ({
                  value,
                  label: lanes[value],
                }))}
              />
              <NumberField
                label={w.timeout}
                hint={w.timeoutHint}
                unit="s"
                min={1}
                value={draft.timeoutSeconds}
                onChange={(timeoutSeconds) => set({ timeoutSeconds })}
                error={error("timeoutSeconds")}
              />
              <NumberField
                label={w.retries}
                hint={w.retriesHint}
                min={0}
                value={draft.retries}
                onChange={(retries) => set({ retries })}
                error={error("retry.retries")}
              />
              <TextField
                label={w.tags}
                hint={w.tagsHint}
                value={draft.tags}
                onChange={(tags) => set({ tags })}
                error={error("tags")}
              />
            </div>
            {!more && (
              <Button size="sm" variant="quiet" className="-ml-2.5" onPress={() => setMore(true)}>
                {w.more}
              </Button>
            )}
            {more && (
              <div className="grid grid-cols-2 gap-x-4 gap-y-1">
                <Select
                  label={w.overrun}
                  value={draft.overrun}
                  onChange={(overrun) => set({ overrun })}
                  error={error("overrun")}
                  options={(["note", "kill"] as const).map((value) => ({ value, label: w.overruns[value] }))}
                />
                <NumberField
                  label={w.retryBase}
                  unit="s"
                  min={0}
                  step={0.1}
                  value={draft.retryBase}
                  onChange={(retryBase) => set({ retryBase })}
                  error={error("retry.baseSeconds")}
                />
                <NumberField
                  label={w.retryMax}
                  unit="s"
                  min={0}
                  value={draft.retryMax}
                  onChange={(retryMax) => set({ retryMax })}
                  error={error("retry.maxSeconds")}
                />
                <NumberField
                  label={w.retryTimes}
                  unit="×"
                  min={1}
                  step={0.1}
                  value={draft.retryTimes}
                  onChange={(retryTimes) => set({ retryTimes })}
                  error={error("retry.multiplier")}
                />
                <TextField
                  label={w.tenant}
                  value={draft.tenant}
                  onChange={(tenant) => set({ tenant })}
                  error={error("tenant")}
                />
                <TextField
                  label={w.owner}
                  value={draft.owner}
                  onChange={(owner) => set({ owner })}
                  error={error("owner")}
                />
              </div>
            )}
          </Part>
        </form>
        <aside className="panel flex w-[38%] min-w-70 max-w-110 flex-col overflow-hidden" aria-label={w.preview}>
          <div className="relative shrink-0 border-line border-b px-4 py-3">
            {check.isFetching && <span className="breathing absolute inset-x-0 -bottom-px h-0.5 bg-accent-ink" />}
            <div className="eyebrow">{w.preview}</div>
            <div className="mt-0.5 min-h-10 font-medium text-md" aria-live="polite">
              {check.data?.preview ? said(check.data.preview.words) : <span className="font-normal text-ink-3">—</span>}
            </div>
          </div>
          <div tabIndex={0} className="min-h-0 flex-1 overflow-y-auto px-4 py-2">
            <LapsedNotice of={lapsed} onDrop={() => dropLapsed(lapsed)} />
            <Answer of={check} skeleton={<Skeleton className="h-40 w-full" />}>
              {(data) =>
                data.preview ? (
                  <RunsPreview
                    preview={data.preview}
                    old={check.isPlaceholderData}
                    none={draft.kind === "after" ? t.after.previewNone : w.previewManual}
                    change={(row) => <RunMenu row={row} draft={draft} set={set} />}
                    offer={
                      namedDay && (
                        <Button size="sm" onPress={() => set({ repeat: { ...draft.repeat, start: namedDay } })}>
                          {w.beginAt(namedDay.replace("T", " "))}
                        </Button>
                      )
                    }
                  />
                ) : (
                  <p className="text-ink-3">{w.previewEmpty}</p>
                )
              }
            </Answer>
          </div>
        </aside>
      </div>
      <LapsedAsk of={losing} onClose={() => setLosing(null)} onSave={(gone) => void submit(gone)} />
      <LeaveGuard of={guard} />
    </View>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <fieldset className="panel mb-3 flex min-w-0 flex-col gap-2 px-4 pt-3 pb-2">
      <legend className="sr-only">{title}</legend>
      <div aria-hidden="true" className="font-semibold">
        {title}
      </div>
      {children}
    </fieldset>
  );
}

/** The refusal that says someone else saved the job first. */
const CHANGED_MEANWHILE = "k_sc_ec_000006";

/** The places on the page where an error can stand. */
const HOMES = [
  "name",
  "description",
  "schedule.expression",
  "schedule.dialect",
  "schedule.timeZone",
  "schedule.dstGap",
  "schedule.dstOverlap",
  "schedule.startTime",
  "schedule.endTime",
  "schedule.count",
  "schedule.repeatInterval",
  "schedule.repeatDays",
  "schedule.everySeconds",
  "schedule.at",
  "schedule.jobs",
  "schedule.on",
  "schedule.need",
  "calendar",
  "onNonWorkday",
  "exceptions",
  "blackouts",
  "effectiveFrom",
  "effectiveUntil",
  "supersede",
  "processor",
  "executorGroup",
  "parameters",
  "priority",
  "overlap",
  "misfire",
  "timeoutSeconds",
  "retry",
  "tags",
  "overrun",
  "spreadSeconds",
  "tenant",
  "owner",
  ...EXECUTION_HOMES,
];

/** Which part of the document a part of the draft becomes. */
function touches(part: string): string {
  if (["kind", "zone", "cron", "repeat", "interval", "once", "after", "dstGap", "dstOverlap"].includes(part))
    return "schedule";
  if (part.startsWith("retr")) return "retry";
  if (part === "graceSeconds" || part === "catchUpMost") return "misfire";
  return part;
}
