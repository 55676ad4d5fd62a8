// Planned, due, created, … finished, on a line: when each came, how long after the one before, and in words why.
// The longest wait before the start stands out: that is where a late run was kept.
import type { InstanceDetail } from "@/api/types";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { span } from "@/lib/relative";
import { useLang, useSaid, useWords } from "@/lib/words";
import { gaps, lateness, share, wholeWay } from "./chain";
import { runWords } from "./words";

/** A start this soon after its time is on time to anyone who looks. */
const PROMPT_MS = 1_000;

export function Chain({ of: detail }: { of: InstanceDetail }) {
  const w = useWords(runWords);
  const said = useSaid();
  const lang = useLang();
  const over = detail.row.finished !== null;
  const chain = wholeWay(detail.chain, over);
  const all = gaps(chain);
  const { worst } = lateness(chain);
  const late = detail.row.late_ms;
  const kept = late !== null && late > PROMPT_MS && worst && worst.ms <= late ? worst : null;
  const firstOpen = chain.findIndex((link) => !link.at);
  // The day stands in the title of the page; here it is said of what was on another.
  const dueDay = detail.row.due.text.slice(0, 10);

  return (
    <section aria-label={w.chain} data-testid="run-chain" className="panel px-4 pt-3 pb-3">
      <p className="mb-2.5">
        <Verdict of={detail} />
      </p>
      <ol className="flex overflow-x-auto" tabIndex={0} aria-label={w.chain}>
        {chain.map((link, i) => {
          const next = chain[i + 1];
          const gap = all[i + 1] ?? null;
          const here = kept?.index === i + 1;
          const waits = !link.at && i === firstOpen && !over;
          const turned = link.at !== null && link.at.text.slice(0, 10) !== dueDay;
          return (
            <li
              key={link.step}
              data-step={link.step}
              className="min-w-17"
              style={next ? { flex: `${share(next.at ? gap : null)} 1 68px` } : { flex: "0 0 92px" }}
            >
              <div className="flex h-5 items-center">
                <span
                  className={cx(
                    "size-2.5 shrink-0 rounded-full",
                    link.at
                      ? link.step === "finished"
                        ? detail.row.state === "failed"
                          ? "bg-bad"
                          : detail.row.state === "succeeded"
                            ? "bg-ok"
                            : "bg-stopped"
                        : "bg-accent-ink"
                      : waits
                        ? "breathing border-2 border-running"
                        : "border-[1.5px] border-line-strong border-dashed",
                  )}
                />
                {next && (
                  <>
                    <span className={cx("h-0 min-w-1 flex-1", line(next.at !== null, here))} />
                    {gap !== null && gap > 0 && (
                      <span
                        className={cx(
                          "shrink-0 whitespace-nowrap px-1 text-2xs",
                          here ? "rounded-sm bg-warn-soft font-semibold text-warn" : "text-ink-3",
                        )}
                      >
                        {span(gap, lang)}
                      </span>
                    )}
                    <span className={cx("mr-1 h-0 min-w-1 flex-1", line(next.at !== null, here))} />
                  </>
                )}
              </div>
              <div className="pr-2">
                <div className={cx("truncate font-medium text-xs", !link.at && !waits && "text-ink-3")}>
                  {w.steps[link.step]}
                </div>
                {link.at && (
                  <time
                    className="prose-nums block whitespace-nowrap text-2xs text-ink-2"
                    title={`${link.at.text} ${link.at.offset}`}
                  >
                    {turned && <span className="block text-ink-3">{link.at.text.slice(0, 10)}</span>}
                    {link.at.text.slice(11)}
                    <span className="text-ink-3">.{String(link.at.ms % 1000).padStart(3, "0")}</span>
                  </time>
                )}
                <p
                  className={cx(
                    "line-clamp-3 text-2xs leading-3.5",
                    waits ? "font-medium text-running" : kept?.index === i ? "text-warn" : "text-ink-3",
                  )}
                  title={said(link.words)}
                >
                  {said(link.words)}
                </p>
              </div>
            </li>
          );
        })}
      </ol>
    </section>
  );
}

function line(come: boolean, here: boolean): string {
  if (!come) return "border-line-strong border-t border-dashed";
  return here ? "border-warn border-t-[3px]" : "border-accent-ink/45 border-t-2";
}

/** The whole of it in a sentence. */
function Verdict({ of: detail }: { of: InstanceDetail }) {
  const w = useWords(runWords);
  const lang = useLang();
  const now = useNow();
  const { worst } = lateness(detail.chain);
  const { due, finished, took_ms, late_ms: ms } = detail.row;
  if (ms === null) {
    if (finished) return null;
    return <span className="font-medium">{now < due.ms ? w.toCome : w.notYet(span(now - due.ms, lang))}</span>;
  }
  const late = ms > PROMPT_MS;
  return (
    <>
      <span className={cx("font-medium", late && "text-warn")}>
        {late ? w.lateBy(span(ms, lang)) : ms < 1 ? w.atOnce : w.onTime(span(ms, lang))}
      </span>
      {late && worst && worst.ms > ms / 3 && worst.ms <= ms && (
        <span className="text-ink-2">{w.mostOf(span(worst.ms, lang), w.steps[worst.from], w.steps[worst.to])}</span>
      )}
      {took_ms !== null && (
        <span className="text-ink-2">
          {" · "}
          {w.took(span(took_ms, lang))}
        </span>
      )}
    </>
  );
}
