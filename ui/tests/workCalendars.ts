// What the scripted node says of working-day calendars: the list, a year of one, and what a change does to times.
import { moment } from "./fixture";

const MIN = 60_000;
const DAY = 1_440 * MIN;
const yes = { ok: true, why: null };
const no = (en: string, zh: string) => ({ ok: false, why: { en, zh } });

const off = (date: string, en: string, zh: string) => ({ date, kind: "off", name: { en, zh } });
const work = (date: string, en: string, zh: string) => ({ date, kind: "work", name: { en, zh } });
const stretch = (first: string, days: number, en: string, zh: string) =>
  Array.from({ length: days }, (_, i) =>
    off(new Date(Date.parse(`${first}T00:00:00Z`) + i * DAY).toISOString().slice(0, 10), en, zh),
  );
const HOLIDAYS = [
  ...stretch("2026-01-01", 3, "New Year", "元旦"),
  work("2026-01-04", "New Year", "元旦"),
  work("2026-02-14", "Spring Festival", "春节"),
  ...stretch("2026-02-15", 9, "Spring Festival", "春节"),
  work("2026-02-28", "Spring Festival", "春节"),
  ...stretch("2026-04-04", 3, "Qingming Festival", "清明节"),
  ...stretch("2026-05-01", 5, "Labour Day", "劳动节"),
  work("2026-05-09", "Labour Day", "劳动节"),
  ...stretch("2026-06-19", 3, "Dragon Boat Festival", "端午节"),
  work("2026-09-20", "National Day", "国庆节"),
  ...stretch("2026-09-25", 3, "Mid-Autumn Festival", "中秋节"),
  ...stretch("2026-10-01", 7, "National Day", "国庆节"),
  work("2026-10-10", "National Day", "国庆节"),
  work("2026-11-28", "Stocktaking", "年终盘点"),
  off("2026-11-24", "Company day", "公司纪念日"),
];

function calendarRow(name: string, en: string, zh: string, more: Record<string, unknown>) {
  return {
    name,
    title: { en, zh },
    built_in: true,
    carried: true,
    base: null,
    revision: 0,
    saved_at: null,
    saved_by: null,
    week: [1, 2, 3, 4, 5],
    uncovered: "weekly",
    years: [],
    data_ends: null,
    ends_soon: false,
    jobs: 0,
    version: `${name}:1`,
    can_edit: yes,
    can_remove: no("It comes with the program", "它由程序自带"),
    ...more,
  };
}

export const CALENDARS = [
  calendarRow("cn", "China", "中国", {
    years: Array.from({ length: 23 }, (_, i) => 2004 + i),
    data_ends: "2026-12-31",
    ends_soon: true,
    jobs: 12,
  }),
  calendarRow("shop", "The shop", "门店", {
    built_in: false,
    carried: false,
    base: "cn",
    revision: 3,
    jobs: 2,
    can_remove: yes,
  }),
  calendarRow("weekdays", "Monday to Friday", "周一至周五", {}),
];

export function workCalendar(input: { calendar: string; year?: number | null }) {
  const year = input.year ?? 2026;
  const row = CALENDARS.find((each) => each.name === input.calendar) ?? CALENDARS[0];
  const days = [];
  for (let at = Date.UTC(year, 0, 1); at < Date.UTC(year + 1, 0, 1); at += DAY) {
    const date = new Date(at).toISOString().slice(0, 10);
    const weekday = ((new Date(at).getUTCDay() + 6) % 7) + 1;
    const mark = HOLIDAYS.find((each) => each.date === date);
    days.push({
      date,
      weekday,
      works: mark ? mark.kind === "work" : weekday < 6,
      why: mark?.name ?? { en: "by the week", zh: "按每周规律" },
      mark: mark
        ? {
            kind: mark.kind,
            name: mark.name,
            calendar: date.startsWith("2026-11") ? "shop" : "cn",
            layer: date.startsWith("2026-11") ? "company" : "country",
          }
        : null,
    });
  }
  return {
    row,
    document: {
      apiVersion: "campanile/v1",
      name: row?.name,
      base: row?.base ?? undefined,
      layers: [{ name: "company", days: HOLIDAYS.filter((each) => each.date.startsWith("2026-11")) }],
      revision: row?.revision,
    },
    year: { year, covered: year <= 2026, working_days: days.filter((day) => day.works).length, days },
    jobs: ["nightly-report", "workday-reminder"],
  };
}

export function timesChange(now: number) {
  return [
    {
      job: "job-3",
      name: "workday-reminder",
      changes: [
        { planned: moment(now + 3 * DAY), before: moment(now + 3 * DAY), after: moment(now + 4 * DAY) },
        { planned: moment(now + 33 * DAY), before: moment(now + 33 * DAY), after: null },
      ],
      more: 3,
    },
  ];
}
