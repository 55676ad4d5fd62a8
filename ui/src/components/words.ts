import { words } from "@/lib/words";

export const jobsFieldWords = words(
  {
    hint: "Type a part of a name",
    noJob: "No other job has this in its name",
    remove: (name: string) => `Remove ${name}`,
  },
  {
    hint: "输入名称的一部分",
    noJob: "没有其他名称匹配的任务",
    remove: (name: string) => `移除 ${name}`,
  },
);
