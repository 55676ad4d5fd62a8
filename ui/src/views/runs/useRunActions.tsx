// Cancelling and retrying some runs: what of them may be, the question before a cancel, what is said after.
import { useState } from "react";
import { type Asked, useCancelInstances, useRetryInstances } from "@/api/instances";
import type { InstanceRow } from "@/api/types";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, toast } from "@/primitives";
import { runsWords } from "./words";

export function useRunActions(rows: readonly InstanceRow[]) {
  const w = useWords(runsWords);
  const said = useSaid();
  const cancel = useCancelInstances();
  const retry = useRetryInstances();
  const [asking, setAsking] = useState<readonly string[] | null>(null);

  const toCancel = rows.filter((row) => row.can_cancel.ok).map((row) => row.id);
  const toRetry = rows.filter((row) => row.can_retry.ok).map((row) => row.id);
  const reason = (none: string, of: "can_cancel" | "can_retry") => {
    const [only, another] = rows;
    if (!only) return w.nothingSelected;
    const why = another ? null : only[of].why;
    return why ? said(why) : none;
  };
  const tell = (text: (n: number) => string) => (asked: Asked) =>
    toast({ text: text(asked.done), ...(asked.refused > 0 ? { detail: w.refused(asked.refused) } : {}) });

  return {
    toCancel,
    toRetry,
    whyNotCancel: toCancel.length > 0 ? null : reason(w.noneToCancel, "can_cancel"),
    whyNotRetry: toRetry.length > 0 ? null : reason(w.noneToRetry, "can_retry"),
    cancel: () => toCancel.length > 0 && setAsking(toCancel),
    retry: () => toRetry.length > 0 && retry.mutate(toRetry, { onSuccess: tell(w.retried) }),
    question: (
      <Dialog
        open={asking !== null}
        onClose={() => setAsking(null)}
        role="alertdialog"
        title={w.cancelTitle(asking?.length ?? 0)}
        lead={w.cancelLead}
        footer={
          <>
            <Button onPress={() => setAsking(null)}>{w.keep}</Button>
            <Button
              variant="danger"
              autoFocus
              data-testid="confirm-cancel"
              onPress={() => {
                if (asking) cancel.mutate(asking, { onSuccess: tell(w.cancelled) });
                setAsking(null);
              }}
            >
              {w.cancelSelected(asking?.length ?? 0)}
            </Button>
          </>
        }
      />
    ),
  };
}
