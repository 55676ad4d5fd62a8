// What a new user is offered where nothing is scheduled yet.
import { Link, useNavigate } from "@tanstack/react-router";
import { ClipboardPaste, Plus, Sparkles } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "react-aria-components";
import { inDesktop } from "@/api/door";
import { useSampleJobs } from "@/api/jobs";
import { cx } from "@/lib/cx";
import { useWords } from "@/lib/words";
import { toast } from "@/primitives";
import { pulseWords } from "./words";

export function FirstRun() {
  const w = useWords(pulseWords).first;
  const navigate = useNavigate();
  const samples = useSampleJobs();
  return (
    <div className="flex min-h-full flex-col items-center justify-center px-6 py-8">
      <BellTower />
      <h2 className="mt-5 font-semibold text-xl tracking-tight">{w.title}</h2>
      <p className="mt-1 text-ink-2">{w.lead}</p>
      <div className="mt-6 grid w-full max-w-210 grid-cols-3 gap-3">
        <Offer
          first
          icon={<Sparkles />}
          title={w.samples}
          hint={w.samplesHint}
          busy={samples.isPending}
          onPress={() => samples.mutate(undefined, { onSuccess: (done) => toast({ text: w.made(done.jobs.length) }) })}
        />
        <Offer
          icon={<ClipboardPaste />}
          title={w.crontab}
          hint={w.crontabHint}
          onPress={() => void navigate({ to: "/jobs", search: { import: "crontab" } })}
        />
        <Offer
          icon={<Plus />}
          title={w.create}
          hint={w.createHint}
          onPress={() => void navigate({ to: "/jobs/new" })}
        />
      </div>
      {inDesktop && (
        <p className="mt-5 text-ink-2 text-xs">
          {w.team}{" "}
          <Link
            to="/settings"
            search={{ team: "new" }}
            className="rounded-sm text-accent-ink underline underline-offset-2 outline-none focus-visible:outline-2 focus-visible:outline-focus"
            data-testid="connect-team"
          >
            {w.connect}
          </Link>
        </p>
      )}
    </div>
  );
}

interface OfferProps {
  icon: ReactNode;
  title: string;
  hint: string;
  first?: boolean;
  busy?: boolean;
  onPress: () => void;
}

function Offer({ icon, title, hint, first = false, busy = false, onPress }: OfferProps) {
  return (
    <Button
      onPress={onPress}
      isDisabled={busy}
      className={cx(
        "panel flex min-h-36 flex-col items-start gap-1 p-4 text-left outline-none transition-colors duration-100",
        "hover:border-accent-ink hover:bg-hover focus-visible:outline-2 focus-visible:outline-focus disabled:opacity-60",
        first && "border-accent-ink/50",
      )}
    >
      <span className="mb-2 flex size-8 items-center justify-center rounded-md bg-accent-soft text-accent-ink [&_svg]:size-4.5">
        {icon}
      </span>
      <span className="font-medium text-md">{title}</span>
      <span className="text-ink-2 text-xs">{hint}</span>
    </Button>
  );
}

/** The tower at rest, with the hours about it. */
function BellTower() {
  return (
    <svg viewBox="0 0 120 120" width="112" height="112" aria-hidden="true">
      {Array.from({ length: 24 }, (_, i) => (
        <line
          key={i}
          x1="60"
          y1={i % 6 === 0 ? 4 : 7}
          x2="60"
          y2="12"
          stroke={i % 6 === 0 ? "var(--ink-3)" : "var(--line-strong)"}
          strokeWidth="1.5"
          strokeLinecap="round"
          transform={`rotate(${i * 15} 60 60)`}
        />
      ))}
      <path d="M60 26 88 47v6H32v-6z" fill="var(--bell)" />
      <path d="M38 57h6v34h-6zm38 0h6v34h-6z" fill="var(--bell-deep)" />
      <path
        d="M60 57c7 0 10.500 5.300 10.500 12.500 0 6 2.300 9 4.500 11.500H45c2.200-2.500 4.500-5.500 4.500-11.500C49.500 62.300 53 57 60 57z"
        fill="var(--bell)"
      />
      <circle cx="60" cy="85.500" r="4" fill="var(--bell)" />
      <path d="M30 93h60v5.500H30z" fill="var(--bell)" />
    </svg>
  );
}
