// A blackout window whose end was pulled: what it would hold back then, against now; and of one that comes again that all of
// its times would last so long. What is saved can be taken back from the toast or with Ctrl+Z.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ArrowRight, Repeat } from "lucide-react";
import { blackoutEffectQuery, usePutBlackout, useRestoreBlackout } from "@/api/blackouts";
import type { BlackoutRow } from "@/api/types";
import { instantOf } from "@/api/walltime";
import { EffectOf, EffectSkeleton, RefusalNotice } from "@/components";
import { useWords } from "@/lib/words";
import { Button, Dialog, Notice, toast } from "@/primitives";
import { type Pull, readingOf, withEnd } from "./blackouts";
import { calendarWords } from "./words";

interface PullDialogProps {
  pull: Pull;
  row: BlackoutRow;
  /** The first of the days by which the pull counts, and the zone of their wall. */
  first: string;
  zone: string;
  onClose: () => void;
}

export function PullDialog({ pull, row, first, zone, onClose }: PullDialogProps) {
  const w = useWords(calendarWords);
  const b = w.blackout;
  const client = useQueryClient();
  const put = usePutBlackout();
  const restore = useRestoreBlackout();
  const { name, blackout } = row;
  const { span } = pull;
  const reading = readingOf(first, pull.end);
  const wanted = useQuery({
    queryKey: ["blackouts", "pulled", name, span.from.ms, reading, zone],
    gcTime: 0,
    retry: false,
    queryFn: async () => ({ name, blackout: withEnd(blackout, span.from.ms, await instantOf(client, reading, zone)) }),
  });
  const effect = useQuery({ ...blackoutEffectQuery(wanted.data ?? row), enabled: wanted.data !== undefined });
  const found = wanted.data && !effect.isPlaceholderData ? effect.data : undefined;
  const again = blackout.window.schedule !== undefined;
  const error = wanted.error ?? effect.error;

  const save = () => {
    if (!wanted.data || put.isPending) return;
    put.mutate(wanted.data, {
      onSuccess: () => {
        onClose();
        toast({
          text: b.saved(name),
          detail: again ? b.each(pull.end - pull.from) : b.until(w.dayOf(reading.slice(0, 10)), reading.slice(11)),
          // The dialog is gone by then, so what follows hangs on the promise; a refusal has its toast already.
          undo: () =>
            void restore.mutateAsync({ name, blackout }).then(
              () => toast({ text: b.asBefore(name) }),
              () => undefined,
            ),
        });
      },
    });
  };

  return (
    <Dialog
      open
      onClose={onClose}
      width={520}
      title={b.pullTitle(name)}
      lead={
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="text-ink-3 line-through decoration-ink-3/60">{b.lasts(pull.before - pull.from)}</span>
          <ArrowRight size={14} className="text-ink-3" />
          <strong className="font-semibold text-ink">{b.lasts(pull.end - pull.from)}</strong>
          <span className="text-ink-3 text-xs">{b.until(w.dayOf(reading.slice(0, 10)), reading.slice(11))}</span>
        </span>
      }
      footer={
        <>
          <Button onPress={onClose}>{b.cancel}</Button>
          <Button
            autoFocus
            variant="primary"
            why={found ? null : b.reading}
            isPending={put.isPending}
            onPress={save}
            data-testid="pull-save"
          >
            {again ? b.saveAll : b.save}
          </Button>
        </>
      }
    >
      <div data-testid="pull-dialog" className="flex flex-col gap-3">
        {again && (
          <Notice tone="warn" icon={<Repeat />} title={b.againTitle}>
            {b.againLead}
          </Notice>
        )}
        {error ? (
          <RefusalNotice error={error} />
        ) : found ? (
          <EffectOf effect={found} held={row} stale={false} />
        ) : (
          <EffectSkeleton />
        )}
        {put.isError && <RefusalNotice error={put.error} />}
      </div>
    </Dialog>
  );
}
