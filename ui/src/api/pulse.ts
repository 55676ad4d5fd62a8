// What Pulse asks.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { call } from "./door";

export const pulseQuery = () =>
  queryOptions({
    queryKey: ["pulse"],
    queryFn: () => call("pulse", {}),
    meta: { topics: ["jobs", "instances", "alarms"], paceMs: 500 },
    placeholderData: keepPreviousData,
    // The strip of the next hour begins with the present minute.
    refetchInterval: 30_000,
  });
