// How full an executor is: a bar of its places, what waits behind them, and both as figures.
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { executorWords } from "./words";

export function Load({
  running,
  inHand,
  capacity,
  quiet = false,
}: {
  running: number;
  inHand: number;
  capacity: number;
  quiet?: boolean;
}) {
  const w = useWords(executorWords);
  const waits = Math.max(0, inHand - running);
  const share = capacity === 0 ? 0 : Math.min(1, running / capacity);
  return (
    <span className="flex min-w-0 items-center gap-2" title={waits > 0 ? w.waits(waits) : undefined}>
      <span aria-hidden="true" className="h-1.5 w-16 shrink-0 overflow-hidden rounded-full bg-line">
        <span
          className={cx("block h-full rounded-full", share >= 1 ? "bg-warn" : "bg-running")}
          style={{ width: `${share * 100}%` }}
        />
      </span>
      <span className={cx("shrink-0", quiet && "text-ink-3")}>{w.of(running, capacity)}</span>
      {waits > 0 && <span className="truncate text-ink-3 text-xs">{w.waits(waits)}</span>}
    </span>
  );
}

/** A reading of a machine; above `busy` it stands out. */
export function Reading({ label, value, busy }: { label: string; value: number | null; busy: number }) {
  if (value === null) return null;
  const high = value > busy;
  return (
    <span className={cx("whitespace-nowrap text-xs", high ? "font-medium text-warn" : "text-ink-2")}>
      <span className={high ? "" : "text-ink-3"}>{label}</span> {Math.round(value)} %{high && " ▲"}
    </span>
  );
}
