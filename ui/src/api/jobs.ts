// What is asked about jobs.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./door";

/** The first few jobs whose name, tag or tenant has this; for the palette. */
export const findJobsQuery = (text: string) =>
  queryOptions({
    queryKey: ["jobs", "find", text],
    queryFn: () => call("list_jobs", { text, limit: 8 }),
    placeholderData: keepPreviousData,
  });
