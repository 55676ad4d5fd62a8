// What it all stands on: the nodes and what each leads, and the locks that tasks hold. Neither is in the feed.
import { queryOptions } from "@tanstack/react-query";
import { call } from "./door";

export const nodesQuery = () =>
  queryOptions({
    queryKey: ["infrastructure", "nodes"],
    queryFn: () => call("list_nodes", {}),
    // A node writes itself down once a second. Nobody is asked while the window is hidden.
    refetchInterval: 2_000,
  });

export const locksQuery = () =>
  queryOptions({
    queryKey: ["infrastructure", "locks"],
    queryFn: () => call("list_locks", {}),
    refetchInterval: 1_000,
  });
