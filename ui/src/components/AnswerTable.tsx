// The rows of an answer as the body of a view, or the refusal in their place where there are none to show.
import type { UseQueryResult } from "@tanstack/react-query";
import { Table, type TableProps } from "@/primitives";
import { RefusalNotice } from "./Answer";

interface AnswerTableProps<Row> extends Omit<TableProps<Row>, "loading" | "className"> {
  of: Pick<UseQueryResult, "error" | "isError" | "isPending" | "refetch">;
}

export function AnswerTable<Row>({ of: query, ...table }: AnswerTableProps<Row>) {
  if (query.isError && table.rows.length === 0)
    return (
      <RefusalNotice className="px-5 py-1" error={query.error ?? new Error()} onAgain={() => void query.refetch()} />
    );
  return <Table {...table} className="h-full border-line border-t bg-surface" loading={query.isPending} />;
}
