// What cells are painted on: a canvas whose painter lives in a worker, so that the page's frames have nothing to do with it;
// where the window cannot do that, the same painter on the page, once for each of its frames.
import { CODES } from "@/api/shardCells";
import { type TaskCode, taskLook } from "@/components/states";
import { type Colours, type News, Painter } from "./paint";

export interface Surface {
  say: (news: News) => void;
  close: () => void;
}

/** On a new canvas, first in the box. `whole`: all that there is to say, for a painter that begins. */
export function surfaceIn(box: HTMLElement, whole: () => News): Surface {
  let surface = canPaintElsewhere() ? elsewhere(box, instead) : onPage(box);
  surface.say(whole());
  /** The worker does not come up: a canvas that was given away does not come back, so it is another one. */
  function instead() {
    surface.close();
    surface = onPage(box);
    surface.say(whole());
  }
  return { say: (news) => surface.say(news), close: () => surface.close() };
}

function canvasIn(box: HTMLElement): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.className = "absolute inset-0 size-full";
  box.prepend(canvas);
  return canvas;
}

/** A window may know workers and no canvas in them. */
function canPaintElsewhere(): boolean {
  if (typeof Worker === "undefined" || typeof OffscreenCanvas === "undefined") return false;
  if (!("transferControlToOffscreen" in HTMLCanvasElement.prototype)) return false;
  return new OffscreenCanvas(1, 1).getContext("2d") !== null;
}

function elsewhere(box: HTMLElement, failed: () => void): Surface {
  const canvas = canvasIn(box);
  const worker = new Worker(new URL("./paint.worker.ts", import.meta.url), { type: "module" });
  const given = canvas.transferControlToOffscreen();
  worker.onerror = failed;
  worker.postMessage(given, [given]);
  return {
    say: (news) => {
      const moved = [news.all?.buffer, news.some?.cells.buffer, news.some?.looks.buffer];
      worker.postMessage(
        news,
        moved.filter((each) => each !== undefined),
      );
    },
    close: () => {
      worker.terminate();
      canvas.remove();
    },
  };
}

function onPage(box: HTMLElement): Surface {
  const canvas = canvasIn(box);
  const painter = new Painter(canvas);
  let frame = 0;
  return {
    say: (news) => {
      painter.take(news);
      if (frame !== 0) return;
      frame = requestAnimationFrame(() => {
        frame = 0;
        painter.paint();
      });
    },
    close: () => {
      cancelAnimationFrame(frame);
      canvas.remove();
    },
  };
}

export function readColours(of: Element): Colours {
  const canvas = document.createElement("canvas");
  canvas.width = 1;
  canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const style = getComputedStyle(of);
  const read = (name: string) => {
    if (!context) return 0;
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = style.getPropertyValue(name).trim();
    context.fillRect(0, 0, 1, 1);
    return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0] ?? 0;
  };
  const tones = CODES.map((code) => (code === 0 ? "idle" : taskLook[code as TaskCode].tone));
  return {
    ground: read("--surface"),
    line: read("--line-strong"),
    mark: read("--accent-ink"),
    tone: tones.map((tone) => read(`--${tone}`)),
    soft: tones.map((tone) => read(`--${tone}-soft`)),
  };
}
