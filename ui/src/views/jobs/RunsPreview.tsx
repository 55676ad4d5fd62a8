// What a schedule comes to: its words, and the next runs with the reason wherever one was shifted.
import { AlertTriangle } from "lucide-react";
import type { ReactNode } from "react";
import type { PreviewRow, PreviewView } from "@/api/types";
import { useNow } from "@/lib/clock";
import { cx } from "@/lib/cx";
import { relative } from "@/lib/relative";
import { useLang, useSaid } from "@/lib/words";

interface RunsPreviewProps {
  preview: PreviewView;
  /** It belongs to what was typed a moment ago. */
  old?: boolean;
  none: string;
  /** What can be done about the warnings. */
  offer?: ReactNode;
  most?: number;
  /** What can be done with one of them, at its right. */
  change?: (row: PreviewRow) => ReactNode;
}

export function RunsPreview({ preview, old = false, none, offer, most = 20, change }: RunsPreviewProps) {
  const said = useSaid();
  const lang = useLang();
  const now = useNow();
  let day = "";
  const seconds = preview.runs.some((run) => run.due.text.slice(17, 19) !== "00");
  return (
    <div aria-busy={old}>
      {preview.warnings.map((warning, i) => (
        <p key={i} className="mb-2 flex gap-2 rounded-md bg-warn-soft px-2.5 py-1.5 text-warn">
          <AlertTriangle size={15} className="mt-0.5 shrink-0" />
          {said(warning)}
        </p>
      ))}
      {offer && <div className="mb-2">{offer}</div>}
      {preview.runs.length === 0 && <p className="text-ink-3">{none}</p>}
      <ol>
        {preview.runs.slice(0, most).map((run, i) => {
          const date = run.due.text.slice(0, 10);
          const newDay = date !== day;
          day = date;
          return (
            <li key={`${run.due.ms}-${run.planned}`} className="group border-line border-b py-0.5 last:border-b-0">
              <div className="flex min-h-5.5 items-center gap-3 whitespace-nowrap">
                <span className="w-5 shrink-0 text-right text-2xs text-ink-3">{i + 1}</span>
                <span className={cx("w-[88px] shrink-0", !newDay && "text-ink-3")}>{date}</span>
                <span className="flex-1 font-medium">{run.due.text.slice(11, seconds ? 19 : 16)}</span>
                <span className="shrink-0 text-ink-3 text-xs">{relative(run.due.ms, now, lang)}</span>
                {change && (
                  <span className="-mr-2 opacity-0 focus-within:opacity-100 group-hover:opacity-100">
                    {change(run)}
                  </span>
                )}
              </div>
              {run.reason && <p className="pb-0.5 pl-8 text-warn text-xs">{said(run.reason)}</p>}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
