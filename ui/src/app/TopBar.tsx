// The top bar: where we are connected and whether we still are, search, the clock and its zone, the hold switch.
// Never moves: each part keeps its place whatever it says.
import { Hand, Keyboard, Search } from "lucide-react";
import { useState } from "react";
import { Button as Pressable } from "react-aria-components";
import { useLive } from "@/api/live";
import { cx } from "@/lib/cx";
import { span } from "@/lib/relative";
import { useLang, useWords } from "@/lib/words";
import { Button, Hint, IconButton, Kbd } from "@/primitives";
import { Clock } from "./Clock";
import { HoldDialog } from "./Hold";
import { useEverySecond } from "./useEverySecond";
import { shellWords } from "./words";

export function TopBar({
  connection,
  onSearch,
  onKeys,
}: {
  connection: string;
  onSearch: () => void;
  onKeys: () => void;
}) {
  const w = useWords(shellWords);
  const connected = useLive(({ status }) => status !== null);
  const held = useLive(({ status }) => Boolean(status?.hold));
  const [asking, setAsking] = useState(false);
  return (
    <header className="relative flex h-(--topbar) shrink-0 items-center gap-3 border-line border-b bg-surface pr-3 pl-4">
      <span aria-hidden="true" className="absolute inset-x-0 top-0 h-0.5 bg-link-local" />
      <Connection name={connection} />
      <div className="flex min-w-0 flex-1 justify-center">
        <Pressable
          onPress={onSearch}
          className="flex h-7 w-full min-w-24 max-w-90 items-center gap-2 rounded-md bg-sunken px-2.5 text-ink-3 text-xs outline-none ring-1 ring-line ring-inset hover:bg-hover hover:text-ink-2 focus-visible:outline-2 focus-visible:outline-focus"
        >
          <Search size={14} className="shrink-0" />
          <span className="min-w-0 flex-1 truncate text-left">{w.palette}</span>
          <Kbd keys="ctrl+k" />
        </Pressable>
      </div>
      <Clock />
      <IconButton label={w.showKeys} kbd="?" icon={<Keyboard />} onPress={onKeys} />
      <Button
        size="sm"
        icon={<Hand />}
        why={!connected ? w.node.lost : held ? w.bannerTitle : null}
        onPress={() => setAsking(true)}
      >
        {held ? w.held : w.hold}
      </Button>
      <HoldDialog open={asking} onClose={() => setAsking(false)} />
    </header>
  );
}

function Connection({ name }: { name: string }) {
  const w = useWords(shellWords);
  const lang = useLang();
  const phase = useLive((live) => live.phase);
  const heardAt = useLive((live) => (live.phase === "lost" ? live.heardAt : null));
  const state = useLive(({ status }) => status?.node ?? null);
  useEverySecond();
  const age = heardAt === null ? null : Date.now() - heardAt;
  const node =
    phase === "lost"
      ? age === null
        ? w.node.lost
        : w.lostFor(span(Math.max(1_000, age), lang))
      : state === null
        ? w.node.connecting
        : state === "leading"
          ? w.node.leader
          : state === "standby"
            ? w.node.follower
            : w.node.starting;
  return (
    <div className="flex min-w-0 items-center gap-2.5">
      <Hint text={w.localHint}>
        <Pressable className="flex h-6 shrink-0 items-center gap-1.5 rounded-sm bg-link-local/12 px-2 font-medium text-link-local text-xs outline-none focus-visible:outline-2 focus-visible:outline-focus">
          <span className="size-1.5 rounded-full bg-link-local" />
          {name === "local" ? w.local : name}
        </Pressable>
      </Hint>
      <output
        className={cx(
          "flex min-w-0 items-center gap-1.5 text-xs",
          phase === "lost" ? "rounded-sm bg-bad-soft px-2 py-0.5 font-medium text-bad" : "text-ink-3",
        )}
        title={node}
      >
        <span
          aria-hidden="true"
          className={cx(
            "size-2 shrink-0",
            phase === "lost"
              ? "rotate-45 bg-bad"
              : state === "leading"
                ? "rounded-full bg-ok"
                : "rounded-full border-[1.5px] border-ink-3",
          )}
        />
        <span className="truncate">{node}</span>
      </output>
    </div>
  );
}
