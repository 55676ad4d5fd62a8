// What is asked about runs, and stopping them and having them run again.
import {
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { call, type Input } from "./door";
import type { DoneView, ListInstances } from "./types";

export type RunsFilter = Required<Pick<ListInstances, "job" | "states" | "task_states" | "executor">>;

export const instancesQuery = (filter: RunsFilter) =>
  infiniteQueryOptions({
    queryKey: ["instances", "list", filter],
    queryFn: ({ pageParam }) => call("list_instances", { ...filter, cursor: pageParam, limit: 100 }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
    meta: { topics: ["tasks"] },
    placeholderData: keepPreviousData,
  });

export const instanceQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instances", "one", instance],
    queryFn: () => call("get_instance", { instance }),
    meta: { topics: ["tasks"], paceMs: 500 },
  });

/** Why a run ran when it ran, or a job did not fire at a time. */
export const whyQuery = (of: Input<"why">) =>
  queryOptions({
    queryKey: ["instances", "why", of],
    queryFn: () => call("why", of),
    meta: { topics: ["tasks", "executors"] },
    // A wait ends by what happens elsewhere, too: at the machine of an executor, say.
    refetchInterval: (query) => (query.state.data?.waiting ? 5_000 : false),
  });

/** A run beside the last one that went well before it. */
export const comparisonQuery = (instance: string) =>
  queryOptions({
    queryKey: ["instances", "comparison", instance],
    queryFn: () => call("compare_run", { instance }),
  });

export interface Asked {
  done: number;
  refused: number;
}

/** Asks for each of them. When none was granted, the reason of the first is the reason of all. */
async function each(instances: readonly string[], ask: (instance: string) => Promise<DoneView>): Promise<Asked> {
  let done = 0;
  let first: unknown;
  for (const instance of instances) {
    try {
      await ask(instance);
      done += 1;
    } catch (refusal) {
      first ??= refusal;
    }
  }
  if (done === 0 && first !== undefined) throw first;
  return { done, refused: instances.length - done };
}

function useInstancesChange(ask: (instance: string) => Promise<DoneView>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (instances: readonly string[]) => each(instances, ask),
    onSettled: () => client.invalidateQueries({ queryKey: ["instances"] }),
  });
}

export const useCancelInstances = () => useInstancesChange((instance) => call("cancel_instance", { instance }));

export const useRetryInstances = () => useInstancesChange((instance) => call("retry_instance", { instance }));

/** The same job once more with the same parameters; answers with the new instance, once there is one. */
export function useRunAgain() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: {
      job: string;
      parameters: Record<string, unknown>;
      beside: boolean;
      executor: string | null;
    }) =>
      call("run_jobs", {
        jobs: [input.job],
        parameters: input.parameters,
        beside: input.beside,
        executor: input.executor,
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ["instances"] }),
    // Said in the dialog.
    meta: { quiet: true },
  });
}
