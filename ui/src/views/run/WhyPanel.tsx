// Why this run ran when it ran, or what it waits for: the whole chain, each link with its time, who did it and for what
// reason; and, where it still waits, the rule that will end the wait.
import { useQuery } from "@tanstack/react-query";
import { Hourglass } from "lucide-react";
import { whyQuery } from "@/api/instances";
import type { WhyLink, WhyTone, WhyView } from "@/api/types";
import { Answer, DueIn } from "@/components";
import { cx } from "@/lib/cx";
import { span } from "@/lib/relative";
import { useLang, useSaid, useWords } from "@/lib/words";
import { Notice, SkeletonRows } from "@/primitives";
import { runWords } from "./words";

const DOT: Record<WhyTone, string> = {
  plain: "bg-accent-ink",
  good: "bg-ok",
  bad: "bg-bad",
  late: "bg-warn",
  waits: "breathing border-2 border-running bg-surface",
};

const TEXT: Record<WhyTone, string> = {
  plain: "",
  good: "text-ok",
  bad: "text-bad",
  late: "text-warn",
  waits: "text-running",
};

/** A pause of so long stands out. */
const LONG_MS = 1_000;

export function WhyPanel({ instance }: { instance: string }) {
  const query = useQuery(whyQuery({ id: instance }));
  return (
    <Answer of={query} skeleton={<SkeletonRows rows={6} />}>
      {(view) => <Why of={view} />}
    </Answer>
  );
}

export function Why({ of: view }: { of: WhyView }) {
  const w = useWords(runWords).why;
  const said = useSaid();
  return (
    <div className="flex flex-col gap-3" data-testid="run-why">
      <p className="select-text font-medium">{said(view.verdict)}</p>
      {view.waiting && (
        <Notice tone="running" icon={<Hourglass />} title={said(view.waiting.words)}>
          <span className="block">
            {w.since} <DueIn at={view.waiting.since.ms} text={view.waiting.since.text.slice(11)} />
          </span>
          <span className="block">
            {w.ends} {said(view.waiting.ends)}
            {view.waiting.ends_at && (
              <>
                {" · "}
                <DueIn at={view.waiting.ends_at.ms} text={view.waiting.ends_at.text.slice(11)} />
              </>
            )}
          </span>
        </Notice>
      )}
      <ol className="flex flex-col">
        {view.links.map((link, i) => (
          <Link key={`${link.step}-${i}`} link={link} before={view.links[i - 1]} last={i === view.links.length - 1} />
        ))}
      </ol>
    </div>
  );
}

function Link({ link, before, last }: { link: WhyLink; before: WhyLink | undefined; last: boolean }) {
  const w = useWords(runWords).why;
  const said = useSaid();
  const lang = useLang();
  const day = link.at?.text.slice(0, 10);
  const turned = day !== undefined && before?.at !== undefined && before?.at?.text.slice(0, 10) !== day;
  const anew =
    link.attempt !== null && before?.attempt !== null && before?.attempt !== link.attempt && link.attempt > 1;
  return (
    <li className="grid grid-cols-[92px_14px_1fr] gap-x-2" data-step={link.step}>
      <span className="pt-0.5 text-right">
        {link.at ? (
          <time className="prose-nums block text-2xs text-ink-3" title={`${link.at.text} ${link.at.offset}`}>
            {turned && <span className="block">{day}</span>}
            {link.at.text.slice(11)}.{String(link.at.ms % 1000).padStart(3, "0")}
          </time>
        ) : (
          <span className="text-2xs text-ink-3">{link.tone === "waits" ? w.now : ""}</span>
        )}
        {link.after_ms !== null && link.after_ms >= LONG_MS && (
          <span className="block text-2xs text-warn">+{span(link.after_ms, lang)}</span>
        )}
      </span>
      <span className="flex flex-col items-center pt-1.5">
        <span className={cx("size-2 shrink-0 rounded-full", DOT[link.tone])} />
        {!last && <span className="w-px flex-1 bg-line-strong" />}
      </span>
      <span className="min-w-0 pb-2">
        <span className="flex flex-wrap items-baseline gap-x-2">
          <span className={cx("font-medium text-xs", TEXT[link.tone])}>{w.steps[link.step]}</span>
          {link.state !== null && <span className="text-2xs text-ink-3">{link.state}</span>}
          {anew && <span className="text-2xs text-warn">{w.attempt(link.attempt ?? 1)}</span>}
          {link.who && <span className="truncate text-2xs text-ink-3">{w.by(link.who)}</span>}
        </span>
        <span className="block select-text break-words text-ink-2 text-xs">{said(link.words)}</span>
      </span>
    </li>
  );
}
