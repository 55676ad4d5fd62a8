// What a change of a calendar does to the times of jobs, before it is saved.
import { useQuery } from "@tanstack/react-query";
import { effectQuery } from "@/api/calendars";
import type { WorkCalendar as Calendar, JobTimesChange } from "@/api/types";
import { RefusalNotice } from "@/components";
import { useSettled } from "@/lib/settled";
import { useSaid, useWords } from "@/lib/words";
import { Notice, Skeleton } from "@/primitives";
import { calendarsWords } from "./calendarWords";

export function CalendarEffect({ calendar, revision }: { calendar: Calendar; revision: number }) {
  const w = useWords(calendarsWords);
  const said = useSaid();
  const effect = useQuery(effectQuery(useSettled(calendar, 250), revision));
  return (
    <section data-testid="calendar-effect" aria-busy={effect.isFetching}>
      <h2 className="mb-1 font-semibold">{w.effect}</h2>
      {effect.isPending && <Skeleton className="h-16 w-full" />}
      {effect.error && <RefusalNotice error={effect.error} />}
      {effect.data?.faults.map((fault) => (
        <Notice key={fault.code + fault.message.en} tone="bad" title={said(fault.message)} />
      ))}
      {effect.data && effect.data.faults.length === 0 && (
        <JobTimes jobs={effect.data.jobs} more={effect.data.more_jobs} />
      )}
    </section>
  );
}

export function JobTimes({ jobs, more }: { jobs: readonly JobTimesChange[]; more: number }) {
  const w = useWords(calendarsWords);
  if (jobs.length === 0) return <p className="text-ink-3">{w.effectNone}</p>;
  return (
    <>
      <p className="mb-1 text-warn">{w.effectJobs(jobs.length + more)}</p>
      <ul className="flex flex-col gap-2">
        {jobs.map((job) => (
          <li key={job.job}>
            <div className="truncate font-medium" title={job.name}>
              {job.name}
            </div>
            <ol className="text-xs">
              {job.changes.slice(0, 4).map((change) => (
                <li key={change.planned.ms} className="flex flex-wrap gap-x-1.5">
                  <span className="text-ink-3 line-through">{change.before?.text.slice(0, 16) ?? "—"}</span>
                  <span aria-hidden="true">→</span>
                  <span className="text-accent-ink">{change.after?.text.slice(0, 16) ?? "—"}</span>
                </li>
              ))}
            </ol>
            {job.changes.length - 4 + job.more > 0 && (
              <p className="text-ink-3 text-xs">{w.effectMore(Math.max(0, job.changes.length - 4) + job.more)}</p>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
