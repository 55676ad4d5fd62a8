// The answer to a question, or what stands in its place: the outline of it while it is first asked, the refusal with its
// code and a way to ask again when there is none. An answer that is known stays on the page while a newer one is fetched.
//
//   <Answer of={query} skeleton={<SkeletonRows />}>{(jobs) => …}</Answer>
import type { UseQueryResult } from "@tanstack/react-query";
import { CircleAlert, RefreshCw } from "lucide-react";
import type { ReactNode } from "react";
import { Refusal } from "@/api/door";
import { useSaid, useWords, words } from "@/lib/words";
import { Button, Notice } from "@/primitives";

const answerWords = words(
  { again: "Ask again", failed: "This could not be read" },
  { again: "重试", failed: "无法读取" },
);

interface AnswerProps<T> {
  of: UseQueryResult<T>;
  skeleton: ReactNode;
  children: (data: T) => ReactNode;
}

export function Answer<T>({ of: query, skeleton, children }: AnswerProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <RefusalNotice error={query.error} onAgain={() => void query.refetch()} />;
  return skeleton;
}

interface RefusalProps {
  error: Error;
  onAgain?: () => void;
  /** How far it stands from what is around it. */
  className?: string;
}

export function RefusalNotice({ error, onAgain, className = "p-4" }: RefusalProps) {
  const w = useWords(answerWords);
  const said = useSaid();
  const refusal = error instanceof Refusal ? error : null;
  return (
    <div className={className}>
      <Notice
        tone="bad"
        icon={<CircleAlert />}
        title={refusal ? said(refusal.said) : w.failed}
        actions={
          onAgain && (
            <Button size="sm" icon={<RefreshCw />} onPress={onAgain}>
              {w.again}
            </Button>
          )
        }
      >
        {refusal?.hint ? said(refusal.hint) : refusal ? null : error.message}
        {refusal?.code && <code className="mt-0.5 block select-text text-2xs text-ink-3">{refusal.code}</code>}
      </Notice>
    </div>
  );
}
