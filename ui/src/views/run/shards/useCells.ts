import { useSyncExternalStore } from "react";
import type { ShardCells } from "@/api/shardCells";

/** What of the cells is said in words, a plain value; renders where it has changed, and not for each change of a cell. */
export function useCells<T extends string | number | boolean>(cells: ShardCells, read: (cells: ShardCells) => T): T {
  return useSyncExternalStore(
    (changed) => cells.onWords(changed),
    () => read(cells),
  );
}
