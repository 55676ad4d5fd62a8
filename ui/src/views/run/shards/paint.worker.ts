// The painter in a worker: takes the canvas first, then what has changed, and paints once for each frame of its own.
import { type News, Painter } from "./paint";

/** Of a worker TypeScript knows too little here: its own library and that of a page exclude one another. */
interface Scope {
  onmessage: ((event: MessageEvent<OffscreenCanvas | News>) => void) | null;
  requestAnimationFrame?: (draw: () => void) => number;
  setTimeout: (draw: () => void, ms: number) => number;
}
const scope = globalThis as unknown as Scope;

const FRAME_MS = 16;
let painter: Painter | undefined;
let asked = false;

scope.onmessage = ({ data }) => {
  if (data instanceof OffscreenCanvas) {
    painter = new Painter(data);
    return;
  }
  painter?.take(data);
  if (asked) return;
  asked = true;
  const draw = () => {
    asked = false;
    painter?.paint();
  };
  if (scope.requestAnimationFrame) scope.requestAnimationFrame(draw);
  else scope.setTimeout(draw, FRAME_MS);
};
