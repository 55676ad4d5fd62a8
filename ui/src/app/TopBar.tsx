// The top bar: where we are connected and whether we still are, search, the clock and its zone, the hold switch.
// Never moves: each part keeps its place whatever it says.
import { Hand, Keyboard, Search } from "lucide-react";
import { useState } from "react";
import { Button as Pressable } from "react-aria-components";
import { useLive } from "@/api/live";
import { useTeam } from "@/api/places";
import { linkGround } from "@/components/link";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { Button, IconButton, Kbd } from "@/primitives";
import { Clock } from "./Clock";
import { Connection } from "./Connection";
import { HoldDialog } from "./Hold";
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
  const { team } = useTeam();
  const [asking, setAsking] = useState(false);
  return (
    <header className="relative flex h-(--topbar) shrink-0 items-center gap-3 border-line border-b bg-surface pr-3 pl-4">
      <span
        aria-hidden="true"
        className={cx("absolute inset-x-0 top-0", team ? "h-1" : "h-0.5", linkGround[team?.colour ?? "local"])}
      />
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
