import { words } from "@/lib/words";

export const teamWords = words(
  {
    menu: "Where to look",
    here: "This machine",
    connect: "Connect to a team…",
    manage: "Teams in the settings…",
    by: (node: string) => `through ${node}`,
    trying: (node: string) => `Not connected · trying ${node}`,
    tryingFor: (node: string, age: string) => `Not connected · data is ${age} old · trying ${node}`,
    reads: "Read from the database",
    readsHint:
      "Everything is read from the team's database once a second. Live events, logs, uploads and reports are away; what you ask waits for a node for ten seconds. It goes back to a node by itself.",
    now: (name: string) => `You look at ${name} now`,
    team: (name: string) => `Team ${name}`,
  },
  {
    menu: "选择查看位置",
    here: "本机",
    connect: "连接到团队…",
    manage: "管理团队…",
    by: (node: string) => `经由 ${node}`,
    trying: (node: string) => `未连接 · 正在尝试 ${node}`,
    tryingFor: (node: string, age: string) => `未连接 · 数据为 ${age} 前 · 正在尝试 ${node}`,
    reads: "读取自数据库",
    readsHint:
      "当前每秒从团队数据库读取一次。实时事件、日志、上传和报告暂不可用；提交的操作最多等待节点十秒。节点恢复后会自动切回。",
    now: (name: string) => `当前查看 ${name}`,
    team: (name: string) => `团队 ${name}`,
  },
);
