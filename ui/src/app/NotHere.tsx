// An address that leads nowhere, kept inside the shell so that the way back is where it always is.
import { Link } from "@tanstack/react-router";
import { MapPinOff } from "lucide-react";
import { useWords } from "@/lib/words";
import { EmptyState } from "@/primitives";
import { shellWords } from "./words";

export function NotHere() {
  const w = useWords(shellWords);
  return (
    <EmptyState icon={<MapPinOff />} title={w.notHere} hint={w.notHereHint}>
      <Link to="/" className="text-accent-ink underline">
        {w.backToPulse}
      </Link>
    </EmptyState>
  );
}
