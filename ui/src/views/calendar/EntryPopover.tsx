// What one firing is, and what can be done about it; or which firings a fold holds, to choose one of.
import { useQuery } from "@tanstack/react-query";
import { Link, useRouter } from "@tanstack/react-router";
import {
  ArrowLeft,
  CalendarX2,
  ListTodo,
  Move as MoveIcon,
  Pause,
  Play,
  ScrollText,
  SquareArrowOutUpRight,
} from "lucide-react";
import { useMemo, useState } from "react";
import { Dialog, Popover } from "react-aria-components";
import type { CalendarEntry } from "@/api/calendar";
import { jobQuery, usePauseJobs, useResumeJobs, useRunJobs } from "@/api/jobs";
import type { Words } from "@/api/types";
import { DueIn, Glyph, InstanceStateBadge, instanceLook, instanceState } from "@/components";
import { clock } from "@/lib/civil";
import { useSaid, useWords } from "@/lib/words";
import { Button, Facts, IconButton, toast } from "@/primitives";
import { useSkipEntry } from "./EntryMenu";
import { keyOf } from "./moving";
import { useWhen } from "./RescheduleDialog";
import type { Opened } from "./WeekGrid";
import { Why } from "./Why";
import { calendarWords } from "./words";

interface EntryPopoverProps {
  opened: Exclude<Opened, { is: "blackouts" }>;
  onClose: () => void;
  onMove: (entry: CalendarEntry) => void;
}

export function EntryPopover({ opened, onClose, onMove }: EntryPopoverProps) {
  const w = useWords(calendarWords).pop;
  const anchor = useMemo(() => ({ current: opened.anchor }), [opened.anchor]);
  const many = opened.is === "entries" && opened.entries.length > 1 ? opened.entries : null;
  const [chosen, setChosen] = useState<CalendarEntry | null>(null);
  const entry = chosen ?? (opened.is === "entries" && !many ? (opened.entries[0] ?? null) : null);
  return (
    <Popover
      triggerRef={anchor}
      isOpen
      onOpenChange={(open) => !open && onClose()}
      placement="right top"
      offset={6}
      className="enter-pop w-92 max-w-[90vw] overflow-y-auto rounded-lg bg-surface shadow-pop"
      data-overlay=""
      data-testid="entry-popover"
    >
      <Dialog aria-label={w.label} className="outline-none">
        {entry ? (
          <Detail
            key={keyOf(entry)}
            job={entry.job}
            name={entry.name}
            entry={entry}
            hue={entry.hue}
            words={entry.words}
            onClose={onClose}
            onBack={many ? () => setChosen(null) : undefined}
            onMove={() => onMove(entry)}
          />
        ) : opened.is === "band" ? (
          <Detail
            job={opened.band.job}
            name={opened.band.name}
            hue={opened.band.hue}
            words={opened.band.words}
            onClose={onClose}
          />
        ) : (
          <ul className="max-h-80 overflow-y-auto p-1">
            {many?.map((each) => (
              <li key={keyOf(each)}>
                <button
                  type="button"
                  data-testid="fold-entry"
                  data-hue={each.hue % 12}
                  onClick={() => setChosen(each)}
                  className="flex h-7 w-full items-center gap-2 rounded-sm px-2 text-left outline-none hover:bg-hover focus-visible:bg-hover"
                >
                  <Mark entry={each} />
                  <span className="text-ink-3 text-xs">{clock(each.minute)}</span>
                  <span className="min-w-0 truncate font-medium" title={each.name}>
                    {each.name}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Dialog>
    </Popover>
  );
}

export function Mark({ entry }: { entry: CalendarEntry }) {
  if (!entry.state) return <span className="mx-0.75 size-2.5 shrink-0 rounded-xs bg-(--job-edge)" />;
  const look = instanceLook[instanceState(entry.state)];
  return <Glyph shape={look.shape} tone={look.tone} />;
}

interface DetailProps {
  job: string;
  name: string;
  hue: number;
  words: Words;
  entry?: CalendarEntry;
  onClose: () => void;
  onBack?: (() => void) | undefined;
  onMove?: () => void;
}

function Detail({ job, name, hue, words, entry, onClose, onBack, onMove }: DetailProps) {
  const all = useWords(calendarWords);
  const w = all.pop;
  const said = useSaid();
  const when = useWhen();
  const router = useRouter();
  const known = useQuery(jobQuery(job));
  const run = useRunJobs();
  const pause = usePauseJobs();
  const resume = useResumeJobs();
  const skip = useSkipEntry();
  const row = known.data?.row;
  const gone = known.isError ? w.gone : null;

  // This closes at once, so what follows hangs on the promises; a refusal has its toast already.
  const refused = () => undefined;
  const runNow = () => {
    onClose();
    void run.mutateAsync([job]).then(({ instances: [instance] }) => {
      toast({ text: w.ran(name) });
      if (instance) router.history.push(`/runs/${encodeURIComponent(instance)}`);
    }, refused);
  };
  const goOn = () => void resume.mutateAsync([job]).then(() => toast({ text: w.resumed(name) }), refused);
  const togglePause = () => {
    onClose();
    if (row?.paused) goOn();
    else void pause.mutateAsync([job]).then(() => toast({ text: w.paused(name), undo: goOn }), refused);
  };

  const facts: [string, React.ReactNode][] = [];
  if (entry) facts.push([w.due, <DueIn key="due" at={entry.due.ms} text={when(entry.due)} />]);
  if (entry)
    facts.push([
      w.state,
      <span key="state" className="flex flex-wrap items-center gap-x-2">
        {entry.state ? <InstanceStateBadge state={entry.state} /> : w.notYet}
        <span className="text-ink-3 text-xs">{all.origins[entry.origin]}</span>
      </span>,
    ]);
  facts.push([w.schedule, said(words)]);
  if (entry) facts.push([w.why, <Why key="why" of={entry} />]);

  return (
    <div data-hue={hue % 12}>
      <header className="flex items-center gap-2 border-line border-b py-2 pr-2 pl-3">
        {onBack && <IconButton size="sm" label={w.back} icon={<ArrowLeft />} onPress={onBack} />}
        <span className="h-5 w-1 shrink-0 rounded-full bg-(--job-edge)" />
        <h2 className="min-w-0 flex-1 truncate font-semibold text-md" title={name}>
          {name}
        </h2>
        <IconButton
          size="sm"
          label={w.allRuns}
          icon={<ScrollText />}
          onPress={() => {
            onClose();
            router.history.push(`/runs?job=${encodeURIComponent(name)}`);
          }}
        />
        <Link
          to="/jobs/$job"
          params={{ job }}
          className="flex h-6 shrink-0 items-center gap-1 rounded-sm px-1.5 text-accent-ink text-xs outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
          onClick={onClose}
        >
          <ListTodo size={13} />
          {w.openJob}
        </Link>
      </header>
      <div className="flex flex-col gap-2 px-3 py-2.5">
        <Facts rows={facts} />
        {entry?.reason && <p className="rounded-sm bg-sunken px-2 py-1 text-ink-2 text-xs">{said(entry.reason)}</p>}
        {entry && !entry.can_move.ok && entry.can_move.why && !entry.state && (
          <p className="text-ink-3 text-xs">{said(entry.can_move.why)}</p>
        )}
      </div>
      <footer className="flex flex-wrap gap-1.5 border-line border-t px-3 py-2">
        {entry?.instance && (
          <Button
            size="sm"
            variant="primary"
            icon={<SquareArrowOutUpRight />}
            data-testid="entry-open-run"
            onPress={() => {
              onClose();
              router.history.push(`/runs/${encodeURIComponent(entry.instance ?? "")}`);
            }}
          >
            {w.openRun}
          </Button>
        )}
        {entry && !entry.state && entry.planned !== null && (
          <Button
            size="sm"
            variant="primary"
            icon={<MoveIcon />}
            hint={w.moveHint}
            why={entry.can_move.ok ? null : entry.can_move.why ? said(entry.can_move.why) : all.drag.cannot}
            data-testid="entry-move"
            {...(onMove ? { onPress: onMove } : {})}
          >
            {w.move}
          </Button>
        )}
        {entry && !entry.state && entry.planned !== null && (
          <Button
            size="sm"
            icon={<CalendarX2 />}
            data-testid="entry-skip"
            onPress={() => {
              onClose();
              skip(entry);
            }}
          >
            {w.skip}
          </Button>
        )}
        <Button
          size="sm"
          icon={<Play />}
          why={gone ?? (row && !row.can_run.ok && row.can_run.why ? said(row.can_run.why) : null)}
          data-testid="entry-run-now"
          onPress={runNow}
        >
          {w.runNow}
        </Button>
        <Button
          size="sm"
          icon={row?.paused ? <Play /> : <Pause />}
          why={gone}
          data-testid="entry-pause"
          onPress={togglePause}
        >
          {row?.paused ? w.resume : w.pause}
        </Button>
      </footer>
    </div>
  );
}
