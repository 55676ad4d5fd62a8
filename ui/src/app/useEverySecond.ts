import { useNow } from "@/lib/clock";

/** Draws again every second, for what shows an age by the window's own clock. */
export function useEverySecond() {
  useNow();
}
