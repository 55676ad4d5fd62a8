// How the console looks to this person, and what it stands on. What is set takes hold at once, here and on every console
// of the same data folder.
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Monitor, Moon, Sun } from "lucide-react";
import { type ReactNode, useSyncExternalStore } from "react";
import { getZone, inDesktop, onZone, setZone } from "@/api/door";
import { bootstrapQuery, useSetSetting } from "@/api/node";
import { useTeam } from "@/api/places";
import { Answer, View } from "@/components";
import { adopt, type Theme, useAppearance } from "@/lib/appearance";
import { type Lang, marks, useSaid, useWords } from "@/lib/words";
import { Facts, Section, Segmented, SkeletonRows } from "@/primitives";
import { Blackouts } from "./Blackouts";
import { CalendarList } from "./CalendarList";
import { Connections } from "./Connections";
import { Retention } from "./Retention";
import { Secrets } from "./Secrets";
import { Teams } from "./Teams";
import { settingsWords } from "./words";
import { ZoneData } from "./ZoneData";

const here = getRouteApi("/settings");

export function SettingsView() {
  const w = useWords(settingsWords);
  const m = useWords(marks);
  const said = useSaid();
  const { theme, lang } = useAppearance();
  const zone = useSyncExternalStore(onZone, getZone);
  const save = useSetSetting();
  const bootstrap = useQuery(bootstrapQuery());
  const navigate = useNavigate();
  const { blackout, team: asked } = here.useSearch();
  const { team } = useTeam();

  const setTheme = (next: Theme) => {
    adopt({ theme: next });
    save.mutate({ key: "theme", value: next });
  };
  const setLanguage = (next: Lang) => {
    adopt({ lang: next });
    save.mutate({ key: "language", value: next });
  };

  return (
    <View title={w.title} scroll>
      <div className="flex max-w-220 flex-col gap-6">
        <Section title={w.looks} note={team ? w.looksOwn : w.looksNote}>
          <div className="panel divide-y divide-line">
            <Row label={w.language}>
              <Segmented
                bare
                label={w.language}
                value={lang}
                onChange={setLanguage}
                options={[
                  { value: "en", label: "English" },
                  { value: "zh", label: "简体中文" },
                ]}
              />
            </Row>
            <Row label={w.theme}>
              <Segmented
                bare
                label={w.theme}
                value={theme}
                onChange={setTheme}
                options={[
                  { value: "light", label: w.themes.light, icon: <Sun /> },
                  { value: "dark", label: w.themes.dark, icon: <Moon /> },
                  { value: "system", label: w.themes.system, icon: <Monitor /> },
                ]}
              />
            </Row>
            <Row label={w.zone} hint={bootstrap.data ? w.zoneHint(bootstrap.data.zone) : ""}>
              <Segmented
                bare
                label={w.zone}
                value={zone === "UTC" ? "UTC" : "local"}
                onChange={(next) => {
                  setZone(next);
                  save.mutate({ key: "clock", value: next });
                }}
                options={[
                  { value: "local", label: w.zones.local },
                  { value: "UTC", label: w.zones.utc },
                ]}
              />
            </Row>
          </div>
        </Section>
        {inDesktop && (
          <Teams
            asked={asked === "new"}
            onAnswered={() => asked && void navigate({ to: "/settings", search: {}, replace: true })}
          />
        )}
        <CalendarList />
        <Blackouts
          opened={blackout ?? null}
          onClosed={() => blackout && void navigate({ to: "/settings", search: {}, replace: true })}
        />
        <ZoneData />
        <Connections />
        <Secrets />
        <Answer of={bootstrap} skeleton={<SkeletonRows rows={5} />}>
          {(node) => (
            <>
              <Section title={w.processors}>
                <ul className="panel divide-y divide-line">
                  {node.processors.map((processor) => (
                    <li key={`${processor.group}/${processor.name}`} className="flex items-baseline gap-3 px-4 py-2">
                      <span className="w-28 shrink-0">
                        <span className="block font-medium">{said(processor.title)}</span>
                        <code className="text-2xs text-ink-3">
                          {processor.group}/{processor.name}
                        </code>
                      </span>
                      <span className="min-w-0 flex-1 text-ink-2">{said(processor.description)}</span>
                      <span
                        className={
                          processor.executors === 0 ? "shrink-0 text-warn text-xs" : "shrink-0 text-ink-3 text-xs"
                        }
                      >
                        {processor.executors === 0 ? w.noExecutors : w.executors(processor.executors)}
                      </span>
                    </li>
                  ))}
                </ul>
              </Section>
              <Retention kept={node.retention} />
              <Section title={w.joining.title}>
                <div className="panel">
                  <Row label={w.joining.label} hint={w.joining.hint}>
                    <Segmented
                      bare
                      label={w.joining.label}
                      value={node.settings.executors === true ? "on" : "off"}
                      onChange={(next) => save.mutate({ key: "executors", value: next === "on" })}
                      options={[
                        { value: "off", label: w.joining.off },
                        { value: "on", label: w.joining.on },
                      ]}
                    />
                  </Row>
                </div>
              </Section>
              <Section title={w.about}>
                <div className="panel p-4">
                  <Facts
                    rows={[
                      [w.version, `Campanile ${node.version}`],
                      [w.zoneData, node.zone_data],
                      [w.connection, node.connection === "local" ? w.local : node.connection],
                      [w.dataFolder, <code key="folder">{node.data_folder}</code>],
                      [
                        w.you,
                        node.person.name +
                          m.comma +
                          (w.roles[node.person.role as keyof typeof w.roles] ?? node.person.role),
                      ],
                      [w.license, "Apache-2.0"],
                      [w.shortcuts, w.shortcutsHint],
                    ]}
                  />
                </div>
              </Section>
            </>
          )}
        </Answer>
      </div>
    </View>
  );
}

function Row({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) {
  return (
    <div className="flex min-h-12 items-center justify-between gap-4 px-4 py-2">
      <div className="min-w-0">
        <div>{label}</div>
        {hint && <div className="text-ink-3 text-xs">{hint}</div>}
      </div>
      {children}
    </div>
  );
}
