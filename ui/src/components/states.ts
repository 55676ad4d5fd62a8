// The states of tasks and instances as the eye meets them: a shape, a number, a name, a tone. What may follow what is the
// node's to know; here is only how each looks.
import { words } from "@/lib/words";
import type { Tone } from "@/primitives";

export const TASK_CODES = [100, 101, 201, 202, 203, 301, 302, 303, 304, 401, 402, 403] as const;
export type TaskCode = (typeof TASK_CODES)[number];

export type Shape =
  | "circle"
  | "ring"
  | "arrow"
  | "arc"
  | "clock"
  | "check"
  | "cross"
  | "slash"
  | "chevrons"
  | "hourglass"
  | "hourglassArrow"
  | "broken"
  | "skip"
  | "missed";

interface Look {
  shape: Shape;
  tone: Tone;
}

export const taskLook: Record<TaskCode, Look> = {
  100: { shape: "circle", tone: "idle" },
  101: { shape: "ring", tone: "queued" },
  201: { shape: "arrow", tone: "queued" },
  202: { shape: "arc", tone: "running" },
  203: { shape: "clock", tone: "warn" },
  301: { shape: "check", tone: "ok" },
  302: { shape: "cross", tone: "bad" },
  303: { shape: "slash", tone: "stopped" },
  304: { shape: "chevrons", tone: "idle" },
  401: { shape: "hourglass", tone: "lost" },
  402: { shape: "hourglassArrow", tone: "lost" },
  403: { shape: "broken", tone: "bad" },
};

/** What became of a firing: an instance's state, or why there was none. */
export const INSTANCE_STATES = [
  "waiting",
  "running",
  "succeeded",
  "failed",
  "cancelled",
  "superseded",
  "skipped",
  "missed",
] as const;
export type InstanceState = (typeof INSTANCE_STATES)[number];

export const instanceLook: Record<InstanceState, Look> = {
  waiting: { shape: "circle", tone: "idle" },
  running: { shape: "arc", tone: "running" },
  succeeded: { shape: "check", tone: "ok" },
  failed: { shape: "cross", tone: "bad" },
  cancelled: { shape: "slash", tone: "stopped" },
  superseded: { shape: "chevrons", tone: "idle" },
  skipped: { shape: "skip", tone: "idle" },
  missed: { shape: "missed", tone: "lost" },
};

export function isTaskCode(code: number): code is TaskCode {
  return code in taskLook;
}

/** The node may spell a state with a capital; the look is the same. */
export function instanceState(state: string): InstanceState {
  const low = state.toLowerCase();
  return (INSTANCE_STATES as readonly string[]).includes(low) ? (low as InstanceState) : "waiting";
}

export const stateWords = words(
  {
    task: {
      100: "Waiting",
      101: "Ready",
      201: "Pushed",
      202: "Running",
      203: "Overrun",
      301: "Succeeded",
      302: "Failed",
      303: "Cancelled",
      304: "Superseded",
      401: "Ready timeout",
      402: "Push timeout",
      403: "Executor lost",
    },
    taskMeaning: {
      100: "waits for its turn: its time, a retry's delay, or the run before it",
      101: "waits to be pushed to an executor",
      201: "is at the executor, queued there",
      202: "is executing",
      203: "still executes past its timeout; the executor is alive",
      301: "ended well",
      302: "failed in this attempt",
      303: "was cancelled",
      304: "was no longer worth doing when its turn came",
      401: "no executor was there to take it",
      402: "was pushed and never started",
      403: "its executor died or went silent",
    },
    instance: {
      waiting: "Waiting",
      running: "Running",
      succeeded: "Succeeded",
      failed: "Failed",
      cancelled: "Cancelled",
      superseded: "Superseded",
      skipped: "Skipped",
      missed: "Missed",
    },
    severity: { info: "Info", warning: "Warning", critical: "Critical", emergency: "Emergency" },
    lane: { immediate: "Immediate", high: "High", retry: "Retry", normal: "Normal", low: "Low" },
  },
  {
    task: {
      100: "等待",
      101: "就绪",
      201: "已推送",
      202: "运行中",
      203: "超时运行",
      301: "成功",
      302: "失败",
      303: "已取消",
      304: "已失效",
      401: "就绪超时",
      402: "推送超时",
      403: "执行器失联",
    },
    taskMeaning: {
      100: "等待轮到自己：触发时间、重试延迟或前一次运行",
      101: "等待推送到执行器",
      201: "已在执行器上排队",
      202: "正在执行",
      203: "已超时但仍在执行，执行器存活",
      301: "正常结束",
      302: "本次尝试失败",
      303: "被取消",
      304: "轮到时已不再需要执行",
      401: "没有执行器可以接收",
      402: "已推送但始终没有开始",
      403: "执行器宕机或失去响应",
    },
    instance: {
      waiting: "等待",
      running: "运行中",
      succeeded: "成功",
      failed: "失败",
      cancelled: "已取消",
      superseded: "已失效",
      skipped: "已跳过",
      missed: "已错过",
    },
    severity: { info: "信息", warning: "警告", critical: "严重", emergency: "紧急" },
    lane: { immediate: "立即", high: "高", retry: "重试", normal: "普通", low: "低" },
  },
);
