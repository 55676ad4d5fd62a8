// Values that only executors can read: their names, whom each is for, and when it was set. A value itself is typed here
// once and never shown again, to anyone.
import { useQuery } from "@tanstack/react-query";
import { KeyRound, RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { Refusal } from "@/api/door";
import { secretsQuery, usePutSecret, useRemoveSecret } from "@/api/secrets";
import type { SecretRow } from "@/api/types";
import { DueIn } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Ask, Button, Dialog, IconButton, Suggest, Tag, TextField, toast } from "@/primitives";
import { Line, Listing } from "./Listing";
import { settingsWords } from "./words";

export function Secrets() {
  const w = useWords(settingsWords).secrets;
  const said = useSaid();
  const secrets = useQuery(secretsQuery());
  const remove = useRemoveSecret();
  const [edited, setEdited] = useState<SecretRow | "new" | null>(null);
  const [removing, setRemoving] = useState<SecretRow | null>(null);
  const list = secrets.data;
  return (
    <>
      <Listing
        title={w.title}
        note={w.note}
        of={secrets}
        keyOf={(row) => `${row.group}/${row.name}`}
        empty={{ icon: <KeyRound />, title: w.none, hint: w.noneHint }}
        add={
          list && {
            label: w.add,
            why: list.can_add.why && said(list.can_add.why),
            run: () => setEdited("new"),
            testid: "secret-add",
          }
        }
      >
        {(row) => <One row={row} onEdit={() => setEdited(row)} onRemove={() => setRemoving(row)} />}
      </Listing>
      {edited !== null && list && (
        <SecretDialog edited={edited === "new" ? null : edited} groups={list.groups} onClose={() => setEdited(null)} />
      )}
      <Ask
        open={removing !== null}
        onClose={() => setRemoving(null)}
        title={w.removeTitle(removing?.name ?? "")}
        lead={w.removeLead}
        no={w.cancel}
        yes={w.remove}
        danger
        onYes={() => removing && remove.mutate({ group: removing.group, name: removing.name })}
      />
    </>
  );
}

function One({ row, onEdit, onRemove }: { row: SecretRow; onEdit: () => void; onRemove: () => void }) {
  const w = useWords(settingsWords).secrets;
  const said = useSaid();
  const why = row.can_change.why && said(row.can_change.why);
  return (
    <>
      <Line
        name={row.name}
        tags={<Tag>{row.group}</Tag>}
        actions={
          <>
            <IconButton size="sm" label={w.setAgain(row.name)} icon={<RefreshCw />} why={why} onPress={onEdit} />
            <IconButton size="sm" label={w.removeTitle(row.name)} icon={<Trash2 />} why={why} onPress={onRemove} />
          </>
        }
      >
        <code className="select-text">{`\${secret:${row.name}}`}</code>
        <span>{w.setBy(row.by)}</span>
        <DueIn at={row.at.ms} quiet />
      </Line>
      {row.stale && <div className="text-warn text-xs">▲ {w.stale}</div>}
    </>
  );
}

interface SecretDialogProps {
  edited: SecretRow | null;
  groups: readonly string[];
  onClose: () => void;
}

function SecretDialog({ edited, groups, onClose }: SecretDialogProps) {
  const w = useWords(settingsWords).secrets;
  const said = useSaid();
  const put = usePutSecret();
  const [name, setName] = useState(edited?.name ?? "");
  const [group, setGroup] = useState(edited?.group ?? groups[0] ?? "local");
  const [value, setValue] = useState("");
  const refusal = put.error instanceof Refusal ? put.error : null;
  const errorAt = (field: string) => (refusal?.field === field ? said(refusal.said) : null);
  const elsewhere = refusal && !["name", "group", "value"].includes(refusal.field ?? "") ? said(refusal.said) : null;
  const submit = () =>
    put.mutate(
      { name: name.trim(), group: group.trim(), value },
      {
        onSuccess: () => {
          toast({ text: w.saved(name.trim()) });
          onClose();
        },
      },
    );
  const onKeyDown = (event: { key: string }) => event.key === "Enter" && submit();
  return (
    <Dialog
      open
      onClose={onClose}
      title={edited ? w.setAgain(edited.name) : w.addTitle}
      lead={w.dialogLead}
      footer={
        <>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button variant="primary" kbd="Enter" isPending={put.isPending} onPress={submit} data-testid="secret-save">
            {w.save}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-1" data-testid="secret-dialog">
        {!edited && (
          <>
            <TextField
              autoFocus
              required
              label={w.name}
              hint={w.nameHint(name.trim() || "name")}
              error={errorAt("name")}
              value={name}
              onChange={setName}
              onKeyDown={onKeyDown}
            />
            <Suggest
              label={w.group}
              hint={w.groupHint}
              error={errorAt("group")}
              value={group}
              onChange={setGroup}
              options={groups}
            />
          </>
        )}
        <TextField
          autoFocus={edited !== null}
          required
          type="password"
          label={w.value}
          hint={w.valueHint}
          error={errorAt("value") ?? elsewhere}
          value={value}
          onChange={setValue}
          onKeyDown={onKeyDown}
        />
      </div>
    </Dialog>
  );
}
