// The rail: where one can go. Deep indigo in both themes, so that the frame is told from the page at a glance.
import { Link } from "@tanstack/react-router";
import { PanelLeftClose, PanelLeftOpen } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "react-aria-components";
import { useTeam } from "@/api/places";
import { linkOnRail } from "@/components/link";
import { adopt, useAppearance } from "@/lib/appearance";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { Hint } from "@/primitives";
import { Mark } from "./Mark";
import { RAIL } from "./rail";
import { ShardedNow } from "./ShardedNow";
import { teamWords } from "./teamWords";
import { shellWords } from "./words";

export function Rail({ badges }: { badges: Partial<Record<string, ReactNode>> }) {
  const w = useWords(shellWords);
  const t = useWords(teamWords);
  const { railShut } = useAppearance();
  const { team } = useTeam();
  return (
    <nav
      aria-label={w.navigation}
      className="flex h-full shrink-0 flex-col bg-rail text-rail-ink"
      style={{ width: railShut ? "var(--rail-shut)" : "var(--rail-open)" }}
    >
      <div className="flex h-(--topbar) shrink-0 items-center gap-2.5 overflow-hidden pl-3.5">
        <Mark />
        {!railShut && (
          <span className="truncate font-semibold text-md text-rail-ink-picked tracking-tight">{w.product}</span>
        )}
      </div>
      {team && (
        <div
          data-testid="rail-team"
          title={t.team(team.name)}
          className={cx(
            "mx-2 mt-1 flex h-7 items-center gap-2 overflow-hidden rounded-sm border-l-4 bg-rail-hover font-medium text-rail-ink-picked text-xs",
            linkOnRail[team.colour],
            railShut ? "justify-center" : "px-2",
          )}
        >
          {railShut ? [...team.name][0] : <span className="truncate">{team.name}</span>}
        </div>
      )}
      <ul className="flex flex-1 flex-col gap-0.5 px-2 pt-2">
        {RAIL.map((entry) => {
          const Icon = entry.icon;
          const name = w.views[entry.name];
          const link = (
            <Link
              to={entry.to}
              activeOptions={{ exact: entry.to === "/", includeSearch: false }}
              title={railShut ? name : undefined}
              className={cx(
                "relative flex h-8 items-center gap-2.5 rounded-md pr-2 pl-2.5 outline-none transition-colors duration-100",
                "hover:bg-rail-hover hover:text-rail-ink-picked focus-visible:outline-2 focus-visible:outline-focus",
                "data-[status=active]:bg-rail-picked data-[status=active]:font-medium data-[status=active]:text-rail-ink-picked",
              )}
            >
              <Icon size={16} strokeWidth={1.9} />
              <span className={railShut ? "sr-only" : "min-w-0 flex-1 truncate"}>{name}</span>
              {badges[entry.name] && (
                <span className={cx(railShut && "absolute top-0.5 right-0.5 scale-90")}>{badges[entry.name]}</span>
              )}
            </Link>
          );
          return <li key={entry.to}>{link}</li>;
        })}
      </ul>
      <ShardedNow shut={railShut} />
      <div className="p-2">
        <Hint text={railShut ? w.expand : w.collapse} kbd="[">
          <Button
            aria-label={railShut ? w.expand : w.collapse}
            onPress={() => adopt({ railShut: !railShut })}
            className="flex h-8 w-9 items-center justify-center rounded-md outline-none hover:bg-rail-hover hover:text-rail-ink-picked focus-visible:outline-2 focus-visible:outline-focus"
          >
            {railShut ? <PanelLeftOpen size={16} /> : <PanelLeftClose size={16} />}
          </Button>
        </Hint>
      </div>
    </nav>
  );
}
