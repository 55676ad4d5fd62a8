// This run beside the last one of its job that went well before it: what is different stands first.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Equal } from "lucide-react";
import { useState } from "react";
import { comparisonQuery } from "@/api/instances";
import type { Difference } from "@/api/types";
import { Answer } from "@/components";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { Button, EmptyState, SkeletonRows } from "@/primitives";
import { runWords } from "./words";

export function ComparePanel({ instance }: { instance: string }) {
  const w = useWords(runWords).compare;
  const query = useQuery(comparisonQuery(instance));
  return (
    <Answer of={query} skeleton={<SkeletonRows rows={6} />}>
      {(view) =>
        view.good === null ? (
          <EmptyState icon={<Equal />} title={w.none} hint={w.noneHint} />
        ) : (
          <div className="flex flex-col gap-2" data-testid="run-compare">
            <p className="text-ink-2">
              {w.with}{" "}
              <Link
                to="/runs/$instance"
                params={{ instance: view.good.id }}
                className="text-accent-ink hover:underline"
              >
                {view.good.due.text}
              </Link>
            </p>
            <Differences of={view.differences} />
          </div>
        )
      }
    </Answer>
  );
}

function Differences({ of: all }: { of: readonly Difference[] }) {
  const w = useWords(runWords).compare;
  const said = useSaid();
  const [whole, setWhole] = useState(false);
  const differs = all.filter((one) => !one.same);
  const same = all.filter((one) => one.same);
  const shown = whole ? [...differs, ...same] : differs;
  return (
    <>
      {differs.length === 0 && <p className="font-medium text-ok">✓ {w.alike}</p>}
      {shown.length > 0 && (
        <table className="w-full table-fixed text-xs">
          <thead>
            <tr className="text-left text-ink-3">
              <th className="w-[30%] pb-1 font-normal" />
              <th className="pb-1 font-normal">{w.good}</th>
              <th className="pb-1 font-normal">{w.here}</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((one) => (
              <tr key={one.what.en} className={cx("border-line border-t align-top", one.same && "text-ink-3")}>
                <td className="py-1 pr-3 text-ink-2">
                  {!one.same && <span aria-hidden="true">≠ </span>}
                  {said(one.what)}
                </td>
                <td className="py-1 pr-3" title={one.good}>
                  <span className="line-clamp-4 select-text break-words">{one.good || "—"}</span>
                </td>
                <td className={cx("py-1", !one.same && "font-medium")} title={one.here}>
                  <span className="line-clamp-4 select-text break-words">{one.here || "—"}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {same.length > 0 && (
        <Button size="sm" variant="quiet" className="self-start" onPress={() => setWhole(!whole)}>
          {whole ? w.fewer : w.more(same.length)}
        </Button>
      )}
    </>
  );
}
