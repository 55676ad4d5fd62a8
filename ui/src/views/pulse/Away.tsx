// While you were away: what waits for an answer, first; then what did not fire, job by job, with why and a way to run it
// now. Where nobody was away it tells of the last day.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, CircleHelp, Play, X } from "lucide-react";
import type { ReactNode } from "react";
import { awayQuery, useAnswerQuestions, useAwaySince } from "@/api/away";
import { useRunJobs } from "@/api/jobs";
import type { AwayRow, AwayView, Moment, QuestionRow } from "@/api/types";
import { Answer, DueIn, InstanceStateBadge } from "@/components";
import { useMinute } from "@/lib/clock";
import { stretch } from "@/lib/stretch";
import { useSaid, useWords } from "@/lib/words";
import { Button, Clip, Skeleton, toast } from "@/primitives";
import { Card, Nothing } from "./Card";
import { pulseWords } from "./words";

const QUARTER_MS = 900_000;

export function Away({ className }: { className: string }) {
  const w = useWords(pulseWords);
  const [since, seen] = useAwaySince();
  const quarter = Math.floor(useMinute() / QUARTER_MS);
  const away = useQuery(awayQuery(since, quarter));
  const view = away.data;
  return (
    <Card
      className={className}
      title={since === null ? w.away : w.whileAway}
      note={view ? (since === null ? w.awayNote : w.awaySince(view.since.text.slice(5, 16))) : undefined}
      flush
      {...(since === null
        ? {}
        : {
            action: (
              <Button size="sm" variant="quiet" icon={<Check />} onPress={seen}>
                {w.gotIt}
              </Button>
            ),
          })}
    >
      <Answer of={away} skeleton={<Skeleton className="mx-4 h-24 w-auto" />}>
        {(found) => <Detail view={found} last={since === null} />}
      </Answer>
    </Card>
  );
}

function Detail({ view, last }: { view: AwayView; last: boolean }) {
  const w = useWords(pulseWords);
  const { questions, rows } = view;
  if (questions.length + rows.length === 0)
    return <Nothing icon={<Check />}>{last ? w.noOmissions : w.allFired}</Nothing>;
  return (
    <div data-testid="away">
      {questions.length > 0 && <Questions questions={questions} />}
      {rows.length > 0 && (
        <p className="px-4 pt-1 pb-1 text-ink-2 text-xs">{w.awayCounts(view.missed, view.folded, view.skipped)}</p>
      )}
      <ul>
        {rows.slice(0, 6).map((row) => (
          <Lost key={row.job} row={row} />
        ))}
      </ul>
      {(rows.length > 6 || !view.complete) && (
        <p className="px-4 py-1 text-ink-3 text-xs">{view.complete ? w.moreJobs(rows.length - 6) : w.notComplete}</p>
      )}
    </div>
  );
}

function Questions({ questions }: { questions: readonly QuestionRow[] }) {
  const w = useWords(pulseWords);
  const said = useSaid();
  const answer = useAnswerQuestions();
  const say = (asked: readonly QuestionRow[], run: boolean) => {
    const names = asked.length === 1 ? (asked[0]?.name ?? "") : w.jobsOf(asked.length);
    answer.mutate(
      { questions: asked.map((each) => each.id), run },
      { onSuccess: () => toast({ text: run ? w.started(names) : w.left(names) }) },
    );
  };
  const open = questions.filter((each) => each.can_answer.ok);
  return (
    <div role="group" aria-label={w.asked(questions.length)} className="mx-3 mb-2 rounded-md bg-warn-soft">
      <div className="flex min-h-8 items-center gap-2 px-2 pt-1">
        <CircleHelp size={15} className="shrink-0 text-warn" />
        <span className="flex-1 font-medium text-warn">{w.asked(questions.length)}</span>
        {open.length > 1 && (
          <>
            <Button size="sm" variant="quiet" onPress={() => say(open, false)}>
              {w.skipAll}
            </Button>
            <Button size="sm" onPress={() => say(open, true)}>
              {w.runAll}
            </Button>
          </>
        )}
      </div>
      <ul>
        {questions.map((each) => {
          const why = each.can_answer.ok ? null : each.can_answer.why && said(each.can_answer.why);
          return (
            <li key={each.id} data-testid="question" className="flex min-h-11 items-center gap-2 px-2 py-1">
              <JobLine of={each} count={each.count}>
                <Clip>{said(each.words)}</Clip>
                <span className="shrink-0">
                  {w.skippedIn} <DueIn at={each.until.ms} quiet />
                </span>
              </JobLine>
              <Button size="sm" icon={<X />} why={why} isDisabled={answer.isPending} onPress={() => say([each], false)}>
                {w.skip}
              </Button>
              <Button
                size="sm"
                variant="primary"
                icon={<Play />}
                why={why}
                isDisabled={answer.isPending}
                onPress={() => say([each], true)}
              >
                {w.run}
              </Button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function Lost({ row }: { row: AwayRow }) {
  const w = useWords(pulseWords);
  const said = useSaid();
  const run = useRunJobs();
  const why = row.omissions[0];
  return (
    <li className="flex h-11 items-center gap-2.5 px-4 hover:bg-hover">
      <InstanceStateBadge state={row.missed > 0 ? "missed" : "skipped"} brief />
      <JobLine of={row} count={row.missed + row.folded + row.skipped + row.asked}>
        {why && <Clip>{said(why.words)}</Clip>}
      </JobLine>
      <Button
        size="sm"
        variant="quiet"
        icon={<Play />}
        why={row.can_run.ok ? null : row.can_run.why && said(row.can_run.why)}
        onPress={() => run.mutate([row.job], { onSuccess: () => toast({ text: w.started(row.name) }) })}
      >
        {w.runNow}
      </Button>
    </li>
  );
}

interface JobLineProps {
  of: { job: string; name: string; from: Moment; to: Moment };
  count: number;
  children: ReactNode;
}

/** Which job, how often and when; and beneath it why. */
function JobLine({ of: { job, name, from, to }, count, children }: JobLineProps) {
  const w = useWords(pulseWords);
  return (
    <div className="min-w-0 flex-1">
      <div className="flex items-baseline gap-1.5">
        <Link to="/jobs/$job" params={{ job }} className="truncate font-medium hover:underline" title={name}>
          {name}
        </Link>
        <span className="shrink-0 text-ink-2 text-xs">
          {w.times(count)} · {stretch(from, to)}
        </span>
      </div>
      <div className="flex gap-1.5 text-ink-2 text-xs">{children}</div>
    </div>
  );
}
