// What is asked of the data by which wall-clock times are planned, and how newer data is taken in.
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./door";

export const zonesQuery = () =>
  queryOptions({ queryKey: ["zones"], queryFn: () => call("zones", {}), meta: { topics: ["settings"] } });

/** Newer data from a folder of the node's machine; tried first, it says which jobs' times would be others. */
export function useImportZones() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { folder: string; dry_run: boolean }) => call("import_zones", input),
    onSuccess: (_, { dry_run }) => (dry_run ? undefined : client.invalidateQueries()),
    // The dialog shows a refusal itself.
    meta: { quiet: true },
  });
}
