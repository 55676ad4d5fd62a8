// What a team's database and each of its nodes said: that it opens, its version, or what exactly is in the way and what to do
// about it.
import { CircleAlert, CircleCheck } from "lucide-react";
import type { useTestTeam } from "@/api/places";
import { RefusalNotice } from "@/components";
import { useSaid, useWords } from "@/lib/words";
import { Notice } from "@/primitives";
import { teamsWords } from "./teamsWords";

export function TeamTested({ of: test }: { of: ReturnType<typeof useTestTeam> }) {
  const w = useWords(teamsWords);
  const said = useSaid();
  if (test.isPending || test.isIdle) return null;
  if (test.isError) return <RefusalNotice error={test.error} />;
  return (
    <ul className="flex flex-col gap-2 py-2" data-testid="team-tested">
      {test.data.map(({ address, version, fault }) => (
        <li key={`${address} ${fault?.code ?? ""}`}>
          {fault ? (
            <Notice tone="bad" icon={<CircleAlert />} title={address}>
              <span className="block">{said(fault.message)}</span>
              {fault.hint && said(fault.hint)}
              <code className="mt-0.5 block select-text text-2xs text-ink-3">{fault.code}</code>
            </Notice>
          ) : (
            <Notice tone="ok" icon={<CircleCheck />} title={address}>
              {version === null ? w.opened : w.reached(version)}
            </Notice>
          )}
        </li>
      ))}
    </ul>
  );
}
