import { words } from "@/lib/words";

export const retentionWords = words(
  {
    title: "What is kept",
    note: "Older things are let go of in small steps. The audit log is kept for ever.",
    fields: {
      instanceDays: { label: "Runs", hint: "after their end, with their tasks and history", unit: "days" },
      instancesPerJob: { label: "Runs of one job", hint: "beyond these the oldest go", unit: "runs" },
      logDays: { label: "Logs", hint: "after they were last written", unit: "days" },
      logGigabytes: { label: "All logs together", hint: "beyond this the oldest go", unit: "GB" },
      alarmDays: { label: "Alarms", hint: "after they were resolved", unit: "days" },
    },
    save: "Save",
    saved: "From now on this is kept",
    discard: "Discard",
    incomplete: "Every figure is needed",
  },
  {
    title: "保留期限",
    note: "更早的内容会分小批清理。审计日志永久保留。",
    fields: {
      instanceDays: { label: "运行", hint: "结束之后，连同其作业与历史", unit: "天" },
      instancesPerJob: { label: "单个任务的运行", hint: "超出时清理最早的", unit: "次" },
      logDays: { label: "日志", hint: "自最后一次写入起", unit: "天" },
      logGigabytes: { label: "日志总量", hint: "超出时清理最早的", unit: "GB" },
      alarmDays: { label: "告警", hint: "自解除起", unit: "天" },
    },
    save: "保存",
    saved: "新的保留期限已生效",
    discard: "放弃修改",
    incomplete: "每一项都需要填写",
  },
);
