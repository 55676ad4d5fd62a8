// Whether a part of the page is at least so wide: what it leaves out when narrow is its own to decide.
import { type RefObject, useLayoutEffect, useState } from "react";

export function useWider(box: RefObject<HTMLElement | null>, px: number): boolean {
  const [wider, setWider] = useState(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const measure = () => setWider(element.clientWidth >= px);
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    measure();
    return () => watcher.disconnect();
  }, [box, px]);
  return wider;
}
