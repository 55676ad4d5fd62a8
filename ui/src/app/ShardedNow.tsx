// A bar in the rail for as long as anything runs that is cut into shards. It leads there: to the run where there is one, to
// the list where there are several.
import { Link } from "@tanstack/react-router";
import { useRef } from "react";
import { useCalmly } from "@/api/live";
import { cx } from "@/lib/cx";
import { percent } from "@/lib/pace";
import { figure, useWords } from "@/lib/words";
import { type Busy, busyWith, NOT_BUSY, wholeOf } from "./busy";
import { shellWords } from "./words";

export function ShardedNow({ shut }: { shut: boolean }) {
  const w = useWords(shellWords);
  const status = useCalmly((live) => live.status);
  const busy = useRef<Busy>(NOT_BUSY);
  const seen = useRef<unknown>(null);
  if (status && seen.current !== status) {
    seen.current = status;
    busy.current = busyWith(busy.current, status.sharded ?? []);
  }
  const { now } = busy.current;
  const [first, another] = now;
  if (first === undefined) return null;
  const { done, total } = wholeOf(busy.current);
  const share = total === 0 ? 0 : percent(done, total);
  const text = `${Math.floor(share)} %`;
  const look = cx(
    "mx-2 block rounded-md px-2.5 py-1.5 outline-none hover:bg-rail-hover focus-visible:outline-2 focus-visible:outline-focus",
    shut && "px-1.5!",
  );
  const title = `${w.sharded(now.length)}: ${figure(done)} / ${figure(total)}`;
  const inside = (
    <>
      {!shut && (
        <span className="mb-1 flex items-baseline justify-between gap-2 text-2xs">
          <span className="truncate">{w.sharded(now.length)}</span>
          <span className="shrink-0 font-medium text-rail-ink-picked">{text}</span>
        </span>
      )}
      <span
        role="progressbar"
        aria-label={title}
        aria-valuenow={Math.floor(share)}
        aria-valuemin={0}
        aria-valuemax={100}
        className="block h-1 overflow-hidden rounded-full bg-rail-picked"
      >
        <span
          className="block h-full rounded-full bg-bell transition-[width] duration-200"
          style={{ width: `${Math.max(2, share)}%` }}
        />
      </span>
      {shut && <span className="mt-0.5 block text-center text-2xs">{text}</span>}
    </>
  );
  return another === undefined ? (
    <Link to="/runs/$instance" params={{ instance: first }} title={title} className={look} data-testid="rail-sharded">
      {inside}
    </Link>
  ) : (
    <Link to="/runs" search={{ state: "running" }} title={title} className={look} data-testid="rail-sharded">
      {inside}
    </Link>
  );
}
