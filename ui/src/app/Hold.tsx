// Hold everything: asking for it, with the reason, and the banner that no one can miss while it lasts.
import { Hand, Play } from "lucide-react";
import { useState } from "react";
import { useLive } from "@/api/live";
import { useHold, useRelease } from "@/api/node";
import { useNow } from "@/lib/clock";
import { relative } from "@/lib/relative";
import { useLang, useWords } from "@/lib/words";
import { Button, Dialog, TextField, toast } from "@/primitives";
import { shellWords } from "./words";

export function HoldDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const w = useWords(shellWords);
  const [reason, setReason] = useState("");
  const [asked, setAsked] = useState(false);
  const hold = useHold();
  const missing = asked && reason.trim() === "" ? w.holdNeedsReason : null;
  const close = () => {
    setReason("");
    setAsked(false);
    onClose();
  };
  const submit = () => {
    setAsked(true);
    if (reason.trim() !== "") hold.mutate(reason.trim(), { onSuccess: close });
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      role="alertdialog"
      title={w.holdTitle}
      lead={w.holdLead}
      footer={
        <>
          <Button onPress={close}>{w.cancel}</Button>
          <Button variant="primary" onPress={submit} isPending={hold.isPending}>
            {w.holdConfirm}
          </Button>
        </>
      }
    >
      <TextField
        autoFocus
        required
        className="mt-2"
        label={w.holdReason}
        hint={w.holdReasonHint}
        value={reason}
        onChange={setReason}
        error={missing}
        onKeyDown={(event) => event.key === "Enter" && submit()}
      />
    </Dialog>
  );
}

export function HoldBanner() {
  const w = useWords(shellWords);
  const lang = useLang();
  const now = useNow();
  const hold = useLive(({ status }) => status?.hold);
  const release = useRelease();
  if (!hold) return null;
  const body = w.bannerBody(hold.by, relative(hold.since, now, lang), hold.reason);
  return (
    <div
      role="alert"
      className="flex min-h-10 shrink-0 items-center gap-3 bg-[repeating-linear-gradient(-45deg,var(--warn-soft)_0_14px,color-mix(in_oklch,var(--warn)_16%,var(--warn-soft))_14px_28px)] px-4 py-1.5"
    >
      <span className="flex min-w-0 flex-1 items-center gap-2.5 rounded-sm bg-surface px-2.5 py-1 text-ink">
        <Hand size={16} className="shrink-0 text-warn" />
        <strong className="shrink-0 font-semibold">{w.bannerTitle}</strong>
        <span className="min-w-0 truncate text-ink-2" title={body}>
          {body}
        </span>
      </span>
      <Button
        size="sm"
        icon={<Play />}
        isPending={release.isPending}
        onPress={() => release.mutate(undefined, { onSuccess: () => toast({ text: w.releasing }) })}
      >
        {w.release}
      </Button>
    </div>
  );
}
