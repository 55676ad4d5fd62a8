// The databases that jobs know by a name: where they are, whether they can be reached, and where their passwords lie.
import { useQuery } from "@tanstack/react-query";
import { Database, Pencil, PlugZap, Trash2 } from "lucide-react";
import { useState } from "react";
import { connectionsQuery, useRemoveConnection, useTestConnection } from "@/api/connections";
import type { Address, ConnectionView } from "@/api/types";
import { useSaid, useWords } from "@/lib/words";
import { Ask, Button, IconButton, Tag } from "@/primitives";
import { ConnectionDialog } from "./ConnectionDialog";
import { Line, Listing } from "./Listing";
import { Tested } from "./Tested";
import { settingsWords } from "./words";

export function Connections() {
  const w = useWords(settingsWords).connections;
  const said = useSaid();
  const connections = useQuery(connectionsQuery());
  const [edited, setEdited] = useState<ConnectionView | "new" | null>(null);
  const [removing, setRemoving] = useState<ConnectionView | null>(null);
  const remove = useRemoveConnection();
  const list = connections.data;

  return (
    <>
      <Listing
        title={w.title}
        note={list && w.keeper[list.keeper]}
        of={connections}
        keyOf={(row) => row.name}
        empty={{ icon: <Database />, title: w.none, hint: w.noneHint }}
        add={list && { label: w.add, why: list.can_add.why && said(list.can_add.why), run: () => setEdited("new") }}
      >
        {(row) => <One row={row} onEdit={() => setEdited(row)} onRemove={() => setRemoving(row)} />}
      </Listing>
      {edited !== null && list && (
        <ConnectionDialog
          key={edited === "new" ? "" : edited.name}
          edited={edited === "new" ? null : edited}
          keeper={list.keeper}
          onClose={() => setEdited(null)}
        />
      )}
      <Ask
        open={removing !== null}
        onClose={() => setRemoving(null)}
        title={w.removeTitle(removing?.name ?? "")}
        lead={w.removeLead}
        no={w.cancel}
        yes={w.remove}
        danger
        onYes={() => removing && remove.mutate(removing.name)}
      />
    </>
  );
}

function One({ row, onEdit, onRemove }: { row: ConnectionView; onEdit: () => void; onRemove: () => void }) {
  const w = useWords(settingsWords).connections;
  const said = useSaid();
  const test = useTestConnection();
  const why = row.can_change.why && said(row.can_change.why);
  return (
    <>
      <Line
        name={row.name}
        tags={<Tag>{w.kinds[row.kind as keyof typeof w.kinds] ?? row.kind}</Tag>}
        actions={
          <>
            <Button
              size="sm"
              icon={<PlugZap />}
              isPending={test.isPending}
              onPress={() => test.mutate({ name: row.name })}
              aria-label={`${w.test} ${row.name}`}
            >
              {test.isPending ? w.testing : w.test}
            </Button>
            <IconButton size="sm" label={w.edit(row.name)} icon={<Pencil />} why={why} onPress={onEdit} />
            <IconButton size="sm" label={w.removeTitle(row.name)} icon={<Trash2 />} why={why} onPress={onRemove} />
          </>
        }
      >
        {row.address ? (
          <>
            <code className="min-w-0 select-text truncate">{told(row.address)}</code>
            {row.address.kind !== "sqlite" && <span>{row.password ? w.kept[row.password] : w.noPassword}</span>}
          </>
        ) : (
          <span>{w.configured}</span>
        )}
      </Line>
      <Tested of={test} />
    </>
  );
}

function told(address: Address): string {
  if (address.kind === "sqlite") return address.path;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  const port = address.port === null ? "" : `:${address.port}`;
  return `${address.user}@${host}${port}/${address.database}`;
}
