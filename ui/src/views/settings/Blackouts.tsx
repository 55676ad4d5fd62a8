// The blackout windows of the workspace: when each is, for whom, and when it comes next. Removing one can be taken back.
import { useQuery } from "@tanstack/react-query";
import { Ban, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { blackoutsQuery, useRemoveBlackout, useRestoreBlackout } from "@/api/blackouts";
import type { BlackoutRow } from "@/api/types";
import { useNow } from "@/lib/clock";
import { stretch } from "@/lib/stretch";
import { useSaid, useWords } from "@/lib/words";
import { IconButton, Tag, toast } from "@/primitives";
import { BlackoutDialog } from "./BlackoutDialog";
import { blackoutWords } from "./blackoutWords";
import { Line, Listing } from "./Listing";

/** `opened`: the one that the address asks to edit. */
export function Blackouts({ opened, onClosed }: { opened: string | null; onClosed: () => void }) {
  const w = useWords(blackoutWords);
  const query = useQuery(blackoutsQuery());
  const remove = useRemoveBlackout();
  const restore = useRestoreBlackout();
  const [edited, setEdited] = useState<BlackoutRow | "new" | null>(null);
  const rows = query.data?.rows ?? [];
  const shown = edited ?? rows.find((row) => row.name === opened) ?? null;
  const onRemove = ({ name, blackout }: BlackoutRow) =>
    // The line is gone by then, so what follows hangs on the promise; a refusal has its toast already.
    void remove.mutateAsync(name).then(
      () =>
        toast({
          text: w.removed(name),
          undo: () =>
            void restore.mutateAsync({ name, blackout }).then(
              () => toast({ text: w.back(name) }),
              () => undefined,
            ),
        }),
      () => undefined,
    );
  return (
    <>
      <Listing
        title={w.title}
        note={w.note}
        of={query}
        keyOf={(row) => row.name}
        empty={{ icon: <Ban />, title: w.none, hint: w.noneHint }}
        add={query.data && { label: w.add, why: null, run: () => setEdited("new"), testid: "blackout-add" }}
      >
        {(row) => <One row={row} onEdit={() => setEdited(row)} onRemove={() => onRemove(row)} />}
      </Listing>
      {shown !== null && (
        <BlackoutDialog
          key={shown === "new" ? "" : shown.name}
          edited={shown === "new" ? null : shown}
          taken={rows.map((row) => row.name)}
          onClose={() => {
            setEdited(null);
            onClosed();
          }}
        />
      )}
    </>
  );
}

function One({ row, onEdit, onRemove }: { row: BlackoutRow; onEdit: () => void; onRemove: () => void }) {
  const w = useWords(blackoutWords);
  const said = useSaid();
  const now = useNow();
  const { name, blackout, next } = row;
  const why = row.can_edit.ok ? null : row.can_edit.why && said(row.can_edit.why);
  const running = next !== null && next.from.ms <= now;
  // Of one that comes once all is said by the stretch; one that comes again is told in words.
  const when = next && (running ? w.now(stretch(next.until, next.until)) : w.next(stretch(next.from, next.until)));
  const words = blackout.window.schedule || !next ? said(row.words) : null;
  return (
    <Line
      name={name}
      tags={<ForWhom of={row} />}
      actions={
        <>
          <IconButton size="sm" label={w.edit(name)} icon={<Pencil />} why={why} onPress={onEdit} />
          <IconButton size="sm" label={w.remove(name)} icon={<Trash2 />} why={why} onPress={onRemove} />
        </>
      }
    >
      {words && <span>{words}</span>}
      {words && <span aria-hidden="true">·</span>}
      <span className={running ? "font-medium text-warn" : undefined}>
        {running && "● "}
        {when ?? w.over}
      </span>
      {blackout.reason && <span aria-hidden="true">·</span>}
      {blackout.reason && <span className="text-ink-2">{blackout.reason}</span>}
    </Line>
  );
}

const FEW = 3;

function ForWhom({ of: { blackout } }: { of: BlackoutRow }) {
  const w = useWords(blackoutWords);
  const { tags = [], tenants = [], jobs = [] } = blackout;
  const all = [...tags.map(w.tag), ...tenants.map(w.tenant), ...(jobs.length > FEW ? [w.nJobs(jobs.length)] : jobs)];
  if (all.length === 0) return <Tag tone="warn">{w.everything}</Tag>;
  return (
    <>
      {all.slice(0, FEW).map((each) => (
        <Tag key={each}>{each}</Tag>
      ))}
      {all.length > FEW && <Tag>{w.more(all.length - FEW)}</Tag>}
    </>
  );
}
