// A change of one job that was made with the hand: a run put down a second time, or its spread pulled. Shows the next runs
// before and after; what is saved can be taken back from the toast or with Ctrl+Z.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { changeQuery, useSaveMove, useTakeBackMove } from "@/api/calendar";
import type { JobSpec } from "@/api/types";
import { RefusalNotice } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, Notice, Skeleton, toast } from "@/primitives";
import { Runs } from "./RescheduleDialog";
import { calendarWords } from "./words";

export interface JobChange {
  job: string;
  name: string;
  title: string;
  lead: string;
  done: string;
  /** What tells this change from another one of the same job. */
  key: string;
  change: (spec: JobSpec) => JobSpec | Promise<JobSpec>;
  /** The moment it is about, to be found among the runs. */
  at: number | null;
}

export function ChangeDialog({ change, onClose }: { change: JobChange; onClose: () => void }) {
  const all = useWords(calendarWords);
  const w = all.change;
  const said = useSaid();
  const query = useQuery(changeQuery(change.job, change.key, change.change));
  const save = useSaveMove();
  const takeBack = useTakeBackMove();
  const found = query.data;
  const fault = found?.faults[0];
  const moments = (preview: { runs: { due: { ms: number; text: string; offset: string } }[] } | null | undefined) =>
    (preview?.runs ?? []).slice(0, 8).map((run) => run.due);
  const before = moments(found?.before);
  const after = moments(found?.after);
  const was = new Set((found?.before?.runs ?? []).map((run) => run.due.ms));
  const is = new Set((found?.after?.runs ?? []).map((run) => run.due.ms));

  const onSave = () => {
    if (!found || fault || save.isPending) return;
    const { job, name } = change;
    const { version } = found.detail.row;
    save.mutate(
      { spec: found.spec, job, seen_version: version },
      {
        onSuccess: (done) => {
          onClose();
          toast({
            text: change.done,
            detail: change.lead,
            undo: () =>
              void takeBack.mutateAsync({ job, version, seen_version: done.version }).then(
                () => toast({ text: all.menu.back(name) }),
                () => undefined,
              ),
          });
        },
      },
    );
  };

  return (
    <Dialog
      open
      onClose={onClose}
      width={560}
      title={change.title}
      lead={change.lead}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button
            autoFocus
            variant="primary"
            why={!found ? w.reading : fault ? said(fault.message) : null}
            isPending={save.isPending}
            onPress={onSave}
            data-testid="change-save"
          >
            {w.save}
          </Button>
        </>
      }
    >
      <div data-testid="change-dialog" className="flex flex-col gap-3">
        {query.isError && <RefusalNotice error={query.error} onAgain={() => void query.refetch()} />}
        {fault && <Notice tone="bad" icon={<CircleAlert />} title={said(fault.message)} />}
        {!found && !query.isError && <Skeleton className="h-40 w-full" />}
        {found && !fault && (
          <>
            {found.after && (
              <div>
                <div className="eyebrow mb-1">{w.words}</div>
                <div className="rounded-md bg-sunken px-3 py-2 font-medium ring-1 ring-line ring-inset">
                  {said(found.after.words)}
                </div>
              </div>
            )}
            <div className="grid grid-cols-2 gap-4">
              <Runs title={all.ask.before} moments={before} mark={(ms) => (is.has(ms) ? null : "gone")} to={null} />
              <Runs title={all.ask.after} moments={after} mark={(ms) => (was.has(ms) ? null : "new")} to={change.at} />
            </div>
          </>
        )}
        {save.isError && <RefusalNotice error={save.error} />}
      </div>
    </Dialog>
  );
}
