// What was meant by a drop: this run, this and those after it, or all. Shows for each what would come of it before
// anything is changed; what is saved can be taken back from the toast or with Ctrl+Z.
import { useQuery } from "@tanstack/react-query";
import { ArrowRight, CalendarClock, CalendarX2, CircleAlert } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { lapsedQuery, rescheduleQuery, useSaveMove, useTakeBackMove } from "@/api/calendar";
import type { JobSpec, Moment, RescheduleChoice, Scope } from "@/api/types";
import { RefusalNotice } from "@/components";
import { parts, weekdayOf } from "@/lib/civil";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { marks, useSaid, useWords } from "@/lib/words";
import { Button, Dialog, Notice, Skeleton, toast } from "@/primitives";
import { calendarWords } from "./words";

const SCOPES: readonly Scope[] = ["thisRun", "following", "all"];

interface RescheduleDialogProps {
  ask: { job: string; planned: number; to_local: string };
  name: string;
  onClose: () => void;
}

export function useWhen() {
  const w = useWords(calendarWords);
  /** 'Thu 19 Nov, 10:35', from the node's own text of the moment. */
  return (moment: Moment) => {
    const date = moment.text.slice(0, 10);
    const time = moment.text.slice(11);
    return w.when(weekdayOf(date), date, time.endsWith(":00") ? time.slice(0, 5) : time);
  };
}

export function RescheduleDialog({ ask, name, onClose }: RescheduleDialogProps) {
  const all = useWords(calendarWords);
  const w = all.ask;
  const when = useWhen();
  const query = useQuery(rescheduleQuery(ask));
  const save = useSaveMove();
  const takeBack = useTakeBackMove();
  const [wanted, setWanted] = useState<Scope | null>(null);
  const view = query.data;
  const choices = SCOPES.flatMap((scope) => view?.choices.find((choice) => choice.scope === scope) ?? []);
  const choice =
    choices.find((each) => each.scope === wanted && each.allowed.ok) ?? choices.find((each) => each.allowed.ok);

  const onSave = () => {
    if (!view || !choice?.spec || save.isPending) return;
    const { job, version, to } = view;
    const scope = w.scopes[choice.scope];
    save.mutate(
      { spec: choice.spec, job, seen_version: version },
      {
        onSuccess: (done) => {
          onClose();
          toast({
            text: w.saved(view.name),
            detail: w.savedAt(scope, when(to)),
            // The dialog is gone by then, so what follows hangs on the promise; a refusal has its toast already.
            undo: () =>
              void takeBack.mutateAsync({ job, version, seen_version: done.version }).then(
                () => toast({ text: w.undone(view.name) }),
                () => undefined,
              ),
          });
        },
      },
    );
  };

  const pick = (scope: Scope) => {
    if (choices.some((each) => each.scope === scope && each.allowed.ok)) setWanted(scope);
  };
  const under = { group: all.group, anywhere: true, palette: false };
  useHotkey("1", w.scopes.thisRun, () => pick("thisRun"), under);
  useHotkey("2", w.scopes.following, () => pick("following"), under);
  useHotkey("3", w.scopes.all, () => pick("all"), under);
  // Enter saves from anywhere in the dialog; a button that has the focus is pressed by it instead.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Enter" || event.isComposing) return;
      if (event.target instanceof HTMLElement && event.target.closest("button")) return;
      event.preventDefault();
      onSave();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  });

  const blocked = !view ? w.choosing : !choice ? w.noneAllowed : null;
  return (
    <Dialog
      open
      onClose={onClose}
      width={640}
      title={w.title(view?.name ?? name)}
      lead={
        view && (
          <span className="flex flex-wrap items-center gap-x-2">
            <span className="text-ink-3 line-through decoration-ink-3/60">{when(view.from)}</span>
            <ArrowRight size={14} className="text-ink-3" />
            <strong className="font-semibold text-ink">{when(view.to)}</strong>
            <span className="text-ink-3 text-xs">{view.to.offset}</span>
          </span>
        )
      }
      footer={
        <>
          <Button onPress={onClose} data-testid="reschedule-cancel">
            {w.cancel}
          </Button>
          <Button
            variant="primary"
            kbd="Enter"
            why={blocked}
            autoFocus
            isPending={save.isPending}
            onPress={onSave}
            data-testid="reschedule-save"
          >
            {w.save}
          </Button>
        </>
      }
    >
      <div data-testid="reschedule-dialog" className="flex flex-col gap-4">
        {query.isError && <RefusalNotice error={query.error} onAgain={() => void query.refetch()} />}
        {!view && !query.isError && (
          <div className="flex flex-col gap-2">
            <Skeleton className="h-14 w-full" />
            <Skeleton className="h-24 w-full" />
          </div>
        )}
        {view && (
          <>
            <Scopes choices={choices} chosen={choice?.scope ?? null} onChoose={setWanted} />
            {!choice && <Notice tone="warn" icon={<CircleAlert />} title={w.noneAllowed} />}
            {choice && <Effect choice={choice} to={view.to.ms} />}
            {choice && choice.scope !== "thisRun" && <Lapses job={view.job} spec={choice.spec} />}
            {choice && <Collisions names={choice.collisions} />}
          </>
        )}
        {save.isError && <RefusalNotice error={save.error} />}
      </div>
    </Dialog>
  );
}

interface ScopesProps {
  choices: readonly RescheduleChoice[];
  chosen: Scope | null;
  onChoose: (scope: Scope) => void;
}

function Scopes({ choices, chosen, onChoose }: ScopesProps) {
  const w = useWords(calendarWords).ask;
  const said = useSaid();
  const name = useId();
  return (
    <div role="radiogroup" aria-label={w.scope} className="grid grid-cols-3 gap-2">
      {choices.map(({ scope, allowed }) => {
        const why = allowed.ok ? null : allowed.why ? said(allowed.why) : w.noneAllowed;
        return (
          <label
            key={scope}
            data-testid={`scope-${scope}`}
            data-chosen={scope === chosen}
            title={why ?? undefined}
            className={cx(
              "flex min-w-0 items-start gap-2 rounded-md px-2.5 py-2 ring-inset has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-focus",
              scope === chosen ? "bg-picked ring-2 ring-accent-ink/70" : "ring-1 ring-line-strong",
              allowed.ok ? scope !== chosen && "hover:bg-hover" : "bg-sunken",
            )}
          >
            <input
              type="radio"
              name={name}
              value={scope}
              checked={scope === chosen}
              disabled={!allowed.ok}
              onChange={() => onChoose(scope)}
              className="sr-only"
            />
            <span
              aria-hidden="true"
              className={cx(
                "mt-0.75 flex size-3.5 shrink-0 items-center justify-center rounded-full",
                scope === chosen ? "bg-accent" : "ring-1 ring-line-strong ring-inset",
                !allowed.ok && "opacity-40",
              )}
            >
              {scope === chosen && <span className="size-1.5 rounded-full bg-on-accent" />}
            </span>
            <span className="min-w-0">
              <span className={cx("block font-medium", !allowed.ok && "text-ink-3")}>{w.scopes[scope]}</span>
              <span className={cx("block text-xs", why ? "text-warn" : "text-ink-3")}>
                {why ?? w.scopeHints[scope]}
              </span>
            </span>
          </label>
        );
      })}
    </div>
  );
}

/** What was changed by hand and would go, because the new schedule does not plan its times. */
function Lapses({ job, spec }: { job: string; spec: JobSpec | null }) {
  const w = useWords(calendarWords).ask;
  const said = useSaid();
  const lapsed = useQuery(lapsedQuery(job, spec)).data ?? [];
  if (lapsed.length === 0) return null;
  return (
    <div data-testid="reschedule-lapsed">
      <Notice tone="warn" icon={<CalendarX2 />} title={w.lapsed(lapsed.length)}>
        <ul>
          {lapsed.map(({ words }) => (
            <li key={words.en}>{said(words)}</li>
          ))}
        </ul>
      </Notice>
    </div>
  );
}

const FEW = 6;

/** The other jobs that it would meet. */
export function Collisions({ names }: { names: readonly string[] }) {
  const w = useWords(calendarWords).ask;
  const m = useWords(marks);
  if (names.length === 0) return null;
  return (
    <div data-testid="reschedule-collisions">
      <Notice tone="warn" icon={<CalendarClock />} title={w.collisions(names.length)}>
        {names.slice(0, FEW).join(m.and)}
        {names.length > FEW && ` +${names.length - FEW}`}
      </Notice>
    </div>
  );
}

/** The schedule in words, and the next runs before and after; `to` is the moment that it is about. */
export function Effect({ choice, to }: { choice: RescheduleChoice; to: number | null }) {
  const w = useWords(calendarWords).ask;
  const said = useSaid();
  const before = new Set(choice.before.map((moment) => moment.ms));
  const after = new Set(choice.after.map((moment) => moment.ms));
  return (
    <>
      <div>
        <div className="eyebrow mb-1">{w.words}</div>
        <div
          data-testid="reschedule-words"
          className="rounded-md bg-sunken px-3 py-2 font-medium ring-1 ring-line ring-inset"
        >
          {choice.words ? said(choice.words) : w.wordsSame}
        </div>
      </div>
      <div className="grid grid-cols-2 gap-4">
        <Runs title={w.before} moments={choice.before} mark={(ms) => (after.has(ms) ? null : "gone")} to={null} />
        <Runs title={w.after} moments={choice.after} mark={(ms) => (before.has(ms) ? null : "new")} to={to} />
      </div>
    </>
  );
}

interface RunsProps {
  title: string;
  moments: readonly Moment[];
  mark: (ms: number) => "gone" | "new" | null;
  to: number | null;
}

function Runs({ title, moments, mark, to }: RunsProps) {
  const all = useWords(calendarWords);
  const year = moments[0] && parts(moments[0].text.slice(0, 10)).year;
  return (
    <div className="min-w-0">
      <div className="eyebrow mb-1">{title}</div>
      <ol className="flex flex-col">
        {moments.length === 0 && <li className="text-ink-3">{all.ask.none}</li>}
        {moments.map((moment) => {
          const date = moment.text.slice(0, 10);
          const kind = mark(moment.ms);
          return (
            <li
              key={moment.ms}
              className={cx(
                "flex h-6.5 items-baseline gap-2 rounded-sm px-1.5 leading-6.5",
                kind === "new" && "bg-accent-soft font-medium text-accent-ink",
                kind === "gone" && "text-ink-3 line-through decoration-ink-3/60",
                moment.ms === to && "ring-1 ring-accent-ink/40 ring-inset",
              )}
            >
              <span className="w-9 shrink-0 text-xs">{all.weekday(weekdayOf(date))}</span>
              <span className="w-16 shrink-0 text-xs">{all.dayOf(date)}</span>
              <span>{moment.text.slice(11).replace(/:00$/, "")}</span>
              {parts(date).year !== year && <span className="ml-auto text-2xs text-ink-3">{parts(date).year}</span>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
