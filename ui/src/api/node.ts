// What is asked of the node as a whole: who it is, what is set, hold and release.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./door";
import { looksAtTeam } from "./places";
import type { Bootstrap } from "./types";

export const bootstrapQuery = () =>
  queryOptions<Bootstrap>({
    queryKey: ["settings", "bootstrap"],
    queryFn: () => call("bootstrap", {}),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const useHold = () => useMutation({ mutationFn: (reason: string) => call("hold", { reason }) });

export const useRelease = () => useMutation({ mutationFn: () => call("release", {}) });

/** What a window looks like, and what it has told: its own, also where it looks at a team. */
const OWN = ["theme", "language", "clock", "closingTold"];

export function useSetSetting() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ key, value }: { key: string; value: unknown }) => {
      if (OWN.includes(key) && looksAtTeam(client)) return;
      await call("set_setting", { key, value });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["settings"] }),
  });
}
