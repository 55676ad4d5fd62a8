// What jobs call a database by. A password goes out through here and never comes back.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, type Input } from "./door";

export const connectionsQuery = () =>
  queryOptions({ queryKey: ["settings", "connections"], queryFn: () => call("list_connections", {}) });

/** Said beside the fields. */
export function usePutConnection() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<"put_connection">) => call("put_connection", input),
    onSettled: () => client.invalidateQueries({ queryKey: ["settings", "connections"] }),
    meta: { quiet: true },
  });
}

export function useRemoveConnection() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (name: string) => call("remove_connection", { name }),
    onSettled: () => client.invalidateQueries({ queryKey: ["settings", "connections"] }),
  });
}

/** Said beside what was tested. */
export const useTestConnection = () =>
  useMutation({
    mutationFn: (input: Input<"test_connection">) => call("test_connection", input),
    meta: { quiet: true },
  });
