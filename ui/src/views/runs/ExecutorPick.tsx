// Chooses the one executor whose runs are shown; also one that has left.
import { useQuery } from "@tanstack/react-query";
import { ChevronDown, Server } from "lucide-react";
import { executorsQuery } from "@/api/executors";
import { useWords } from "@/lib/words";
import { Button, Menu } from "@/primitives";
import { runsWords } from "./words";

interface ExecutorPickProps {
  executor: string | undefined;
  onPick: (executor: string | undefined) => void;
}

export function ExecutorPick({ executor, onPick }: ExecutorPickProps) {
  const w = useWords(runsWords);
  const { data } = useQuery(executorsQuery());
  const there = (data?.rows ?? []).map((row) => `${row.group}/${row.name}`);
  const known = [...new Set(executor ? [executor, ...there] : there)].sort();
  return (
    <Menu
      label={w.executors}
      items={known.map((name) => ({
        id: name,
        label: name,
        icon: <Server />,
        ...(name === executor ? { kbd: "✓" } : {}),
        run: () => onPick(name === executor ? undefined : name),
      }))}
    >
      <Button size="sm" variant={executor ? "plain" : "quiet"} data-testid="runs-executor">
        {w.executor}
        {executor && <span className="max-w-40 truncate font-medium text-accent-ink">{executor}</span>}
        <ChevronDown />
      </Button>
    </Menu>
  );
}
