// Which rows of a long list are on the screen. Rows have one height, so this is arithmetic and nothing is measured:
// a hundred thousand rows scroll as ten do.
import { type RefObject, useCallback, useLayoutEffect, useState } from "react";

export interface Slice {
  first: number;
  /** One past the last. */
  end: number;
}

export function sliceOf(scrollTop: number, height: number, row: number, count: number, spare = 8): Slice {
  const first = Math.max(0, Math.floor(scrollTop / row) - spare);
  const end = Math.min(count, Math.ceil((scrollTop + height) / row) + spare);
  return { first: Math.min(first, end), end };
}

export function useSlice(box: RefObject<HTMLElement | null>, count: number, row: number) {
  const [slice, setSlice] = useState<Slice>({ first: 0, end: Math.min(count, 40) });
  const [width, setWidth] = useState(0);

  const measure = useCallback(() => {
    const element = box.current;
    if (!element) return;
    setWidth(element.clientWidth);
    const next = sliceOf(element.scrollTop, element.clientHeight, row, count);
    setSlice((old) => (old.first === next.first && old.end === next.end ? old : next));
  }, [box, count, row]);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      watcher.disconnect();
    };
  }, [box, measure]);

  const reveal = useCallback(
    (index: number, above = 0) => {
      const element = box.current;
      if (!element) return;
      const top = index * row;
      if (top < element.scrollTop) element.scrollTop = top;
      else if (top + row + above > element.scrollTop + element.clientHeight)
        element.scrollTop = top + row + above - element.clientHeight;
    },
    [box, row],
  );

  return { slice, reveal, width };
}
