// Which part of a run that is cut into shards a task is: 'Level 1, shard 7', or the method that it calls.
import { useCallback } from "react";
import type { Part } from "@/api/types";
import { figure, useWords, words } from "@/lib/words";

/** As a processor calls them, in every language. */
export const METHODS = { preProcess: "pre_process", notify: "notify", postProcess: "post_process" } as const;

const partWords = words(
  {
    shard: (level: number, shard: number) => `Level ${figure(level)}, shard ${figure(shard)}`,
    again: (method: string, round: number) => `${method}, round ${round}`,
  },
  {
    shard: (level: number, shard: number) => `层级 ${figure(level)}，分片 ${figure(shard)}`,
    again: (method: string, round: number) => `${method}，第 ${round} 轮`,
  },
);

export function usePartName(): (part: Part) => string {
  const w = useWords(partWords);
  return useCallback(
    (part) => {
      if (part.is === "shard") return w.shard(part.level, part.index);
      if (part.is === "postProcess" && part.round > 1) return w.again(METHODS.postProcess, part.round);
      return METHODS[part.is];
    },
    [w],
  );
}
