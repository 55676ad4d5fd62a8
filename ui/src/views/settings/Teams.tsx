// The teams that this window can look at: where their nodes are, whether they answer, and which is looked at now.
import { useQuery } from "@tanstack/react-query";
import { Network, Pencil, Plug, PlugZap, Trash2, Unplug } from "lucide-react";
import { useState } from "react";
import { placesQuery, useLookAt, useRemoveTeam, useTestTeam } from "@/api/places";
import type { TeamView } from "@/api/types";
import { linkGround } from "@/components/link";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { Ask, Button, IconButton, Tag } from "@/primitives";
import { Line, Listing } from "./Listing";
import { TeamDialog } from "./TeamDialog";
import { TeamTested } from "./TeamTested";
import { teamsWords } from "./teamsWords";

interface TeamsProps {
  /** Somebody wants to connect to one. */
  asked: boolean;
  onAnswered: () => void;
}

export function Teams({ asked, onAnswered }: TeamsProps) {
  const w = useWords(teamsWords);
  const places = useQuery(placesQuery());
  const [edited, setEdited] = useState<TeamView | "new" | null>(null);
  const [removing, setRemoving] = useState<TeamView | null>(null);
  const remove = useRemoveTeam();
  const shown = asked ? "new" : edited;
  const { data } = places;
  return (
    <>
      <Listing
        title={w.title}
        note={data && w.keeper[data.keeper]}
        of={places}
        keyOf={(row) => row.name}
        empty={{ icon: <Network />, title: w.none, hint: w.noneHint }}
        add={data && { label: w.add, why: null, run: () => setEdited("new"), testid: "add-team" }}
      >
        {(row) => (
          <One
            row={row}
            looked={data?.current === row.id}
            onEdit={() => setEdited(row)}
            onRemove={() => setRemoving(row)}
          />
        )}
      </Listing>
      {shown !== null && data && (
        <TeamDialog
          key={shown === "new" ? "" : shown.id}
          edited={shown === "new" ? null : shown}
          onClose={() => {
            setEdited(null);
            onAnswered();
          }}
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
        onYes={() => removing && remove.mutate(removing.id)}
      />
    </>
  );
}

interface OneProps {
  row: TeamView;
  looked: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

function One({ row, looked, onEdit, onRemove }: OneProps) {
  const w = useWords(teamsWords);
  const test = useTestTeam();
  const lookAt = useLookAt();
  const { id, name, colour } = row;
  const nodes = row.nodes.map(({ address }) => ({ address }));
  const database = row.database && { address: row.database.address };
  const addresses = [...row.nodes, ...(row.database ? [row.database] : [])];
  return (
    <>
      <Line
        name={name}
        tags={
          <>
            <span className={cx("size-2 shrink-0 rounded-full", linkGround[colour])} title={w.colours[colour]} />
            {looked && <Tag tone="ok">{w.looked}</Tag>}
          </>
        }
        actions={
          <>
            <Button
              size="sm"
              icon={<PlugZap />}
              isPending={test.isPending}
              onPress={() => test.mutate({ id, name, colour, nodes, database })}
              aria-label={`${w.test} ${name}`}
            >
              {test.isPending ? w.testing : w.test}
            </Button>
            <Button
              size="sm"
              variant={looked ? "plain" : "primary"}
              icon={looked ? <Unplug /> : <Plug />}
              isPending={lookAt.isPending}
              onPress={() => lookAt.mutate(looked ? null : id)}
              aria-label={`${looked ? w.leave : w.look} ${name}`}
            >
              {looked ? w.leave : w.look}
            </Button>
            <IconButton size="sm" label={w.edit(name)} icon={<Pencil />} onPress={onEdit} />
            <IconButton size="sm" label={w.removeTitle(name)} icon={<Trash2 />} onPress={onRemove} />
          </>
        }
      >
        {addresses.map(({ address }) => (
          <code key={address} className="min-w-0 select-text truncate">
            {address}
          </code>
        ))}
      </Line>
      <TeamTested of={test} />
    </>
  );
}
