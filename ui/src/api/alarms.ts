// What is asked about alarms, and acknowledging them.
import { infiniteQueryOptions, keepPreviousData, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./door";
import type { AlarmState } from "./types";

export const alarmsQuery = (states: AlarmState[]) =>
  infiniteQueryOptions({
    queryKey: ["alarms", "list", states],
    queryFn: ({ pageParam }) => call("list_alarms", { states, cursor: pageParam, limit: 200 }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
    placeholderData: keepPreviousData,
  });

export function useAcknowledge() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { alarms: string[]; note: string }) => call("acknowledge_alarms", input),
    onSettled: () => client.invalidateQueries({ queryKey: ["alarms"] }),
    // Said beside the note.
    meta: { quiet: true },
  });
}
