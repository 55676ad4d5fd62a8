// One connection, new or changed. It can be tested before it is saved; a password that is kept is not shown and need not be
// typed again as long as the login stays the same.
import { PlugZap } from "lucide-react";
import { useState } from "react";
import { usePutConnection, useTestConnection } from "@/api/connections";
import { Refusal } from "@/api/door";
import type { Address, ConnectionView, Keeper } from "@/api/types";
import { RefusalNotice } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, NumberField, Segmented, TextField, toast } from "@/primitives";
import { Tested } from "./Tested";
import { settingsWords } from "./words";

const USUAL_PORT = { mysql: 3306, postgres: 5432 };

interface ConnectionDialogProps {
  /** None: a new one. */
  edited: ConnectionView | null;
  keeper: Keeper;
  onClose: () => void;
}

export function ConnectionDialog({ edited, keeper, onClose }: ConnectionDialogProps) {
  const w = useWords(settingsWords).connections;
  const said = useSaid();
  const before = edited?.address ?? null;
  const server = before && before.kind !== "sqlite" ? before : null;
  const [name, setName] = useState(edited?.name ?? "");
  const [kind, setKind] = useState<Address["kind"]>(before?.kind ?? "mysql");
  const [host, setHost] = useState(server?.host ?? "");
  const [port, setPort] = useState<number | null>(server?.port ?? null);
  const [database, setDatabase] = useState(server?.database ?? "");
  const [user, setUser] = useState(server?.user ?? "");
  const [path, setPath] = useState(before?.kind === "sqlite" ? before.path : "");
  // Untouched: the one that is kept stays.
  const [password, setPassword] = useState<string | null>(null);
  const put = usePutConnection();
  const test = useTestConnection();

  const address: Address =
    kind === "sqlite" ? { kind, path } : { kind, host: host.trim(), port, database: database.trim(), user };
  const input = { name: name.trim(), address, password };
  const refusal = [put.error, test.error].find((error): error is Refusal => error instanceof Refusal);
  const blamed = refusal?.field?.replace(/^address\./, "") ?? null;
  const error = (field: string) => (refusal && blamed === field ? said(refusal.said) : null);
  const shown = kind === "sqlite" ? ["name", "path"] : ["name", "host", "port", "database", "user", "password"];
  const elsewhere = put.error && !(blamed && shown.includes(blamed)) ? put.error : null;
  const testedElsewhere = test.error && blamed && shown.includes(blamed);

  /** What was said of what stood there before is no longer true. */
  const changing =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      set(value);
      put.reset();
      test.reset();
    };
  const save = () => {
    test.reset();
    put.mutate(
      { ...input, new: edited === null },
      {
        onSuccess: () => {
          toast({ text: w.saved(input.name) });
          onClose();
        },
      },
    );
  };
  const tryIt = () => {
    put.reset();
    test.mutate(input);
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={edited ? w.edit(edited.name) : w.addTitle}
      width={560}
      footer={
        <>
          <Button className="mr-auto" icon={<PlugZap />} isPending={test.isPending} onPress={tryIt}>
            {test.isPending ? w.testing : w.test}
          </Button>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button variant="primary" isPending={put.isPending} onPress={save}>
            {w.save}
          </Button>
        </>
      }
    >
      <div className="grid grid-cols-[1fr_112px] gap-x-4 gap-y-2">
        <TextField
          className="col-span-2"
          label={w.name}
          hint={edited ? w.nameStays : w.nameHint}
          required
          autoFocus={edited === null}
          isDisabled={edited !== null}
          value={name}
          onChange={changing(setName)}
          error={error("name")}
        />
        <Segmented
          className="col-span-2"
          label={w.kind}
          value={kind}
          onChange={changing(setKind)}
          options={[
            { value: "mysql", label: w.kinds.mysql },
            { value: "postgres", label: w.kinds.postgres },
            { value: "sqlite", label: w.kinds.sqlite },
          ]}
        />
        {kind === "sqlite" ? (
          <TextField
            className="col-span-2"
            code
            required
            label={w.path}
            hint={w.pathHint}
            placeholder="/var/lib/app/orders.db"
            value={path}
            onChange={changing(setPath)}
            error={error("path")}
          />
        ) : (
          <>
            <TextField
              required
              label={w.host}
              hint={w.hostHint}
              placeholder="db.example.com"
              value={host}
              onChange={changing(setHost)}
              error={error("host")}
            />
            <NumberField
              label={w.port}
              hint={w.usualPort(USUAL_PORT[kind])}
              min={1}
              max={65_535}
              value={port}
              onChange={changing(setPort)}
              error={error("port")}
            />
            <TextField
              className="col-span-2"
              label={w.database}
              value={database}
              onChange={changing(setDatabase)}
              error={error("database")}
            />
            <div className="col-span-2 grid grid-cols-2 gap-x-4">
              <TextField required label={w.user} value={user} onChange={changing(setUser)} error={error("user")} />
              <TextField
                type="password"
                label={w.password}
                placeholder={edited?.password ? (password === null ? w.unchanged : w.dropped) : ""}
                hint={w.goesTo[keeper]}
                value={password ?? ""}
                onChange={changing((next: string) => setPassword(next === "" && !edited?.password ? null : next))}
                error={error("password")}
              />
            </div>
          </>
        )}
      </div>
      {elsewhere && <RefusalNotice error={elsewhere} />}
      {!testedElsewhere && <Tested of={test} />}
    </Dialog>
  );
}
