// A change of one job that was made with the hand: a run put down a second time, or its spread pulled. Shows what the node
// says would come of it; what is saved can be taken back from the toast or with Ctrl+Z.
import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import { type Adjust, adjustQuery, useSaveMove, useTakeBackMove } from "@/api/calendar";
import { RefusalNotice } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, Notice, Skeleton, toast } from "@/primitives";
import { Collisions, Effect } from "./RescheduleDialog";
import { calendarWords } from "./words";

export interface JobChange {
  job: string;
  name: string;
  title: string;
  lead: string;
  done: string;
  adjust: Adjust;
}

export function ChangeDialog({ change, onClose }: { change: JobChange; onClose: () => void }) {
  const all = useWords(calendarWords);
  const w = all.change;
  const said = useSaid();
  const query = useQuery(adjustQuery(change.job, change.adjust));
  const save = useSaveMove();
  const takeBack = useTakeBackMove();
  const found = query.data;
  const choice = found?.choice;
  const refused = choice && !choice.allowed.ok ? (choice.allowed.why ? said(choice.allowed.why) : w.refused) : null;

  const onSave = () => {
    if (!found?.choice.spec || refused || save.isPending) return;
    const { job, name, version } = found;
    save.mutate(
      { spec: found.choice.spec, job, seen_version: version },
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
            why={found ? refused : w.reading}
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
        {refused && <Notice tone="bad" icon={<CircleAlert />} title={refused} />}
        {!found && !query.isError && <Skeleton className="h-40 w-full" />}
        {choice && !refused && (
          <>
            <Effect choice={choice} to={null} />
            <Collisions names={choice.collisions} />
          </>
        )}
        {save.isError && <RefusalNotice error={save.error} />}
      </div>
    </Dialog>
  );
}
