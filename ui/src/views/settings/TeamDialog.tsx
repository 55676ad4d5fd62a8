// One team, new or changed: what it is called, its colour, and where its nodes are, or the database in which that stands. A
// token or password that is kept is not shown, and stays with its address as long as no other is given.
import { PlugZap } from "lucide-react";
import { useState } from "react";
import { Refusal } from "@/api/door";
import { useLookAt, usePutTeam, useTestTeam } from "@/api/places";
import type { PutTeam, TeamColour, TeamView } from "@/api/types";
import { RefusalNotice } from "@/components";
import { linkGround, TEAM_COLOURS } from "@/components/link";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import { Button, Dialog, Segmented, TextField, toast } from "@/primitives";
import { TeamTested } from "./TeamTested";
import { teamsWords } from "./teamsWords";

interface TeamDialogProps {
  /** None: a new one. */
  edited: TeamView | null;
  onClose: () => void;
}

export function TeamDialog({ edited, onClose }: TeamDialogProps) {
  const w = useWords(teamsWords);
  const said = useSaid();
  const [name, setName] = useState(edited?.name ?? "");
  const [colour, setColour] = useState<TeamColour>(edited?.colour ?? "red");
  const [nodes, setNodes] = useState(edited?.nodes.map(({ address }) => address).join("\n") ?? "");
  const [token, setToken] = useState("");
  const [known, setKnown] = useState<"nodes" | "database">(edited?.database ? "database" : "nodes");
  const [database, setDatabase] = useState(edited?.database?.address ?? "");
  const [password, setPassword] = useState("");
  const put = usePutTeam();
  const test = useTestTeam();
  const lookAt = useLookAt();

  const addresses = nodes
    .split(/[\s,]+/)
    .map((each) => each.trim())
    .filter((each) => each !== "");
  const team: PutTeam = {
    id: edited?.id ?? null,
    name: name.trim(),
    colour,
    ...(known === "database"
      ? { nodes: [], database: { address: database.trim(), password: password === "" ? null : password } }
      : {
          nodes: addresses.map((address) => ({
            address,
            token: token.trim() !== "" && !address.includes("#token=") ? token.trim() : null,
          })),
        }),
  };
  const refusal = [put.error, test.error].find((error): error is Refusal => error instanceof Refusal);
  const error = (field: string) => (refusal?.field === field ? said(refusal.said) : null);
  const elsewhere = refusal && !["name", known].includes(refusal.field ?? "") ? refusal : null;

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
    put.mutate(team, {
      onSuccess: (id) => {
        toast({ text: w.saved(team.name) });
        if (!edited) lookAt.mutate(id);
        onClose();
      },
    });
  };

  return (
    <Dialog
      open
      onClose={onClose}
      title={edited ? w.edit(edited.name) : w.addTitle}
      width={560}
      footer={
        <>
          <Button
            className="mr-auto"
            icon={<PlugZap />}
            isPending={test.isPending}
            onPress={() => {
              put.reset();
              test.mutate(team);
            }}
          >
            {test.isPending ? w.testing : w.test}
          </Button>
          <Button onPress={onClose}>{w.cancel}</Button>
          <Button variant="primary" isPending={put.isPending} onPress={save} data-testid="save-team">
            {edited ? w.save : w.saveAndLook}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-y-2">
        <TextField
          label={w.name}
          hint={w.nameHint}
          required
          autoFocus
          value={name}
          onChange={changing(setName)}
          error={error("name")}
        />
        <Segmented
          label={w.colour}
          value={colour}
          onChange={changing(setColour)}
          options={TEAM_COLOURS.map((value) => ({
            value,
            label: w.colours[value],
            icon: <span className={cx("size-2.5 rounded-full", linkGround[value])} />,
          }))}
        />
        <Segmented
          label={w.known}
          value={known}
          onChange={changing(setKnown)}
          options={(["nodes", "database"] as const).map((value) => ({ value, label: w.knownBy[value] }))}
        />
        {known === "database" ? (
          <>
            <TextField
              label={w.database}
              hint={w.databaseHint}
              required
              code
              placeholder={w.databasePlaceholder}
              value={database}
              onChange={changing(setDatabase)}
              error={error("database")}
            />
            <TextField
              label={w.password}
              hint={w.passwordHint}
              type="password"
              placeholder={edited?.database?.password ? w.unchanged : ""}
              value={password}
              onChange={changing(setPassword)}
            />
          </>
        ) : (
          <>
            <TextField
              label={w.nodes}
              hint={w.nodesHint}
              required
              code
              rows={3}
              placeholder={w.nodesPlaceholder}
              value={nodes}
              onChange={changing(setNodes)}
              error={error("nodes")}
            />
            <TextField
              label={w.token}
              hint={w.tokenHint}
              type="password"
              placeholder={edited ? w.unchanged : ""}
              value={token}
              onChange={changing(setToken)}
            />
          </>
        )}
      </div>
      {elsewhere && <RefusalNotice error={elsewhere} />}
      <TeamTested of={test} />
    </Dialog>
  );
}
