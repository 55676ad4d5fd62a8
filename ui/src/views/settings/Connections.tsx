// The databases that jobs know by a name: where they are, whether they can be reached, and where their passwords lie.
import { useQuery } from "@tanstack/react-query";
import { Database, Pencil, PlugZap, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { connectionsQuery, useRemoveConnection, useTestConnection } from "@/api/connections";
import type { Address, ConnectionList, ConnectionView } from "@/api/types";
import { Answer } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, EmptyState, IconButton, Section, SkeletonRows, Tag } from "@/primitives";
import { ConnectionDialog } from "./ConnectionDialog";
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
    <Section
      title={w.title}
      note={list && w.keeper[list.keeper]}
      actions={
        list && (
          <Button
            size="sm"
            icon={<Plus />}
            why={list.can_add.why && said(list.can_add.why)}
            onPress={() => setEdited("new")}
          >
            {w.add}
          </Button>
        )
      }
    >
      <Answer of={connections} skeleton={<SkeletonRows rows={2} />}>
        {(found: ConnectionList) => (
          <div className="panel">
            {found.rows.length === 0 ? (
              <EmptyState icon={<Database />} title={w.none} hint={w.noneHint} />
            ) : (
              <ul className="divide-y divide-line">
                {found.rows.map((row) => (
                  <One key={row.name} row={row} onEdit={() => setEdited(row)} onRemove={() => setRemoving(row)} />
                ))}
              </ul>
            )}
          </div>
        )}
      </Answer>
      {edited !== null && list && (
        <ConnectionDialog
          key={edited === "new" ? "" : edited.name}
          edited={edited === "new" ? null : edited}
          keeper={list.keeper}
          onClose={() => setEdited(null)}
        />
      )}
      <Dialog
        open={removing !== null}
        onClose={() => setRemoving(null)}
        role="alertdialog"
        title={w.removeTitle(removing?.name ?? "")}
        lead={w.removeLead}
        width={440}
        footer={
          <>
            <Button onPress={() => setRemoving(null)}>{w.cancel}</Button>
            <Button
              autoFocus
              variant="danger"
              onPress={() => {
                if (removing) remove.mutate(removing.name);
                setRemoving(null);
              }}
            >
              {w.remove}
            </Button>
          </>
        }
      />
    </Section>
  );
}

function One({ row, onEdit, onRemove }: { row: ConnectionView; onEdit: () => void; onRemove: () => void }) {
  const w = useWords(settingsWords).connections;
  const said = useSaid();
  const test = useTestConnection();
  const why = row.can_change.why && said(row.can_change.why);
  return (
    <li className="px-4 py-2">
      <div className="flex items-center gap-3">
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-2">
            <span className="truncate font-medium">{row.name}</span>
            <Tag>{w.kinds[row.kind as keyof typeof w.kinds] ?? row.kind}</Tag>
          </div>
          <div className="flex flex-wrap gap-x-2 text-ink-3 text-xs">
            {row.address ? (
              <>
                <code className="min-w-0 select-text truncate">{told(row.address)}</code>
                {row.address.kind !== "sqlite" && <span>{row.password ? w.kept[row.password] : w.noPassword}</span>}
              </>
            ) : (
              <span>{w.configured}</span>
            )}
          </div>
        </div>
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
      </div>
      <Tested of={test} />
    </li>
  );
}

function told(address: Address): string {
  if (address.kind === "sqlite") return address.path;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  const port = address.port === null ? "" : `:${address.port}`;
  return `${address.user}@${host}${port}/${address.database}`;
}
