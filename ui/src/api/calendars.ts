// What is asked of working-day calendars, and what is done to them.
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { call } from "./door";
import type { WorkCalendar as Calendar, CalendarFile, FileKind } from "./types";

export const calendarsQuery = () =>
  queryOptions({
    queryKey: ["calendars"],
    queryFn: () => call("list_calendars", {}),
    meta: { topics: ["settings", "jobs"] },
  });

export const calendarQuery = (calendar: string, year: number | null) =>
  queryOptions({
    queryKey: ["calendars", "one", calendar, year],
    queryFn: () => call("get_calendar", { calendar, year }),
    meta: { topics: ["settings", "jobs"] },
    placeholderData: keepPreviousData,
  });

/** What a calendar would do to the days and to jobs' times, were it saved as it stands. */
export const effectQuery = (calendar: Calendar, seen_revision: number | null) =>
  queryOptions({
    queryKey: ["calendars", "effect", calendar],
    queryFn: () => call("calendar_effect", { calendar, seen_revision }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  });

export const readFileQuery = (file: CalendarFile) =>
  queryOptions({
    queryKey: ["calendars", "file", file],
    queryFn: () => call("read_calendar_file", file),
    placeholderData: keepPreviousData,
    enabled: file.text.trim() !== "",
    gcTime: 0,
  });

function useCalendarChange<T, R>(change: (input: T) => Promise<R>, quiet = false) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSettled: () =>
      Promise.all(["calendars", "calendar", "jobs"].map((topic) => client.invalidateQueries({ queryKey: [topic] }))),
    meta: { quiet },
  });
}

export const usePutCalendar = () =>
  useCalendarChange(
    (input: { calendar: Calendar; seen_revision: number | null }) => call("put_calendar", input),
    // The editor shows a refusal itself.
    true,
  );

export const useRemoveCalendar = () =>
  useCalendarChange((input: { calendar: string; seen_revision: number | null }) => call("remove_calendar", input));

export const useImportCalendar = () => useCalendarChange((file: CalendarFile) => call("import_calendar", file), true);

export const useExportCalendar = () =>
  useMutation({ mutationFn: (input: { calendar: string; kind: FileKind }) => call("export_calendar", input) });
