// Values that only executors can read. One goes out through here once, and nothing brings it back.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, type Input } from "./door";

export const secretsQuery = () =>
  queryOptions({ queryKey: ["settings", "secrets"], queryFn: () => call("list_secrets", {}) });

/** Said beside the fields. */
export function usePutSecret() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<"put_secret">) => call("put_secret", input),
    onSettled: () => client.invalidateQueries({ queryKey: ["settings", "secrets"] }),
    meta: { quiet: true },
    // A value is not kept for longer than it is under way.
    gcTime: 0,
  });
}

export function useRemoveSecret() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<"remove_secret">) => call("remove_secret", input),
    onSettled: () => client.invalidateQueries({ queryKey: ["settings", "secrets"] }),
  });
}
