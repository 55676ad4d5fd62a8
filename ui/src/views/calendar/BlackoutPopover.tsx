// Which blackout windows one has pointed at: when, for whom and why; the way to their end, and to the settings.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Ban, Pencil } from "lucide-react";
import { useMemo } from "react";
import { Dialog, Popover } from "react-aria-components";
import { blackoutsQuery } from "@/api/blackouts";
import type { BlackoutSpan } from "@/api/types";
import { stretch } from "@/lib/stretch";
import { useSaid, useWords } from "@/lib/words";
import { Button } from "@/primitives";
import { calendarWords } from "./words";

interface BlackoutPopoverProps {
  spans: readonly BlackoutSpan[];
  anchor: HTMLElement;
  onClose: () => void;
  /** Absent where ends cannot be taken hold of. */
  onPull: ((span: BlackoutSpan, anchor: HTMLElement) => void) | undefined;
  whyNotPull: (span: BlackoutSpan) => string | null;
}

export function BlackoutPopover({ spans, anchor, onClose, onPull, whyNotPull }: BlackoutPopoverProps) {
  const w = useWords(calendarWords).blackout;
  const said = useSaid();
  const trigger = useMemo(() => ({ current: anchor }), [anchor]);
  const rows = useQuery(blackoutsQuery()).data?.rows ?? [];
  return (
    <Popover
      triggerRef={trigger}
      isOpen
      onOpenChange={(open) => !open && onClose()}
      placement="right top"
      offset={6}
      className="enter-pop w-80 max-w-[90vw] overflow-y-auto rounded-lg bg-surface shadow-pop"
      data-overlay=""
      data-testid="blackout-popover"
    >
      <Dialog aria-label={w.title} className="outline-none">
        <ul className="divide-y divide-line">
          {spans.map((span) => {
            const row = rows.find((each) => each.name === span.name);
            const { tags = [], tenants = [], jobs = [] } = row?.blackout ?? {};
            const whom = [...tags, ...tenants, ...jobs];
            return (
              <li key={`${span.name}|${span.from.ms}`} className="flex flex-col gap-1 px-3 py-2.5">
                <h2 className="flex min-w-0 items-center gap-2 font-semibold text-md">
                  <Ban size={14} className="shrink-0 text-stopped" />
                  <span className="truncate" title={span.name}>
                    {span.name}
                  </span>
                </h2>
                <p className="font-medium">{stretch(span.from, span.until)}</p>
                {row?.blackout.window.schedule && <p className="text-ink-2">{said(row.words)}</p>}
                <p className="break-words text-ink-2">{span.everything ? w.forAll : w.for(whom.join(", "))}</p>
                {row?.blackout.reason && <p className="break-words text-ink-3">{row.blackout.reason}</p>}
                <div className="mt-1 flex items-center gap-2">
                  {onPull && (
                    <Button
                      size="sm"
                      kbd="m"
                      why={whyNotPull(span)}
                      onPress={() => onPull(span, anchor)}
                      data-testid="blackout-pull"
                    >
                      {w.pull}
                    </Button>
                  )}
                  <Link
                    to="/settings"
                    search={{ blackout: span.name }}
                    className="flex h-7 items-center gap-1 rounded-sm px-1.5 text-accent-ink text-xs outline-none hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus"
                  >
                    <Pencil size={13} />
                    {w.edit}
                  </Link>
                </div>
              </li>
            );
          })}
        </ul>
      </Dialog>
    </Popover>
  );
}
