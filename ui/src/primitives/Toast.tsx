// A word about what just happened, at the lower right. Good news goes by itself; a failure stays until it is dismissed.
// What can be taken back offers `undo`, on the toast and on Ctrl+Z for as long as it shows.
//
//   toast({ text: "Moved", undo: () => … });   toast({ tone: "bad", text, detail, code });
import { AlertTriangle, Check, X } from "lucide-react";
import { useEffect, useSyncExternalStore } from "react";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { useWords } from "@/lib/words";
import { Button, IconButton } from "./Button";
import { primitiveWords } from "./words";

export interface ToastText {
  text: string;
  detail?: string | undefined;
  /** The stable code of a fault, small and selectable, for whoever has to look it up. */
  code?: string | undefined;
  tone?: "ok" | "bad";
  undo?: () => void;
  lastsMs?: number;
}

interface Shown extends ToastText {
  id: number;
}

const MOST = 4;
let shown: readonly Shown[] = [];
let next = 1;
const listeners = new Set<() => void>();

function set(list: readonly Shown[]) {
  shown = list;
  for (const listener of listeners) listener();
}

export function toast(text: ToastText): number {
  const id = next++;
  set(
    [...shown.filter((each) => each.text !== text.text || each.detail !== text.detail), { ...text, id }].slice(-MOST),
  );
  return id;
}

export function dismissToast(id: number) {
  set(shown.filter((each) => each.id !== id));
}

export function Toasts() {
  const w = useWords(primitiveWords);
  const list = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
  const undoable = list.findLast((each) => each.undo);
  const takeBack = (each: Shown) => {
    dismissToast(each.id);
    each.undo?.();
  };
  useHotkey("ctrl+z", w.undo, () => undoable && takeBack(undoable), {
    enabled: undoable !== undefined,
    palette: false,
  });
  return (
    <section
      aria-label={w.notifications}
      aria-live="polite"
      className="pointer-events-none fixed right-4 bottom-10 z-50 flex w-90 flex-col gap-2"
    >
      {list.map((each) => (
        <One key={each.id} toast={each} undo={() => takeBack(each)} />
      ))}
    </section>
  );
}

function One({
  toast: { id, text, detail, code, tone = "ok", undo: offered, lastsMs },
  undo,
}: {
  toast: Shown;
  undo: () => void;
}) {
  const w = useWords(primitiveWords);
  const stays = tone === "bad" && lastsMs === undefined;
  useEffect(() => {
    if (stays) return;
    const timer = window.setTimeout(() => dismissToast(id), lastsMs ?? (offered ? 10_000 : 4_500));
    return () => window.clearTimeout(timer);
  }, [id, stays, lastsMs, offered]);
  return (
    <div
      role={tone === "bad" ? "alert" : "status"}
      className="enter-sheet pointer-events-auto flex items-start gap-2.5 rounded-lg bg-surface py-2 pr-1.5 pl-3 shadow-pop"
    >
      <span className={cx("mt-1.5 shrink-0", tone === "bad" ? "text-bad" : "text-ok")}>
        {tone === "bad" ? <AlertTriangle size={15} /> : <Check size={15} strokeWidth={2.4} />}
      </span>
      <div className="prose-nums min-w-0 flex-1 py-1">
        <div className="break-words">{text}</div>
        {detail && <div className="mt-0.5 break-words text-ink-2 text-xs">{detail}</div>}
        {code && <code className="mt-0.5 block select-text text-2xs text-ink-3">{code}</code>}
      </div>
      {offered && (
        <Button size="sm" variant="quiet" kbd="ctrl+z" onPress={undo}>
          {w.undo}
        </Button>
      )}
      <IconButton size="sm" label={w.dismiss} icon={<X />} onPress={() => dismissToast(id)} className="mt-0.5" />
    </div>
  );
}
