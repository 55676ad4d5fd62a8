// The windows in which nothing fires: asked for, tried, put and taken away.
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./door";
import type { Blackout, Fault, PutBlackout, Window } from "./types";

export const blackoutsQuery = () =>
  queryOptions({
    queryKey: ["blackouts"],
    queryFn: () => call("list_blackouts", {}),
    meta: { topics: ["settings"] },
    // A window begins and ends without an event.
    refetchInterval: 60_000,
  });

/** What is wrong with a window, each at its field. Asked as a job's own is judged: what is wrong is an answer there, no refusal. */
export async function faultsOf(window: Window): Promise<Fault[]> {
  const spec = { name: "window", processor: "shell", schedule: { kind: "manual" }, blackouts: [window] };
  const { faults } = await call("check_job", { spec });
  const within = "blackouts.0.";
  return faults.flatMap((fault) =>
    fault.field?.startsWith(within) ? [{ ...fault, field: fault.field.slice(within.length) }] : [],
  );
}

/** What a window would hold back in the next 31 days, were it put as it stands. */
export const blackoutEffectQuery = (put: PutBlackout) =>
  queryOptions({
    queryKey: ["blackouts", "effect", put],
    queryFn: () => call("blackout_effect", put),
    meta: { topics: ["settings", "jobs"], paceMs: 2_000 },
    placeholderData: keepPreviousData,
    retry: false,
    gcTime: 0,
  });

function useBlackoutChange<T>(change: (input: T) => Promise<unknown>, quiet = false) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () =>
      Promise.all(["blackouts", "calendar", "jobs"].map((topic) => client.invalidateQueries({ queryKey: [topic] }))),
    meta: { quiet },
  });
}

/** The dialog that puts it shows a refusal itself. */
export const usePutBlackout = () => useBlackoutChange((put: PutBlackout) => call("put_blackout", put), true);

/** Makes it again as it was: none is that there was none. A refusal has its toast. */
export const useRestoreBlackout = () =>
  useBlackoutChange(({ name, blackout }: { name: string; blackout: Blackout | null }) =>
    blackout ? call("put_blackout", { name, blackout }) : call("remove_blackout", { name }),
  );

export const useRemoveBlackout = () => useBlackoutChange((name: string) => call("remove_blackout", { name }));
