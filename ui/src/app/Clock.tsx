// The time, in the zone that all times are shown in, and the choice of it. The offset of the local zone is what the node
// told; the window itself knows no zones.
import { useQuery } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { getZone, onZone, setZone } from "@/api/door";
import { bootstrapQuery, useSetSetting } from "@/api/node";
import { offsetQuery, QUARTER_MS } from "@/api/walltime";
import { useNow } from "@/lib/clock";
import { useWords } from "@/lib/words";
import { Segmented } from "@/primitives";
import { shellWords } from "./words";

export function Clock() {
  const w = useWords(shellWords);
  const now = useNow();
  const save = useSetSetting();
  const zone = useSyncExternalStore(onZone, getZone);
  const bootstrap = useQuery(bootstrapQuery());
  const offset = useQuery(offsetQuery(bootstrap.data?.zone, Math.floor(now / QUARTER_MS)));
  const shown = zone === "UTC" ? now : offset.data === undefined ? null : now + offset.data;
  return (
    <div className="flex shrink-0 items-center gap-2">
      <time className="w-14 text-right font-medium text-ink-2 text-xs">
        {shown === null ? "" : new Date(shown).toISOString().slice(11, 19)}
      </time>
      <Segmented
        bare
        size="sm"
        label={w.zone}
        value={zone === "UTC" ? "UTC" : "local"}
        onChange={(next) => {
          setZone(next);
          save.mutate({ key: "clock", value: next });
        }}
        options={[
          { value: "local", label: w.zoneLocal },
          { value: "UTC", label: w.zoneUtc },
        ]}
      />
    </div>
  );
}
