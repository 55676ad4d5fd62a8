// Saves what became of every item, as a file for a spreadsheet. The desktop writes it while one looks on and can be stopped.
import { FileDown } from "lucide-react";
import { useState } from "react";
import { sayRefusal } from "@/api/client";
import { inDesktop } from "@/api/door";
import { type ReportFormat, saveReport, stopSaving } from "@/api/downloads";
import type { InstanceRow } from "@/api/types";
import { useNeedsNode } from "@/components/useNeedsNode";
import { useWords } from "@/lib/words";
import { Button, Menu, toast } from "@/primitives";
import { shardsWords } from "./words";

export function SaveReport({ row }: { row: InstanceRow }) {
  const w = useWords(shardsWords);
  const [saving, setSaving] = useState(false);
  const why = useNeedsNode();
  const save = async (format: ReportFormat) => {
    setSaving(inDesktop);
    try {
      const day = row.due.text.slice(0, 10);
      const saved = await saveReport({ instance: row.id, format, name: `${row.job_name}-${day}.${format}` });
      if (saved && inDesktop) toast({ text: w.reportSaved });
    } catch (error) {
      sayRefusal(error);
    } finally {
      setSaving(false);
    }
  };
  if (saving)
    return (
      <Button size="sm" icon={<FileDown />} onPress={stopSaving}>
        {w.stopReport}
      </Button>
    );
  return (
    <Menu
      label={w.report}
      items={[
        { id: "xlsx", label: w.reportAs.xlsx, why, run: () => void save("xlsx") },
        { id: "csv", label: w.reportAs.csv, why, run: () => void save("csv") },
      ]}
    >
      <Button size="sm" icon={<FileDown />} data-testid="save-report">
        {w.report}
      </Button>
    </Menu>
  );
}
