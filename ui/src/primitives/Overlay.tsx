// What comes over the page. `Dialog` asks something and everything else waits. `Drawer` shows the detail of a row beside
// the list and leaves the list alive: j and k go on moving, Esc closes. `Ask` is a dialog of one question: do it or not.
//
//   <Dialog open={open} onClose={close} title="…" footer={<><Button …/><Button variant="primary" …/></>}>…</Dialog>
//   <Ask open={open} onClose={close} title="…" lead="…" no="Cancel" yes="Remove" danger onYes={remove} />
//   <Drawer open onClose={close} title="…" label="…">…</Drawer>
import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { Heading, Modal, ModalOverlay, Dialog as RacDialog } from "react-aria-components";
import { cx } from "@/lib/cx";
import { useHotkey } from "@/lib/hotkeys";
import { useWords } from "@/lib/words";
import { Button, IconButton } from "./Button";
import { primitiveWords } from "./words";

interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** One sentence under the title. */
  lead?: ReactNode;
  footer?: ReactNode;
  width?: number;
  /** A dialog that asks about something that cannot be taken back. */
  role?: "dialog" | "alertdialog";
  children?: ReactNode;
}

export function Dialog({ open, onClose, title, lead, footer, width = 480, role = "dialog", children }: DialogProps) {
  const w = useWords(primitiveWords);
  return (
    <ModalOverlay
      isOpen={open}
      onOpenChange={(next) => !next && onClose()}
      isDismissable
      className="enter-veil fixed inset-0 z-40 flex items-start justify-center overflow-hidden bg-veil px-6 pt-[9vh] pb-6"
    >
      <Modal className="enter-sheet flex max-h-full w-full flex-col" style={{ maxWidth: width }}>
        <RacDialog
          role={role}
          data-overlay=""
          className="flex min-h-0 flex-col rounded-xl bg-surface shadow-sheet outline-none"
        >
          <header className="flex items-start gap-3 px-5 pt-4 pb-1">
            <div className="min-w-0 flex-1">
              <Heading slot="title" className="font-semibold text-lg">
                {title}
              </Heading>
              {lead && <p className="mt-0.5 text-ink-2">{lead}</p>}
            </div>
            <IconButton label={w.close} kbd="Escape" icon={<X />} onPress={onClose} className="-mt-1 -mr-2" />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 pt-2 pb-4">{children}</div>
          {footer && <footer className="flex justify-end gap-2 border-line border-t px-5 py-3">{footer}</footer>}
        </RacDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface AskProps extends Pick<DialogProps, "open" | "onClose" | "title" | "lead" | "children"> {
  no: string;
  yes: string;
  onYes: () => void;
  /** It destroys something. */
  danger?: boolean;
  /** Enter says no: the safe way is the likely one. */
  preferNo?: boolean;
}

export function Ask({ no, yes, onYes, danger = false, preferNo = false, onClose, ...rest }: AskProps) {
  const refuse = (
    <Button variant={preferNo ? "primary" : "plain"} autoFocus={preferNo} onPress={onClose}>
      {no}
    </Button>
  );
  const act = (
    <Button
      variant={danger ? "danger" : preferNo ? "plain" : "primary"}
      autoFocus={!preferNo}
      onPress={() => {
        onClose();
        onYes();
      }}
    >
      {yes}
    </Button>
  );
  return (
    <Dialog
      {...rest}
      onClose={onClose}
      role="alertdialog"
      width={440}
      footer={
        <>
          {preferNo ? act : refuse}
          {preferNo ? refuse : act}
        </>
      }
    />
  );
}

interface DrawerProps {
  open: boolean;
  onClose: () => void;
  /** What it shows, for those who hear the page. */
  label: string;
  title: ReactNode;
  actions?: ReactNode;
  width?: number;
  children?: ReactNode;
}

export function Drawer({ open, ...rest }: DrawerProps) {
  return open ? <OpenDrawer {...rest} /> : null;
}

function OpenDrawer({ onClose, label, title, actions, width = 460, children }: Omit<DrawerProps, "open">) {
  const w = useWords(primitiveWords);
  const box = useRef<HTMLElement>(null);
  const before = useRef<Element | null>(null);
  useHotkey("Escape", w.close, onClose, { group: w.closeGroup, palette: false });
  useEffect(() => {
    before.current = document.activeElement;
    return () => {
      // Focus returns to the list only when it was in here: whoever moved on by hand stays where they are.
      if (before.current instanceof HTMLElement && document.activeElement === document.body) before.current.focus();
    };
  }, []);
  return (
    <aside
      ref={box}
      aria-label={label}
      className="enter-drawer absolute inset-y-0 right-0 z-20 flex max-w-full flex-col border-line border-l bg-surface shadow-pop"
      style={{ width }}
    >
      <header className="flex min-h-12 items-center gap-2 border-line border-b py-2 pr-2 pl-4">
        <div className="min-w-0 flex-1 font-semibold text-md">{title}</div>
        {actions}
        <IconButton label={w.close} kbd="Escape" icon={<X />} onPress={onClose} />
      </header>
      <div className={cx("min-h-0 flex-1 overflow-y-auto")}>{children}</div>
    </aside>
  );
}
