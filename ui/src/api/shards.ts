// What is asked of a run that is cut into shards. Where its shards stand is read once, page by page, and then only what has
// changed, each time the feed says that something has.
import { type QueryClient, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./door";
import { MOST_CELLS, ShardCells } from "./shardCells";
import type { LevelColumns, ShardRange } from "./types";

export const shardingQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instances", "sharding", instance],
    queryFn: () => call("get_sharding", { instance }),
    meta: { topics: ["tasks"], paceMs: 400 },
  });

/** One shard with its history and its last lines. */
export const shardQuery = (instance: string, level: number, shard: number) =>
  queryOptions({
    queryKey: ["tasks", "shard", instance, level, shard],
    queryFn: () => call("get_shard", { instance, level, shard }),
    meta: { topics: ["instances"], paceMs: 500 },
    staleTime: 500,
    gcTime: 10_000,
  });

interface CellsNow {
  /** The same object for as long as it is looked at; what it knows changes, and it tells that itself. */
  cells: ShardCells;
  seen: number;
}

export const shardCellsQuery = (instance: string) => {
  const queryKey = ["instances", "cells", instance] as const;
  return queryOptions({
    queryKey,
    queryFn: ({ client }) => readOn(client, queryKey, instance),
    // Ten times a second, and no faster than the answers come.
    meta: { topics: ["tasks"], paceMs: 100 },
    // Whoever looks is not rendered anew for what changes in it.
    select: ({ cells }: CellsNow) => cells,
    structuralSharing: false,
    staleTime: 0,
    gcTime: 30_000,
  });
};

async function readOn(client: QueryClient, key: readonly unknown[], instance: string): Promise<CellsNow> {
  const known = client.getQueryData<CellsNow>(key);
  if (!known) return readAll(client, key, instance, new ShardCells());
  const { cells } = known;
  let { seen } = known;
  for (;;) {
    const changes = await call("shard_changes", { instance, since: seen });
    if (changes.anew) return readAll(client, key, instance, cells);
    if (!cells.take(changes.shards)) {
      cells.lay(await allLevels(instance));
      cells.take(changes.shards);
    }
    cells.tell();
    seen = changes.seen;
    if (!changes.more) return { cells, seen };
  }
}

/** All of it. What was read first is asked again as changes, so that nothing is missed in between. */
async function readAll(
  client: QueryClient,
  key: readonly unknown[],
  instance: string,
  cells: ShardCells,
): Promise<CellsNow> {
  cells.lay(await allLevels(instance));
  let cursor: number | null = null;
  let seen: number | null = null;
  do {
    const page: Awaited<ReturnType<typeof call<"list_shards">>> = await call("list_shards", { instance, cursor });
    seen ??= page.seen;
    cells.take(page.shards);
    cells.tell();
    cursor = page.next;
    // What is known so far is shown.
    if (cursor !== null) client.setQueryData<CellsNow>(key, { cells, seen });
  } while (cursor !== null);
  return { cells, seen };
}

async function allLevels(instance: string): Promise<Pick<LevelColumns, "level" | "items" | "shards">> {
  const all = { level: [] as number[], items: [] as number[], shards: [] as number[] };
  let from: number | null = null;
  let cells = 0;
  do {
    const page: LevelColumns = await call("list_levels", { instance, from });
    for (const column of ["level", "items", "shards"] as const) for (const each of page[column]) all[column].push(each);
    cells += page.shards.reduce((sum, each) => sum + each, 0);
    from = page.next;
  } while (from !== null && cells < MOST_CELLS);
  return all;
}

interface SomeShards {
  instance: string;
  shards: ShardRange[];
}

function useShardsChange(op: "cancel_instance" | "retry_instance") {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (some: SomeShards) => call(op, some),
    onSettled: () => client.invalidateQueries({ queryKey: ["instances"] }),
  });
}

export const useCancelShards = () => useShardsChange("cancel_instance");

/** A further round of these alone. */
export const useRetryShards = () => useShardsChange("retry_instance");
