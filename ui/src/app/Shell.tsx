// The window: rail, top bar, the view, status bar; and what is above them all: palette, keys, toasts.
// The view fills what is left and scrolls inside itself; the window never scrolls.
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { CircleAlert, Timer } from "lucide-react";
import {
  Component,
  createElement,
  type ReactNode,
  Suspense,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { alarmsQuery } from "@/api/alarms";
import { onOpenRun } from "@/api/desktop";
import { onZone, setZone } from "@/api/door";
import { findJobsQuery } from "@/api/jobs";
import { useLive } from "@/api/live";
import { bootstrapQuery, useSetSetting } from "@/api/node";
import { useTeam } from "@/api/places";
import type { AlarmState } from "@/api/types";
import { bySeverity } from "@/components";
import { RefusalNotice } from "@/components/Answer";
import { FromFile } from "@/components/data/FromFile";
import { adopt, useAppearance } from "@/lib/appearance";
import { useHotkey } from "@/lib/hotkeys";
import { useLang, useSaid, useWords } from "@/lib/words";
import { EmptyState, Notice, SkeletonRows, Toasts } from "@/primitives";
import { Closing } from "./Closing";
import { HoldBanner } from "./Hold";
import { KeysSheet } from "./KeysSheet";
import { Palette, type PaletteItem } from "./Palette";
import { Rail } from "./Rail";
import { RAIL, type RailEntry } from "./rail";
import { StatusBar } from "./StatusBar";
import { TopBar } from "./TopBar";
import { shellWords } from "./words";

const FIRING: AlarmState[] = ["firing"];

export function Shell() {
  const w = useWords(shellWords);
  const lang = useLang();
  const said = useSaid();
  const navigate = useNavigate();
  const client = useQueryClient();
  const trouble = useLive(({ fault, status }) => fault ?? status?.trouble ?? null);
  const { railShut } = useAppearance();
  const bootstrap = useQuery(bootstrapQuery());
  const save = useSetSetting();
  const [palette, setPalette] = useState(false);
  const [keys, setKeys] = useState(false);
  const [query, setQuery] = useState("");
  // The badge counts what asks for attention: acknowledged alarms do not any more.
  const firing = useInfiniteQuery(alarmsQuery(FIRING)).data?.pages[0]?.rows ?? [];
  const worst = firing.map((alarm) => alarm.severity).toSorted(bySeverity)[0] ?? null;
  const path = useRouterState({ select: (state) => state.location.pathname });

  // What the node has stored wins over what this window remembered.
  const settings = bootstrap.data?.settings;
  const { team } = useTeam();
  const ofTeam = team !== null;
  useEffect(() => {
    // How a window looks is its own affair; what a team's node has stored is somebody else's.
    if (!settings || ofTeam) return;
    const { theme, language, clock } = settings;
    if (theme === "light" || theme === "dark" || theme === "system") adopt({ theme });
    if (language === "en" || language === "zh") adopt({ lang: language });
    if (clock === "local" || clock === "UTC") setZone(clock);
  }, [settings, ofTeam]);

  // For whoever measures how long a start takes: the first answers are on the page.
  const known = settings !== undefined;
  useEffect(() => {
    if (known) requestAnimationFrame(() => performance.mark("usable"));
  }, [known]);

  // Whoever clicks a notification of the desktop wants to see what it was about.
  useEffect(() => onOpenRun((run) => void navigate({ to: "/runs/$instance", params: { instance: run } })), [navigate]);

  // Every time on the page is the node's text: another zone or language means asking for all of it anew.
  useEffect(() => onZone(() => void client.invalidateQueries()), [client]);
  const asked = useRef(lang);
  useEffect(() => {
    if (asked.current === lang) return;
    asked.current = lang;
    void client.invalidateQueries();
  }, [client, lang]);

  const everywhere = { group: w.generalGroup };
  const openPalette = () => {
    setQuery("");
    setPalette(true);
  };
  useHotkey("ctrl+k", w.palette, openPalette, { ...everywhere, anywhere: true, palette: false });
  useHotkey("?", w.showKeys, () => setKeys(true), everywhere);
  useHotkey("[", railShut ? w.expand : w.collapse, () => adopt({ railShut: !railShut }), everywhere);
  useHotkey(
    "T",
    w.switchTheme,
    () => {
      const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
      adopt({ theme });
      save.mutate({ key: "theme", value: theme });
    },
    everywhere,
  );
  useHotkey(
    "L",
    w.switchLang,
    () => {
      const next = lang === "zh" ? "en" : "zh";
      adopt({ lang: next });
      save.mutate({ key: "language", value: next });
    },
    everywhere,
  );

  const views: PaletteItem[] = RAIL.map((entry) => ({
    id: entry.name,
    group: w.paletteViews,
    label: w.views[entry.name],
    icon: createElement(entry.icon, { size: 16 }),
    kbd: `g ${entry.letter}`,
    run: () => void navigate({ to: entry.to }),
  }));

  const wanted = useDeferredValue(query.trim());
  const jobs = useQuery({ ...findJobsQuery(wanted), enabled: palette && wanted !== "" });
  const found = useMemo<PaletteItem[]>(
    () =>
      wanted === ""
        ? []
        : (jobs.data?.rows ?? []).map((job: { id: string; name: string; words: Record<"en" | "zh", string> }) => ({
            id: `job-${job.id}`,
            group: w.paletteJobs,
            label: job.name,
            detail: job.words[lang],
            icon: <Timer size={16} />,
            run: () => void navigate({ to: "/jobs/$job", params: { job: job.id } }),
          })),
    [jobs.data, wanted, w, lang, navigate],
  );

  return (
    <div className="flex h-full min-h-0">
      {RAIL.map((entry) => (
        <GoKey key={entry.to} entry={entry} />
      ))}
      <Rail
        badges={{
          alarms: firing.length > 0 ? <AlarmCount n={firing.length} worst={worst} /> : undefined,
        }}
      />
      <div className="flex min-w-0 flex-1 flex-col">
        <TopBar
          connection={bootstrap.data?.connection ?? "local"}
          onSearch={openPalette}
          onKeys={() => setKeys(true)}
        />
        <HoldBanner />
        {trouble && (
          <div className="shrink-0 px-4 pt-3">
            <Notice tone="bad" icon={<CircleAlert />} title={said(trouble.message)}>
              {trouble.hint && said(trouble.hint)} <code className="select-text text-2xs">{trouble.code}</code>
            </Notice>
          </div>
        )}
        <main className="relative min-h-0 flex-1 overflow-hidden">
          <Fence key={path} title={w.broken} hint={w.brokenHint}>
            <Suspense fallback={<SkeletonRows rows={10} />}>
              <Outlet />
            </Suspense>
          </Fence>
        </main>
        <StatusBar />
      </div>
      {palette && (
        <Palette onClose={() => setPalette(false)} views={views} found={found} query={query} onQuery={setQuery} />
      )}
      {keys && <KeysSheet open onClose={() => setKeys(false)} />}
      <Closing told={settings?.closingTold === true} />
      <FromFile onStarted={(run) => void navigate({ to: "/runs/$instance", params: { instance: run } })} />
      <Toasts />
    </div>
  );
}

function GoKey({ entry }: { entry: RailEntry }) {
  const w = useWords(shellWords);
  const navigate = useNavigate();
  useHotkey(`g ${entry.letter}`, w.goTo(w.views[entry.name]), () => void navigate({ to: entry.to }), {
    group: w.goGroup,
  });
  return null;
}

function AlarmCount({ n, worst }: { n: number; worst: string | null }) {
  const grave = worst === "critical" || worst === "emergency";
  return (
    <span
      className={
        grave
          ? "flex h-4.5 min-w-4.5 items-center justify-center rounded-full bg-bad px-1 font-semibold text-2xs text-surface"
          : "flex h-4.5 min-w-4.5 items-center justify-center rounded-full bg-warn px-1 font-semibold text-2xs text-surface"
      }
    >
      {n > 99 ? "99+" : n}
    </span>
  );
}

/** Keeps what goes wrong in one view inside it. */
class Fence extends Component<{ title: string; hint: string; children: ReactNode }, { error: Error | null }> {
  override state: { error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="flex h-full flex-col">
        <EmptyState title={this.props.title} hint={this.props.hint}>
          <RefusalNotice error={error} onAgain={() => this.setState({ error: null })} />
        </EmptyState>
      </div>
    );
  }
}
