// What the work stands on: the nodes and what each leads, and the locks that tasks hold.
import { useQuery } from "@tanstack/react-query";
import { nodesQuery } from "@/api/infrastructure";
import { useLive } from "@/api/live";
import type { NodeDuty, NodeRow, NodeState } from "@/api/types";
import { View } from "@/components";
import { cx } from "@/lib/cx";
import { marks, useWords } from "@/lib/words";
import { type Tone, toneText } from "@/primitives";
import { Locks } from "./Locks";
import { Nodes } from "./Nodes";
import { infrastructureWords } from "./words";

const DUTIES: readonly NodeDuty[] = ["clerk", "monitor", "alerter", "sweeper"];

export function InfrastructureView() {
  const w = useWords(infrastructureWords);
  const nodes = useQuery(nodesQuery()).data?.rows;
  return (
    <View title={w.title} lead={nodes && <Verdict of={nodes} />}>
      <div className="flex h-full min-h-0 flex-col">
        {nodes && nodes.length > 0 && <Nodes of={nodes} />}
        <Locks />
      </div>
    </View>
  );
}

function Verdict({ of: rows }: { of: readonly NodeRow[] }) {
  const w = useWords(infrastructureWords);
  const { semicolon } = useWords(marks);
  const state = useLive(({ status }) => status?.node ?? null);
  const [tone, text] = rows.length === 0 ? alone(state, w) : together(rows, w, semicolon);
  if (!text) return null;
  return (
    <span data-testid="infrastructure-verdict" className={cx(toneText[tone], tone !== "ok" && "font-medium")}>
      {tone === "ok" && "✓ "}
      {text}
    </span>
  );
}

type Words = (typeof infrastructureWords)["en"];

/** On a data folder one program drives, and others stand by. */
function alone(state: NodeState | null, w: Words): [Tone, string] {
  if (state === null) return ["ok", ""];
  return [state === "leaderless" ? "bad" : "ok", w.alone[state]];
}

function together(rows: readonly NodeRow[], w: Words, semicolon: string): [Tone, string] {
  const live = rows.filter((row) => row.live);
  const unled = DUTIES.filter((duty) => !live.some((row) => row.duties.includes(duty)));
  if (unled.length > 0) return ["bad", w.unled(unled.map((duty) => w.nodes.dutyMeaning[duty]).join(semicolon))];
  if (live.length < rows.length) return ["warn", w.unheard(rows.length - live.length, rows.length)];
  return ["ok", w.together(live.length)];
}
