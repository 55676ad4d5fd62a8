// What was typed is not lost by a slip: leaving a page with it unsaved is asked about, however one leaves.
//
//   const guard = useLeaveGuard(dirty);  …  guard.release();  // saved: going on is no leaving
//   <LeaveGuard of={guard} />
import { useBlocker } from "@tanstack/react-router";
import { useRef } from "react";
import { useWords, words } from "@/lib/words";
import { Ask } from "@/primitives";

const leaveWords = words(
  {
    title: "Leave without saving?",
    lead: "What you have changed here is not saved yet.",
    leave: "Leave without saving",
    stay: "Go on",
  },
  {
    title: "不保存就离开？",
    lead: "此处的更改尚未保存。",
    leave: "不保存并离开",
    stay: "继续编辑",
  },
);

/** Another search of the same page is no leaving. */
export function useLeaveGuard(dirty: boolean) {
  const released = useRef(false);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !released.current && current.pathname !== next.pathname,
    enableBeforeUnload: false,
    withResolver: true,
  });
  return {
    blocker,
    release: () => {
      released.current = true;
    },
  };
}

export function LeaveGuard({ of: { blocker } }: { of: ReturnType<typeof useLeaveGuard> }) {
  const w = useWords(leaveWords);
  const leave = () => blocker.proceed?.();
  return (
    <Ask
      open={blocker.status === "blocked"}
      onClose={() => blocker.reset?.()}
      title={w.title}
      lead={w.lead}
      no={w.stay}
      yes={w.leave}
      danger
      preferNo
      onYes={leave}
    />
  );
}
