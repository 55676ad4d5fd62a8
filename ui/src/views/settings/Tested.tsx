// What became of a test: what answered, or what exactly is in the way and what to do about it.
import { CircleAlert, CircleCheck } from "lucide-react";
import { useEffect, useRef } from "react";
import type { useTestConnection } from "@/api/connections";
import { RefusalNotice } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Notice } from "@/primitives";
import { settingsWords } from "./words";

export function Tested({ of: test }: { of: ReturnType<typeof useTestConnection> }) {
  const w = useWords(settingsWords).connections;
  const said = useSaid();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // In a small window the place of it may be below the edge.
    if (test.submittedAt && !test.isPending) box.current?.scrollIntoView({ block: "nearest" });
  }, [test.submittedAt, test.isPending]);
  if (test.isPending || test.isIdle) return null;
  if (test.isError) return <RefusalNotice error={test.error} />;
  const { server, fault } = test.data;
  return (
    <div ref={box} className="py-2">
      {fault ? (
        <Notice tone="bad" icon={<CircleAlert />} title={said(fault.message)}>
          {fault.hint && said(fault.hint)}
          <code className="mt-0.5 block select-text text-2xs text-ink-3">{fault.code}</code>
        </Notice>
      ) : (
        <Notice tone="ok" icon={<CircleCheck />} title={w.reached}>
          {server}
        </Notice>
      )}
    </div>
  );
}
