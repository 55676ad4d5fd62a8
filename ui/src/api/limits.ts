// What is held and by which limit, and the limits on work at once.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, type Input } from "./door";

export const heldQuery = () =>
  queryOptions({
    queryKey: ["executors", "held"],
    queryFn: () => call("list_held", {}),
    meta: { topics: ["tasks", "settings"], paceMs: 500 },
  });

export const limitsQuery = () =>
  queryOptions({
    queryKey: ["executors", "limits"],
    queryFn: () => call("list_limits", {}),
    meta: { topics: ["tasks", "settings"], paceMs: 1000 },
  });

export function usePutLimit() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: Input<"put_limit">) => call("put_limit", input),
    onSettled: () => client.invalidateQueries({ queryKey: ["executors"] }),
  });
}
