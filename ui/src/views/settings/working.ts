// A year of a calendar while it is being changed: what the node told of its days, with what was changed here laid over it.
// What jobs make of a change is the node's to say.
import type { WorkCalendar as Calendar, DayMark, MarkedDay } from "@/api/types";

export interface YearDay {
  date: string;
  /** 1 (Monday) to 7. */
  weekday: number;
  works: boolean;
  /** What marks it; none: as the week has it. */
  mark: DayMark | null;
}

/** What a calendar itself says of a day: of two of its layers the later counts. */
function own(calendar: Calendar, date: string): DayMark | null {
  for (const layer of calendar.layers.toReversed()) {
    const day = layer.days.find((each) => each.date === date);
    if (day) return { kind: day.kind, name: day.name ?? null, calendar: calendar.name, layer: layer.name };
  }
  return null;
}

const told = (mark: DayMark | null) => (mark ? `${mark.kind}|${mark.layer}|${mark.name?.en}|${mark.name?.zh}` : "");

/**
 * The days as they would be with `draft` in the place of `first`. A day that is marked here no more is as its week has it,
 * until the node says what lies beneath.
 */
export function laidOver(days: readonly YearDay[], first: Calendar, draft: Calendar): YearDay[] {
  if (first === draft) return [...days];
  const { week } = draft;
  const newWeek = week !== undefined && week.join() !== (first.week ?? []).join();
  return days.map((day) => {
    const [was, is] = [own(first, day.date), own(draft, day.date)];
    if (told(was) !== told(is))
      return is
        ? { ...day, works: is.kind === "work", mark: is }
        : { ...day, works: (week ?? [1, 2, 3, 4, 5]).includes(day.weekday), mark: null };
    return newWeek && !day.mark ? { ...day, works: week.includes(day.weekday) } : day;
  });
}

/** The same year with some layers, as 'calendar/layer', looked through. */
export function withoutLayers(
  days: readonly YearDay[],
  hidden: ReadonlySet<string>,
  week: readonly number[],
): YearDay[] {
  return days.map((day) =>
    day.mark && hidden.has(`${day.mark.calendar}/${day.mark.layer}`)
      ? { ...day, works: week.includes(day.weekday), mark: null }
      : day,
  );
}

export interface ShownLayer {
  calendar: string;
  name: string;
  /** Days of it: all of its own, of one beneath those of the year. */
  days: number;
  /** It can be written into. */
  own: boolean;
}

/** The layers that mark days of the year, the lowest first, and then those of the calendar itself. */
export function layersOf(days: readonly YearDay[], draft: Calendar): ShownLayer[] {
  const mine = draft.layers.map(({ name, days }) => ({ calendar: draft.name, name, days: days.length, own: true }));
  const beneath: ShownLayer[] = [];
  for (const { mark } of days) {
    if (!mark || mine.some((each) => each.name === mark.layer && each.calendar === mark.calendar)) continue;
    const known = beneath.find((each) => each.calendar === mark.calendar && each.name === mark.layer);
    if (known) known.days += 1;
    else beneath.push({ calendar: mark.calendar, name: mark.layer, days: 1, own: false });
  }
  return [...beneath, ...mine];
}

/** The calendar with one day marked in a layer, or no longer marked there (`null`); the layer is made where it is none. */
export function withDay(
  calendar: Calendar,
  layerName: string,
  date: string,
  mark: Omit<MarkedDay, "date"> | null,
): Calendar {
  const put = (days: readonly MarkedDay[]) => {
    const others = days.filter((day) => day.date !== date);
    return (mark ? [...others, { ...mark, date }] : others).sort((a, b) => a.date.localeCompare(b.date));
  };
  if (!calendar.layers.some((layer) => layer.name === layerName))
    return mark ? { ...calendar, layers: [...calendar.layers, { name: layerName, days: put([]) }] } : calendar;
  return {
    ...calendar,
    layers: calendar.layers.map((layer) => (layer.name === layerName ? { ...layer, days: put(layer.days) } : layer)),
  };
}

/** One day as it was, in each layer. */
export function takenBack(draft: Calendar, first: Calendar, date: string): Calendar {
  let out = draft;
  for (const { name } of draft.layers) {
    const was = first.layers.find((each) => each.name === name)?.days.find((each) => each.date === date);
    out = withDay(out, name, date, was ?? null);
  }
  return out;
}

export interface Changed {
  date: string;
  after: YearDay;
}

/** Days of a year that are worked, marked or named otherwise than before. */
export function changedDays(before: readonly YearDay[], after: readonly YearDay[]): Changed[] {
  return after.flatMap((day, i) => {
    const was = before[i];
    const same = was && was.works === day.works && told(was.mark) === told(day.mark);
    return same ? [] : [{ date: day.date, after: day }];
  });
}

/** The months of a year, each as the squares of its weeks, with null for those before its first. */
export function monthsOf(days: readonly YearDay[]): (YearDay | null)[][] {
  return Array.from({ length: 12 }, (_, month) => {
    const inMonth = days.filter((day) => Number(day.date.slice(5, 7)) === month + 1);
    const lead = (inMonth[0]?.weekday ?? 1) - 1;
    return [...Array.from({ length: lead }, () => null), ...inMonth];
  });
}
