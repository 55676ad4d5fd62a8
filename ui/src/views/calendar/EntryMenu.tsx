// What a right click on a firing offers: run, skip, move, pause, and the ways to its run and its job.
import { useQuery } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { CalendarX2, ListTodo, MoveRight, Pause, Pencil, Play, SquareArrowOutUpRight } from "lucide-react";
import { type CalendarEntry, useSkipRun, useTakeBackMove } from "@/api/calendar";
import { jobQuery, usePauseJobs, useResumeJobs, useRunJobs } from "@/api/jobs";
import { useSaid, useWords } from "@/lib/words";
import { ContextMenu, type MenuEntry, toast } from "@/primitives";
import { useWhen } from "./RescheduleDialog";
import { calendarWords } from "./words";

interface EntryMenuProps {
  entry: CalendarEntry;
  at: { x: number; y: number };
  onClose: () => void;
  onMove: () => void;
}

export function EntryMenu({ entry, at, onClose, onMove }: EntryMenuProps) {
  const all = useWords(calendarWords);
  const w = all.menu;
  const said = useSaid();
  const router = useRouter();
  const row = useQuery(jobQuery(entry.job)).data?.row;
  const run = useRunJobs();
  const pause = usePauseJobs();
  const resume = useResumeJobs();
  const skip = useSkipEntry();
  const { job, name } = entry;
  const refused = () => undefined;
  const goOn = () => void resume.mutateAsync([job]).then(() => toast({ text: all.pop.resumed(name) }), refused);
  const items: MenuEntry[] = [];
  if (entry.instance)
    items.push({
      id: "open-run",
      label: w.openRun,
      icon: <SquareArrowOutUpRight />,
      run: () => router.history.push(`/runs/${encodeURIComponent(entry.instance ?? "")}`),
    });
  items.push({
    id: "run",
    label: w.run,
    icon: <Play />,
    why: row && !row.can_run.ok && row.can_run.why ? said(row.can_run.why) : null,
    run: () => void run.mutateAsync([job]).then(() => toast({ text: all.pop.ran(name) }), refused),
  });
  if (!entry.state)
    items.push(
      {
        id: "skip",
        label: w.skip,
        icon: <CalendarX2 />,
        kbd: "x",
        why: entry.planned === null ? w.notSkipped : null,
        run: () => skip(entry),
      },
      {
        id: "move",
        label: w.move,
        icon: <MoveRight />,
        kbd: "m",
        why: entry.can_move.ok ? null : entry.can_move.why ? said(entry.can_move.why) : all.drag.cannot,
        run: onMove,
      },
    );
  items.push(
    "line",
    row?.paused
      ? { id: "resume", label: w.resume, icon: <Play />, run: goOn }
      : {
          id: "pause",
          label: w.pause,
          icon: <Pause />,
          run: () =>
            void pause.mutateAsync([job]).then(() => toast({ text: all.pop.paused(name), undo: goOn }), refused),
        },
    {
      id: "edit",
      label: w.edit,
      icon: <Pencil />,
      run: () => router.history.push(`/jobs/${encodeURIComponent(job)}/edit`),
    },
    {
      id: "job",
      label: all.pop.openJob,
      icon: <ListTodo />,
      run: () => router.history.push(`/jobs/${encodeURIComponent(job)}`),
    },
  );
  return <ContextMenu at={at} onClose={onClose} label={`${w.label}: ${name}`} items={items} />;
}

/** Leaves out a run that is to come; the toast takes it back. */
export function useSkipEntry() {
  const w = useWords(calendarWords).menu;
  const when = useWhen();
  const skip = useSkipRun();
  const takeBack = useTakeBackMove();
  return (entry: CalendarEntry) => {
    const { job, name, planned } = entry;
    if (planned === null || entry.state) return;
    void skip.mutateAsync({ job, planned }).then(
      ({ before, version }) =>
        toast({
          text: w.skipped(name, when(entry.due)),
          undo: () =>
            void takeBack.mutateAsync({ job, version: before, seen_version: version }).then(
              () => toast({ text: w.back(name) }),
              () => undefined,
            ),
        }),
      () => undefined,
    );
  };
}
