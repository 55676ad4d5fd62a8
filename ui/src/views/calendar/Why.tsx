// Why this firing happened when it did, or has not come, in a sentence. Nothing stands here until it is known.
import { useQuery } from "@tanstack/react-query";
import type { CalendarEntry } from "@/api/calendar";
import { whyQuery } from "@/api/instances";
import { useSaid } from "@/lib/words";

export function Why({ of: entry }: { of: CalendarEntry }) {
  const said = useSaid();
  const asked = entry.instance ? { id: entry.instance } : { job: entry.job, at: String(entry.planned ?? entry.due.ms) };
  const why = useQuery({ ...whyQuery(asked), retry: false });
  if (!why.data) return <span className="text-ink-3">—</span>;
  return <span data-testid="entry-why">{said(why.data.verdict)}</span>;
}
