// One lock in full: who holds it and for how long yet, and everyone who waits for it.
import { Link } from "@tanstack/react-router";
import type { LockParty, LockView } from "@/api/types";
import { DueIn, usePartName } from "@/components";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { countdown } from "@/lib/relative";
import { figure, marks, useLang, useWords } from "@/lib/words";
import { Facts, Section } from "@/primitives";
import { infrastructureWords } from "./words";

/** It is renewed for 30 s every 10 s, and seen a second later: one with less than this was not renewed in time. */
const LATE_MS = 15_000;

/** The run of an attempt, which opens it, and its executor. */
export function Party({ of: party }: { of: LockParty }) {
  const w = useWords(infrastructureWords).locks;
  const m = useWords(marks);
  const partName = usePartName();
  const executor = `${party.group}/${party.executor}`;
  const attempt = party.attempt > 1 ? ` · ${w.attempt(party.attempt)}` : "";
  return (
    <span className="flex min-w-0 items-baseline gap-1.5" title={party.of ? undefined : party.task}>
      {party.of ? (
        <Link
          to="/runs/$instance"
          params={{ instance: party.of.instance }}
          title={w.openRun}
          className="truncate rounded-sm text-accent-ink outline-none hover:underline focus-visible:outline-2 focus-visible:outline-focus"
        >
          {party.of.job_name}
          {party.of.part && m.open + partName(party.of.part) + m.close}
        </Link>
      ) : (
        <span className="truncate">{w.unknownTask(party.task.slice(-8))}</span>
      )}
      <span className="shrink-[2] truncate text-ink-3 text-xs">
        {executor}
        {attempt}
      </span>
    </span>
  );
}

/** Counted down from the instant that the node gave, and what comes then. */
export function Left({ until, watched }: { until: number; watched: boolean }) {
  const w = useWords(infrastructureWords).locks;
  const lang = useLang();
  const left = until - useNow();
  const late = watched && left < LATE_MS;
  const title = watched ? (late ? w.lateTitle : w.renewedTitle) : w.leaseTitle;
  return (
    <span data-testid="lock-left" className="flex min-w-0 items-baseline gap-1.5" title={title}>
      <span className={cx("shrink-0", late && "font-medium text-warn")}>
        {left > 0 ? countdown(left, lang) : w.over}
      </span>
      <span className={cx("truncate text-xs", late ? "font-medium text-warn" : "text-ink-3")}>
        {watched ? (late ? `▲ ${w.late}` : w.renewed) : w.lease}
      </span>
    </span>
  );
}

export function LockDetail({ of: row }: { of: LockView }) {
  const w = useWords(infrastructureWords).locks;
  const { holder, waiters } = row;
  return (
    <div className="flex flex-col gap-5 p-4" data-testid="lock-detail">
      {holder ? (
        <Facts
          rows={[
            [w.holder, <Party key="holder" of={holder} />],
            [w.columns.left, <Left key="left" until={holder.until.ms} watched={row.watched} />],
            [w.columns.since, <DueIn key="since" at={holder.since.ms} text={holder.since.text} />],
            [w.columns.count, w.times(row.count)],
            [w.columns.token, row.token === null ? "—" : figure(row.token)],
            [
              w.task,
              <code key="task" className="text-xs">
                {holder.task}
              </code>,
            ],
            [w.attemptName, figure(holder.attempt)],
            [w.node, holder.node],
          ]}
        />
      ) : (
        <p className="text-ink-3">{w.unknownHolder}</p>
      )}
      <Section title={w.waitersTitle} note={waiters.length > 1 ? w.waitersNote : undefined}>
        {waiters.length === 0 ? (
          <p className="text-ink-3">{w.noWaiters}</p>
        ) : (
          <ul className="panel divide-y divide-line">
            {waiters.map((waiter) => (
              <li key={`${waiter.task}/${waiter.attempt}`} className="flex items-center gap-3 px-3 py-1.5">
                <span className="min-w-0 flex-1">
                  <Party of={waiter} />
                </span>
                <DueIn at={waiter.since.ms} quiet />
                <span className="shrink-0 text-ink-3 text-xs">
                  {w.given} <DueIn at={waiter.until.ms} quiet />
                </span>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </div>
  );
}
