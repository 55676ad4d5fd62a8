// The first rows of a file, as they would become items.
import type { DataLook } from "@/api/types";
import { useWords } from "@/lib/words";
import { dataWords } from "./words";

export function Rows({ look }: { look: DataLook }) {
  const w = useWords(dataWords);
  const columns = look.columns.length > 0 ? look.columns : ["JSON"];
  const withLevel = look.levels > 1 || look.levelColumn !== null;
  return (
    <div
      className="max-h-64 overflow-auto rounded-md ring-1 ring-line ring-inset"
      tabIndex={0}
      role="region"
      aria-label={w.firstRows}
    >
      <table className="w-full border-collapse text-xs" data-testid="data-rows">
        <thead className="sticky top-0 bg-sunken text-left text-2xs text-ink-3">
          <tr>
            <th scope="col" className="px-2 py-1.5 text-right font-medium">
              {w.row}
            </th>
            {withLevel && (
              <th scope="col" className="px-2 py-1.5 text-right font-medium">
                {w.levelHead}
              </th>
            )}
            {columns.map((column, i) => (
              <th key={`${i}-${column}`} scope="col" className="whitespace-nowrap px-2 py-1.5 font-medium">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {look.firstRows.map((row) => (
            <tr key={row.row} className="border-line border-t">
              <td className="px-2 py-1 text-right text-ink-3">{row.row}</td>
              {withLevel && <td className="px-2 py-1 text-right">{row.level}</td>}
              {columns.map((column, i) => (
                <td
                  key={`${i}-${column}`}
                  className="max-w-60 truncate whitespace-nowrap px-2 py-1"
                  title={row.cells[i]}
                >
                  {row.cells[i]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
