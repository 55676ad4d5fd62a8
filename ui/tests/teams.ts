// The window of the desktop, for the pictures: its program is played by a few lines in the page, which pass on what is asked
// of the node. It knows two teams, and looks at one of them or at its own machine.
import type { Page } from "playwright-core";
import type { Script } from "./fixture";

const NODES = ["http://127.0.0.1:4600", "https://campanile-2.example.com"];

const PLACES = {
  current: null as string | null,
  node: null as string | null,
  keeper: "keychain",
  rows: [
    {
      id: "t1",
      name: "生产 production",
      colour: "red",
      nodes: NODES.map((address) => ({ address, token: "keychain" })),
    },
    {
      id: "t2",
      name: "staging",
      colour: "violet",
      nodes: [{ address: "http://127.0.0.1:4700", token: "keychain" }],
    },
  ],
};

const TRIED = [
  { address: NODES[0], version: "0.1.0", fault: null },
  {
    address: NODES[1],
    version: null,
    fault: {
      code: "k_sc_ec_600023",
      message: {
        en: "no node of production answers: https://campanile-2.example.com: nothing within 3 s",
        zh: "production 没有节点应答：https://campanile-2.example.com：3 秒内没有应答",
      },
      hint: {
        en: "The console goes on trying; look whether a node runs, and whether this machine reaches it.",
        zh: "控制台会继续重试；请确认有节点在运行，且本机可以访问。",
      },
      field: null,
    },
  },
];

const AWAY = { ...TRIED[1]?.fault };

interface Desktop {
  places: typeof PLACES;
  tried: typeof TRIED;
  /** The team does not answer. */
  away: typeof AWAY | null;
  status: unknown;
}

/** What the desktop's program would answer, in the page. */
export function playDesktop(page: Page, desktop: Desktop) {
  return page.addInitScript(({ places, tried, away, status }) => {
    const callbacks = new Map<number, (value: unknown) => void>();
    let last = 0;
    const invoke = async (command: string, args: Record<string, unknown>) => {
      if (command === "places") return places;
      if (command === "test_team") return tried;
      if (command === "call") {
        const sent = { method: "POST", body: JSON.stringify(args), headers: { "content-type": "application/json" } };
        const answer = await fetch(`/api/${args.op}`, sent);
        const body = await answer.json();
        if (answer.ok) return body;
        throw body;
      }
      if (command === "subscribe") {
        if (away) throw away;
        const heard = callbacks.get((args.channel as { id: number }).id);
        const frame = (index: number) => ({
          seq: index + 1,
          kind: index === 0 ? "snapshot" : "delta",
          stale: [],
          status,
        });
        heard?.({ message: frame(0), index: 0 });
        let index = 0;
        setInterval(() => heard?.({ message: frame(++index), index }), 1_000);
        return new Promise(() => {});
      }
      return ++last;
    };
    Object.assign(window, {
      __TAURI_INTERNALS__: {
        invoke,
        transformCallback: (callback: (value: unknown) => void) => {
          callbacks.set(++last, callback);
          return last;
        },
        unregisterCallback: (id: number) => callbacks.delete(id),
        metadata: { currentWindow: { label: "main" }, currentWebview: { windowLabel: "main", label: "main" } },
      },
      __TAURI_EVENT_PLUGIN_INTERNALS__: { unregisterListener: () => {} },
    });
  }, desktop);
}

const looking =
  (more: Partial<Desktop> & { at?: string } = {}) =>
  (script: Script) => {
    const { at, ...rest } = more;
    script.desktop = {
      places: at ? { ...PLACES, current: at, node: NODES[0] ?? null } : PLACES,
      tried: TRIED,
      away: null,
      status: script.status,
      ...rest,
    };
  };

const first = (script: Script) => {
  const pulse = script.answers.pulse?.({}) as Record<string, unknown>;
  script.answers.pulse = () => ({
    ...pulse,
    jobs: 0,
    upcoming: [],
    running: [],
    alarms: [],
    omissions: [],
    next_hour: [],
  });
};

export const TEAM_SHOTS = [
  { name: "team-pulse", path: "/", script: looking({ at: "t1" }) },
  {
    name: "team-menu",
    path: "/jobs",
    script: looking({ at: "t2" }),
    act: async (page: Page) => {
      await page.getByTestId("place").click();
      await page.getByRole("menu").waitFor();
    },
  },
  {
    name: "team-settings",
    path: "/settings",
    script: looking({ at: "t1" }),
    act: async (page: Page) => {
      await page.getByRole("button", { name: /^(Test|测试) 生产/ }).click();
      await page.getByTestId("team-tested").waitFor();
    },
  },
  {
    name: "team-none",
    path: "/settings",
    script: looking({ places: { ...PLACES, keeper: "file", rows: [] } }),
  },
  {
    name: "team-new",
    path: "/settings?team=new",
    script: looking({ places: { ...PLACES, rows: [] } }),
    act: async (page: Page) => {
      await page.getByLabel(/^(Name|名称)/).fill("生产");
      await page.getByLabel(/^(Nodes|节点)/).fill("http://127.0.0.1:4600/#token=3f0c");
    },
  },
  {
    name: "team-away",
    path: "/",
    restless: true,
    script: looking({ at: "t1", away: AWAY }),
    act: async (page: Page) => page.waitForTimeout(600),
  },
  {
    name: "team-first",
    path: "/",
    script: (script: Script) => {
      first(script);
      looking({ places: { ...PLACES, rows: [] } })(script);
    },
  },
];
