// Said once, when the window is closed for the first time: the engine goes on; and what quitting would mean instead.
import { useEffect, useState } from "react";
import { keepRunning, onClosing, quit } from "@/api/desktop";
import { useSetSetting } from "@/api/node";
import { useWords, words } from "@/lib/words";
import { Button, Dialog } from "@/primitives";

/** The setting that remembers that it was said. */
const TOLD = "closingTold";

const closingWords = words(
  {
    title: "Closing the window stops nothing",
    lead: "The engine goes on in the tray, and jobs run at their times. The tray's icon, or starting Campanile again, brings the window back.",
    quitting:
      "Quitting ends the engine as well: nothing fires until Campanile is started again, and what runs now is stopped and goes on by its retry policy.",
    quit: "Quit",
    keep: "Close the window",
  },
  {
    title: "关闭窗口不会停止任何任务",
    lead: "引擎会在托盘中继续运行，任务照常按时执行。点击托盘图标，或再次启动 Campanile，即可重新打开窗口。",
    quitting: "退出则会同时停止引擎：在再次启动之前不会触发任何任务，正在运行的作业会被终止，并按重试策略继续。",
    quit: "退出",
    keep: "关闭窗口",
  },
);

export function Closing({ told }: { told: boolean }) {
  const w = useWords(closingWords);
  const [open, setOpen] = useState(false);
  const save = useSetSetting();

  useEffect(() => onClosing(() => (told ? void keepRunning() : setOpen(true))), [told]);

  const keep = () => {
    setOpen(false);
    save.mutate({ key: TOLD, value: true });
    void keepRunning();
  };
  return (
    <Dialog
      open={open}
      onClose={() => setOpen(false)}
      title={w.title}
      lead={w.lead}
      footer={
        <>
          <Button onPress={() => void quit()}>{w.quit}</Button>
          <Button variant="primary" autoFocus onPress={keep}>
            {w.keep}
          </Button>
        </>
      }
    >
      <p className="mt-2 text-ink-2">{w.quitting}</p>
    </Dialog>
  );
}
