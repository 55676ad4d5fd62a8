// What is asked about jobs, and what is done to them.
import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useMutation,
  useQueryClient,
} from "@tanstack/react-query";
import { call } from "./door";
import type { JobDetail, JobPage, JobRow, JobSpec, ListJobs } from "./types";

/** The first few jobs whose name, tag or tenant has this; for the palette. */
export const findJobsQuery = (text: string) =>
  queryOptions({
    queryKey: ["jobs", "find", text],
    queryFn: () => call("list_jobs", { text, limit: 8 }),
    placeholderData: keepPreviousData,
  });

export const jobsQuery = (filter: Pick<ListJobs, "text" | "paused" | "tag">) =>
  infiniteQueryOptions({
    queryKey: ["jobs", "list", filter],
    queryFn: ({ pageParam }) => call("list_jobs", { ...filter, cursor: pageParam, limit: 200 }),
    initialPageParam: null as number | null,
    getNextPageParam: (last) => last.next,
    meta: { topics: ["instances"], paceMs: 500 },
    placeholderData: keepPreviousData,
  });

export const jobQuery = (job: string) =>
  queryOptions({
    queryKey: ["jobs", "one", job],
    queryFn: () => call("get_job", { job }),
    meta: { topics: ["instances"], paceMs: 500 },
  });

/** The next runs of a job as a document has it, from now on. */
export const previewQuery = (spec: JobSpec) =>
  queryOptions({
    queryKey: ["preview", spec],
    queryFn: () => call("preview", { spec, count: 20 }),
    staleTime: 60_000,
  });

/** What two versions differ in, in words and in the order of a job's fields. */
export const compareQuery = (ask: { job: string; from: number; to: number }) =>
  queryOptions({
    queryKey: ["jobs", "compare", ask],
    queryFn: () => call("compare_versions", ask),
    placeholderData: keepPreviousData,
    retry: false,
  });

function useJobsChange<T, R>(change: (input: T) => Promise<R>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () => client.invalidateQueries({ queryKey: ["jobs"] }),
  });
}

export const useRunJobs = () =>
  useMutation({ mutationFn: (jobs: string[]) => call("run_jobs", { jobs, parameters: null, beside: false }) });

/** Pauses or resumes; the list shows it at once, and what the node says a moment later has the last word. */
function usePaused(paused: boolean) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (jobs: string[]) => call(paused ? "pause_jobs" : "resume_jobs", { jobs }),
    onMutate: (jobs) => {
      const mark = (row: JobRow) => (jobs.includes(row.id) ? { ...row, paused } : row);
      client.setQueriesData<InfiniteData<JobPage>>(
        { queryKey: ["jobs", "list"] },
        (old) => old && { ...old, pages: old.pages.map((page) => ({ ...page, rows: page.rows.map(mark) })) },
      );
      client.setQueriesData<JobDetail>({ queryKey: ["jobs", "one"] }, (old) => old && { ...old, row: mark(old.row) });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["jobs"] }),
  });
}

export const usePauseJobs = () => usePaused(true);

export const useResumeJobs = () => usePaused(false);

/** Removes the jobs and hands back the document that would make them again, so that it can be undone. */
export function useRemoveJobs() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (jobs: string[]) => {
      const { text } = await call("export_jobs", { jobs });
      await call("remove_jobs", { jobs });
      return text;
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["jobs"] }),
  });
}

export function useSaveJob() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (input: { spec: unknown; job: string | null; seen_version: number | null }) => call("save_job", input),
    onSettled: () => client.invalidateQueries({ queryKey: ["jobs"] }),
    // The form shows what is wrong beside the field that is to blame.
    meta: { quiet: true },
  });
}

export const useRestoreVersion = () =>
  useJobsChange((input: { job: string; version: number; seen_version: number | null }) =>
    call("restore_version", input),
  );

export function useSampleJobs() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call("sample_jobs", {}),
    onSettled: () => client.invalidateQueries(),
  });
}

export const useExportJobs = () => useMutation({ mutationFn: (jobs: string[]) => call("export_jobs", { jobs }) });

export const readCrontabQuery = (text: string, zone: string | null) =>
  queryOptions({
    queryKey: ["crontab", text, zone],
    queryFn: () => call("read_crontab", { text, zone, lines: null }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    enabled: text.trim() !== "",
  });

export const useImportCrontab = () =>
  useJobsChange((input: { text: string; zone: string | null; lines: number[] | null }) =>
    call("import_crontab", input),
  );

export const tryApplyQuery = (text: string) =>
  queryOptions({
    queryKey: ["apply", text],
    queryFn: () => call("apply_jobs", { text, dry_run: true }),
    placeholderData: keepPreviousData,
    retry: false,
    enabled: text.trim() !== "",
  });

export const useApplyJobs = () => useJobsChange((text: string) => call("apply_jobs", { text, dry_run: false }));
