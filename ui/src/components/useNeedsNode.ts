// Why what only a node can do (logs, files, reports) cannot be done just now; null where it can: the window looks at this
// machine, or at a team through one of its nodes.
import { useTeam } from "@/api/places";
import { useSaid } from "@/lib/words";

export function useNeedsNode(): string | null {
  const { team, reads } = useTeam();
  const said = useSaid();
  return team && reads ? said(reads.message) : null;
}
