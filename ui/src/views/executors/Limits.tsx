// The limits on work at once: what is set, how much of it is used, what it holds back. A change takes hold at once.
import { useQuery } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useEffect, useState } from "react";
import { Refusal } from "@/api/door";
import { limitsQuery, usePutLimit } from "@/api/limits";
import type { LimitOn, LimitRow } from "@/api/types";
import { Answer } from "@/components";
import { cx } from "@/lib/cx";
import { useSaid, useWords } from "@/lib/words";
import {
  Button,
  Dialog,
  IconButton,
  NumberField,
  Segmented,
  SkeletonRows,
  Suggest,
  TextField,
  toast,
} from "@/primitives";
import { limitWords } from "./limitWords";

const MOST = 1_000_000;

type On = LimitOn["on"];

const nameOf = (limit: LimitOn) => (limit.on === "node" ? "" : limit.name);
const keyOf = (limit: LimitOn) => `${limit.on}/${nameOf(limit)}`;

export function LimitsDialog({ onClose }: { onClose: () => void }) {
  const w = useWords(limitWords);
  const said = useSaid();
  const limits = useQuery(limitsQuery());
  const allowed = limits.data?.can_change;
  const why = !allowed || allowed.ok ? null : allowed.why ? said(allowed.why) : "—";
  return (
    <Dialog open onClose={onClose} title={w.title} lead={w.lead} width={620}>
      <Answer of={limits} skeleton={<SkeletonRows rows={3} />}>
        {(list) => (
          <div className="flex flex-col gap-5 pt-2" data-testid="limits">
            {list.rows.length === 0 ? (
              <p className="text-ink-3">{w.none}</p>
            ) : (
              <ul className="panel divide-y divide-line">
                {list.rows.map((row) => (
                  <Limit key={keyOf(row.limit)} of={row} why={why} />
                ))}
              </ul>
            )}
            <AddLimit taken={list.rows.map((row) => keyOf(row.limit))} groups={list.groups} why={why} />
          </div>
        )}
      </Answer>
    </Dialog>
  );
}

function useNamed() {
  const w = useWords(limitWords);
  return (limit: LimitOn) => (limit.on === "node" ? w.on.node : limit.name);
}

function Limit({ of: row, why }: { of: LimitRow; why: string | null }) {
  const w = useWords(limitWords);
  const named = useNamed();
  const put = usePutLimit();
  const [most, setMost] = useState<number | null>(row.most);
  useEffect(() => setMost(row.most), [row.most]);
  const name = named(row.limit);
  const share = Math.min(1, row.in_use / row.most);
  const change = (next: number | null) => {
    setMost(next);
    if (next === null || next === row.most) return;
    put.mutate(
      { limit: row.limit, most: next },
      { onSuccess: () => toast({ text: w.set(name, next) }), onError: () => setMost(row.most) },
    );
  };
  return (
    <li data-limit={keyOf(row.limit)} className="flex items-center gap-3 px-3 py-2">
      <span className="min-w-0 flex-1">
        <span className="block truncate font-medium">{row.limit.on === "node" ? w.onNode : row.limit.name}</span>
        {row.limit.on !== "node" && <span className="block text-2xs text-ink-3">{w.on[row.limit.on]}</span>}
      </span>
      <span className="flex w-44 shrink-0 flex-col items-end gap-1">
        <span className="flex items-center gap-2">
          <span aria-hidden="true" className="h-1.5 w-20 overflow-hidden rounded-full bg-line">
            <span
              className={cx("block h-full rounded-full", share >= 1 ? "bg-warn" : "bg-running")}
              style={{ width: `${share * 100}%` }}
            />
          </span>
          <span className="prose-nums w-20 text-right text-xs">{w.inUse(row.in_use, row.most)}</span>
        </span>
        {row.holds > 0 && <span className="font-medium text-2xs text-warn">{w.holds(row.holds)}</span>}
      </span>
      <NumberField
        bare
        className="w-24 shrink-0"
        label={w.change(name)}
        value={most}
        onChange={change}
        min={1}
        max={MOST}
        isDisabled={why !== null || put.isPending}
      />
      <IconButton
        size="sm"
        label={w.lift(name)}
        icon={<Trash2 />}
        why={why}
        onPress={() =>
          put.mutate({ limit: row.limit, most: null }, { onSuccess: () => toast({ text: w.lifted(name) }) })
        }
      />
    </li>
  );
}

function AddLimit({ taken, groups, why }: { taken: readonly string[]; groups: readonly string[]; why: string | null }) {
  const w = useWords(limitWords);
  const said = useSaid();
  const named = useNamed();
  const put = usePutLimit();
  const [on, setOn] = useState<On>("group");
  const [name, setName] = useState("");
  const [most, setMost] = useState<number | null>(10);
  const refusal = put.error instanceof Refusal ? put.error : null;
  const errorAt = (field: string) => (refusal?.field === field ? said(refusal.said) : null);
  const limit: LimitOn = on === "node" ? { on } : { on, name: name.trim() };
  const submit = () => {
    if (most === null) return;
    put.mutate(
      { limit, most },
      {
        onSuccess: () => {
          toast({ text: w.set(named(limit), most) });
          setName("");
        },
      },
    );
  };
  const free = groups.filter((group) => !taken.includes(`group/${group}`));
  const kinds: On[] = taken.includes("node/") ? ["group", "tenant"] : ["node", "group", "tenant"];
  return (
    <section aria-label={w.add}>
      <h3 className="eyebrow mb-2">{w.add}</h3>
      <div className="mb-2">
        <Segmented
          bare
          label={w.kind}
          value={on}
          onChange={setOn}
          options={kinds.map((kind) => ({ value: kind, label: w.on[kind] }))}
        />
      </div>
      <div className="flex items-start gap-3">
        <div className="min-w-0 flex-1">
          {on === "node" ? (
            <p className="pt-6.5 text-ink-2">{w.onNode}</p>
          ) : on === "group" ? (
            <Suggest label={w.name} value={name} onChange={setName} options={free} error={errorAt("name")} />
          ) : (
            <TextField label={w.name} value={name} onChange={setName} error={errorAt("name")} />
          )}
        </div>
        <NumberField
          className="w-28 shrink-0"
          label={w.most}
          value={most}
          onChange={setMost}
          min={1}
          max={MOST}
          error={errorAt("most")}
        />
        <Button
          className="mt-5.5"
          variant="primary"
          icon={<Plus />}
          why={why}
          isPending={put.isPending}
          isDisabled={most === null || (on !== "node" && name.trim() === "")}
          onPress={submit}
          data-testid="limit-add"
        >
          {w.addIt}
        </Button>
      </div>
    </section>
  );
}
