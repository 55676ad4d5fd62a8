// What is asked about executors, and keeping one from taking more.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call, type Input } from "./door";

export const executorsQuery = () =>
  queryOptions({
    queryKey: ["executors", "list"],
    queryFn: () => call("list_executors", {}),
    meta: { topics: ["tasks"], paceMs: 500 },
    // How long ago each was heard is worth a look each second.
    refetchInterval: 1_000,
  });

/** What one executor was given and what its tasks wrote lately. */
export const executorLogQuery = (group: string, name: string) =>
  queryOptions({
    queryKey: ["executors", "log", group, name],
    queryFn: () => call("executor_log", { group, name }),
    // Lines of many tasks have no topic of their own to wait for.
    refetchInterval: 1_000,
  });

function useExecutorsChange<I>(ask: (input: I) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ask,
    onSettled: () => client.invalidateQueries({ queryKey: ["executors"] }),
  });
}

export const useDrainExecutor = () =>
  useExecutorsChange((input: Input<"drain_executor">) => call("drain_executor", input));

export const useResumeExecutor = () =>
  useExecutorsChange((input: Input<"resume_executor">) => call("resume_executor", input));
