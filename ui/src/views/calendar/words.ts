import { figure, plural, words } from "@/lib/words";
import { parts } from "./civil";

const DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const LONG_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const ZH_DAYS = ["一", "二", "三", "四", "五", "六", "日"];

const month = (date: string) => MONTHS[parts(date).month - 1] ?? "";
const lengthEn = (minutes: number) => {
  const h = Math.floor(minutes / 60);
  const m = minutes % 60;
  const d = Math.floor(h / 24);
  if (d > 0) return h % 24 === 0 ? `${d} d` : `${d} d ${h % 24} h`;
  return h === 0 ? `${m} min` : m === 0 ? `${h} h` : `${h} h ${m} min`;
};
const lengthZh = (minutes: number) => {
  const h = Math.floor(minutes / 60);
  const m = minutes % 60;
  const d = Math.floor(h / 24);
  if (d > 0) return h % 24 === 0 ? `${d} 天` : `${d} 天 ${h % 24} 小时`;
  return h === 0 ? `${m} 分钟` : m === 0 ? `${h} 小时` : `${h} 小时 ${m} 分钟`;
};

export const calendarWords = words(
  {
    title: "Calendar",
    group: "Calendar",
    modes: { day: "Day", week: "Week", agenda: "Agenda" },
    mode: "How much is shown",
    today: "Today",
    toToday: "Go to today",
    previousWeek: "Previous week",
    nextWeek: "Next week",
    previousDay: "Previous day",
    nextDay: "Next day",
    filter: "Filter by job, tag or tenant",
    clearFilter: "Clear the filter",
    taller: "Hours taller",
    flatter: "Hours flatter",
    weekday: (n: number) => DAYS[n - 1] ?? "",
    longWeekday: (n: number) => LONG_DAYS[n - 1] ?? "",
    dayOf: (date: string) => `${parts(date).day} ${month(date)}`,
    range: (from: string, to: string) => {
      const a = parts(from);
      const b = parts(to);
      if (from === to) return `${a.day} ${month(from)} ${a.year}`;
      if (a.year !== b.year) return `${a.day} ${month(from)} ${a.year} – ${b.day} ${month(to)} ${b.year}`;
      return a.month === b.month
        ? `${a.day} – ${b.day} ${month(from)} ${a.year}`
        : `${a.day} ${month(from)} – ${b.day} ${month(to)} ${a.year}`;
    },
    when: (weekday: number, date: string, time: string) =>
      `${DAYS[weekday - 1] ?? ""} ${parts(date).day} ${month(date)}, ${time}`,
    firings: (n: number) => plural(n, "firing"),
    unlisted: (n: number) => `${figure(n)} of them are too many to be drawn, and counted below`,
    failed: (n: number) => `${figure(n)} failed`,
    allWell: "none failed",
    loadHint: (from: string, to: string, n: number) => `${from} – ${to}: ${plural(n, "firing")}`,
    perDay: (n: number) => `${figure(n)} times`,
    wholeDay: "all day",
    moreBands: (n: number) => `${n} more`,
    fewerBands: "Show fewer",
    frequent: "Often",
    frequentHint: "Jobs too frequent to be drawn one by one",
    more: (n: number) => `+${figure(n)}`,
    moreHint: (n: number, time: string) => `${plural(n, "more firing")} from ${time}`,
    createAt: (when: string) => `Create a job at ${when}`,
    empty: "Nothing fires in these days",
    emptyHint: "Click a time to create a job there.",
    emptyFilter: "Nothing here matches the filter",
    emptyPast: "Nothing fired in these days.",
    entry: (name: string, when: string) => `${name}, ${when}`,
    moved: "Moved by hand or by a policy",
    keys: {
      up: "Earlier firing",
      down: "Later firing",
      left: "Nearest on a day before",
      right: "Nearest on a day after",
      open: "Open the firing",
      move: "Move the firing by keys",
      find: "Filter",
    },
    pop: {
      label: "Firing",
      due: "Due",
      planned: "Planned for",
      state: "State",
      schedule: "Schedule",
      openRun: "Open the run",
      openJob: "Open the job",
      allRuns: "Its runs",
      runNow: "Run now",
      pause: "Pause",
      resume: "Resume",
      move: "Move…",
      moveHint: "Arrow keys move it, Enter drops it",
      back: "All of them",
      ran: (name: string) => `${name} was asked to run`,
      seeRun: "See it",
      paused: (name: string) => `${name} is paused`,
      resumed: (name: string) => `${name} goes on`,
      notYet: "To come",
      gone: "The job has been removed",
    },
    drag: {
      same: "Back where it was",
      later: (minutes: number) => `${lengthEn(minutes)} later`,
      earlier: (minutes: number) => `${lengthEn(minutes)} earlier`,
      afterLast: (minutes: number) => `${lengthEn(minutes)} after the run before`,
      beforeNext: (minutes: number) => `${lengthEn(minutes)} before the next`,
      inPast: "That time has passed",
      keys: "Arrows move, Enter drops, Esc leaves it",
      cannot: "It cannot be moved",
    },
    ask: {
      title: (name: string) => `Move ${name}`,
      from: "From",
      to: "to",
      scope: "What is moved",
      scopes: { thisRun: "This run", following: "This and following", all: "All runs" },
      scopeHints: {
        thisRun: "One exception; the schedule stays as it is",
        following: "A new schedule from this run on",
        all: "The schedule itself is rewritten",
      },
      words: "The schedule, as it will read",
      wordsSame: "The schedule stays as it is; this one run is moved.",
      before: "Next runs now",
      after: "Next runs then",
      none: "none",
      noneAllowed: "This run cannot be moved there",
      collisions: (n: number) =>
        n === 1 ? "Another job is due within a minute" : `${figure(n)} other jobs are due within a minute`,
      save: "Save",
      cancel: "Leave it",
      choosing: "Reading what it would do",
      saved: (name: string) => `${name} was moved`,
      savedAt: (scope: string, when: string) => `${scope}: now ${when}`,
      undone: (name: string) => `${name} is back where it was`,
    },
    agenda: {
      nothing: "Nothing fires",
      band: (n: number, from: string, to: string) => `${figure(n)} times between ${from} and ${to}`,
    },
    origins: {
      schedule: "by its schedule",
      added: "added by hand",
      manual: "run by hand",
      api: "by a call",
      backfill: "backfill",
      after: "after other jobs",
    },
  },
  {
    title: "日历",
    group: "日历",
    modes: { day: "日", week: "周", agenda: "列表" },
    mode: "显示范围",
    today: "今天",
    toToday: "回到今天",
    previousWeek: "上一周",
    nextWeek: "下一周",
    previousDay: "前一天",
    nextDay: "后一天",
    filter: "按任务、标签或租户筛选",
    clearFilter: "清除筛选",
    taller: "放大小时行",
    flatter: "缩小小时行",
    weekday: (n: number) => `周${ZH_DAYS[n - 1] ?? ""}`,
    longWeekday: (n: number) => `星期${ZH_DAYS[n - 1] ?? ""}`,
    dayOf: (date: string) => `${parts(date).month}月${parts(date).day}日`,
    range: (from: string, to: string) => {
      const a = parts(from);
      const b = parts(to);
      if (from === to) return `${a.year}年${a.month}月${a.day}日`;
      if (a.year !== b.year) return `${a.year}年${a.month}月${a.day}日 – ${b.year}年${b.month}月${b.day}日`;
      return a.month === b.month
        ? `${a.year}年${a.month}月${a.day}日 – ${b.day}日`
        : `${a.year}年${a.month}月${a.day}日 – ${b.month}月${b.day}日`;
    },
    when: (weekday: number, date: string, time: string) =>
      `${parts(date).month}月${parts(date).day}日 周${ZH_DAYS[weekday - 1] ?? ""} ${time}`,
    firings: (n: number) => `${figure(n)} 次触发`,
    unlisted: (n: number) => `其中 ${figure(n)} 次太多，无法逐一画出，已计入下方统计`,
    failed: (n: number) => `${figure(n)} 次失败`,
    allWell: "无失败",
    loadHint: (from: string, to: string, n: number) => `${from} – ${to}：${figure(n)} 次触发`,
    perDay: (n: number) => `${figure(n)} 次`,
    wholeDay: "全天",
    moreBands: (n: number) => `还有 ${n} 个`,
    fewerBands: "收起",
    frequent: "高频",
    frequentHint: "触发过于频繁、不逐一绘出的任务",
    more: (n: number) => `+${figure(n)}`,
    moreHint: (n: number, time: string) => `${time} 起还有 ${figure(n)} 次触发`,
    createAt: (when: string) => `在 ${when} 创建任务`,
    empty: "这些天没有触发",
    emptyHint: "点击某个时间即可在那里创建任务。",
    emptyFilter: "没有符合筛选条件的触发",
    emptyPast: "这些天没有触发过任何任务。",
    entry: (name: string, when: string) => `${name}，${when}`,
    moved: "由人工或策略移动",
    keys: {
      up: "较早的触发",
      down: "较晚的触发",
      left: "之前日期中最近的触发",
      right: "之后日期中最近的触发",
      open: "打开该触发",
      move: "用按键移动该触发",
      find: "筛选",
    },
    pop: {
      label: "触发",
      due: "应触发",
      planned: "原计划",
      state: "状态",
      schedule: "调度",
      openRun: "打开运行",
      openJob: "打开任务",
      allRuns: "全部运行",
      runNow: "立即运行",
      pause: "暂停",
      resume: "恢复",
      move: "移动…",
      moveHint: "方向键移动，回车放下",
      back: "返回列表",
      ran: (name: string) => `已请求运行 ${name}`,
      seeRun: "查看",
      paused: (name: string) => `${name} 已暂停`,
      resumed: (name: string) => `${name} 已恢复`,
      notYet: "尚未触发",
      gone: "任务已被删除",
    },
    drag: {
      same: "原来的位置",
      later: (minutes: number) => `推迟 ${lengthZh(minutes)}`,
      earlier: (minutes: number) => `提前 ${lengthZh(minutes)}`,
      afterLast: (minutes: number) => `距上一次 ${lengthZh(minutes)}`,
      beforeNext: (minutes: number) => `距下一次 ${lengthZh(minutes)}`,
      inPast: "该时间已过去",
      keys: "方向键移动，回车放下，Esc 取消",
      cannot: "无法移动",
    },
    ask: {
      title: (name: string) => `移动 ${name}`,
      from: "从",
      to: "到",
      scope: "移动范围",
      scopes: { thisRun: "仅这一次", following: "这一次及以后", all: "全部" },
      scopeHints: {
        thisRun: "仅一次例外，调度保持不变",
        following: "从这一次起使用新的调度",
        all: "改写调度本身",
      },
      words: "改写后的调度",
      wordsSame: "调度保持不变，仅移动这一次。",
      before: "当前的后续运行",
      after: "改动后的后续运行",
      none: "无",
      noneAllowed: "这次运行不能移动到那里",
      collisions: (n: number) => `一分钟内另有 ${figure(n)} 个任务到期`,
      save: "保存",
      cancel: "不移动",
      choosing: "正在读取影响",
      saved: (name: string) => `已移动 ${name}`,
      savedAt: (scope: string, when: string) => `${scope}：现为 ${when}`,
      undone: (name: string) => `${name} 已恢复原位`,
    },
    agenda: {
      nothing: "没有触发",
      band: (n: number, from: string, to: string) => `${from} 至 ${to} 共 ${figure(n)} 次`,
    },
    origins: {
      schedule: "按调度",
      added: "人工添加",
      manual: "人工运行",
      api: "由接口触发",
      backfill: "补跑",
      after: "其他任务之后",
    },
  },
);
