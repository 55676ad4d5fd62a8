// What Pulse asks.
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { localOffsetMs } from "@/lib/offset";
import { call, getZone } from "./door";

export const pulseQuery = () =>
  queryOptions({
    queryKey: ["pulse"],
    queryFn: async () => {
      const pulse = await call("pulse", {});
      const first = pulse.next_hour[0];
      if (first && getZone() === "local") localOffsetMs.set(first.at.offset);
      return pulse;
    },
    meta: { topics: ["jobs", "instances", "alarms"], paceMs: 500 },
    placeholderData: keepPreviousData,
    // The strip of the next hour begins with the present minute.
    refetchInterval: 30_000,
  });
