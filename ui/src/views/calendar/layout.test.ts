import { describe, expect, test } from "vitest";
import { layoutDay, neighbour, shifted, stripes, toMinute, toY } from "./layout";

const at = (...minutes: number[]) => minutes.map((minute, id) => ({ id, minute }));
/** Column and span of each, in the order they were given; 'folded' where there was no room. */
const places = (minutes: number[], chip: number, most: number) => {
  const layout = layoutDay(at(...minutes), chip, most);
  return minutes.map((_, id) => {
    const placed = layout.placed.find(({ item }) => item.id === id);
    return placed ? `${placed.column}+${placed.span}/${placed.columns}` : "folded";
  });
};

describe("minutes and pixels", () => {
  test("a height and its minute belong together", () => {
    for (const minute of [0, 5, 615, 1435]) expect(toMinute(toY(minute, 48), 48, 5)).toBe(minute);
  });

  test("a drop snaps to the nearest step", () => {
    expect(toMinute(toY(632, 48), 48, 5)).toBe(630);
    expect(toMinute(toY(633, 48), 48, 5)).toBe(635);
    expect(toMinute(toY(633, 48), 48, 1)).toBe(633);
  });

  test("a drop above or below the day stays in it", () => {
    expect(toMinute(-200, 48, 5)).toBe(0);
    expect(toMinute(24 * 48 + 300, 48, 5)).toBe(1435);
    expect(toMinute(24 * 48 + 300, 48, 1)).toBe(1439);
  });
});

describe("moving by keys", () => {
  test("a quarter before midnight is on the day before", () => {
    expect(shifted({ day: 3, minute: 5 }, { minutes: -15 }, 7)).toEqual({ day: 2, minute: 1430 });
    expect(shifted({ day: 3, minute: 1430 }, { minutes: 15 }, 7)).toEqual({ day: 4, minute: 5 });
  });

  test("nothing moves out of the days that are shown", () => {
    expect(shifted({ day: 0, minute: 5 }, { minutes: -15 }, 7)).toEqual({ day: 0, minute: 5 });
    expect(shifted({ day: 6, minute: 1430 }, { minutes: 15 }, 7)).toEqual({ day: 6, minute: 1430 });
    expect(shifted({ day: 6, minute: 600 }, { days: 1 }, 7)).toEqual({ day: 6, minute: 600 });
  });
});

describe("firings that come together", () => {
  test("one alone takes the whole width", () => {
    expect(places([60, 120], 25, 4)).toEqual(["0+1/1", "0+1/1"]);
  });

  test("those that touch stand side by side", () => {
    expect(places([60, 60, 70], 25, 4)).toEqual(["0+1/3", "1+1/3", "2+1/3"]);
  });

  test("one that only touches the second reuses the first column", () => {
    expect(places([60, 70, 90], 25, 4)).toEqual(["0+1/2", "1+1/2", "0+1/2"]);
  });

  test("a chip takes what is free at its right", () => {
    expect(places([60, 60, 60, 80, 100], 25, 4)).toEqual(["0+1/4", "1+1/4", "2+1/4", "3+1/4", "0+3/4"]);
    expect(places([60, 60, 60, 83, 86], 25, 4).at(-1)).toBe("0+3/4");
  });

  test("what ends before another begins does not crowd it", () => {
    expect(places([60, 85], 25, 4)).toEqual(["0+1/1", "0+1/1"]);
  });

  test("more than fit are folded into the last column", () => {
    const layout = layoutDay(at(60, 60, 60, 60, 60), 25, 3);
    expect(layout.placed.map(({ column }) => column)).toEqual([0, 1]);
    expect(layout.folded).toEqual([
      { items: [2, 3, 4].map((id) => ({ id, minute: 60 })), minute: 60, column: 2, columns: 3 },
    ]);
  });

  test("a fold is as long as a chip; what comes later has a fold of its own", () => {
    const minutes = [60, 60, 60, 65, 80, 80, 80, 90, 90, 90];
    const { folded } = layoutDay(at(...minutes), 25, 2);
    for (const [a, b] of folded.slice(1).map((fold, i) => [folded[i], fold] as const))
      expect((b?.minute ?? 0) - (a?.minute ?? 0)).toBeGreaterThanOrEqual(25);
  });

  test("nothing is lost, whatever comes together", () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed / 2_147_483_648;
    };
    for (let round = 0; round < 200; round++) {
      const items = at(...Array.from({ length: 40 }, () => Math.floor(random() * (round % 2 ? 1440 : 120))));
      const most = 1 + Math.floor(random() * 5);
      const { placed, folded } = layoutDay(items, 25, most);
      const seen = [...placed.map(({ item }) => item.id), ...folded.flatMap(({ items }) => items.map(({ id }) => id))];
      expect(seen.sort((a, b) => a - b)).toEqual(items.map(({ id }) => id));
      const boxes = [...placed, ...folded.map((fold) => ({ ...fold, span: 1 }))];
      for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1)) {
          if (Math.abs(a.minute - b.minute) >= 25) continue;
          const apart = a.column + a.span <= b.column || b.column + b.span <= a.column;
          expect(apart).toBe(true);
        }
    }
  });

  test("a chip at the end of the day ends with it", () => {
    const { placed } = layoutDay(at(1439), 25, 3);
    expect(placed[0]?.minute).toBe(1415);
  });
});

describe("going from one to another", () => {
  const items = [
    { id: "a", day: 0, minute: 120 },
    { id: "b", day: 0, minute: 600 },
    { id: "c", day: 2, minute: 180 },
    { id: "d", day: 2, minute: 590 },
  ];
  const [a, b, c, d] = items as [(typeof items)[0], (typeof items)[0], (typeof items)[0], (typeof items)[0]];

  test("down follows time over midnight, and stops at the end", () => {
    expect(neighbour(items, a, "down")).toBe(b);
    expect(neighbour(items, b, "down")).toBe(c);
    expect(neighbour(items, d, "down")).toBeUndefined();
    expect(neighbour(items, a, "up")).toBeUndefined();
  });

  test("right goes to the nearest time on the next day that has one", () => {
    expect(neighbour(items, b, "right")).toBe(d);
    expect(neighbour(items, a, "right")).toBe(c);
    expect(neighbour(items, d, "left")).toBe(b);
    expect(neighbour(items, a, "left")).toBeUndefined();
  });
});

describe("stripes of frequent jobs", () => {
  const on = (job: string, ...days: number[]) => days.map((day) => ({ job, day }));

  test("days that follow one another are one stripe", () => {
    expect(stripes(on("a", 0, 1, 2)).map(({ from, end, row }) => [from, end, row])).toEqual([[0, 3, 0]]);
  });

  test("a day without the job ends its stripe", () => {
    expect(stripes(on("a", 0, 1, 4)).map(({ from, end }) => [from, end])).toEqual([
      [0, 2],
      [4, 5],
    ]);
  });

  test("two bands of one day are one stripe", () => {
    expect(stripes(on("a", 0, 0, 1))).toHaveLength(1);
  });

  test("stripes that meet lie in different rows, others share one", () => {
    const rows = stripes([...on("a", 0, 1, 2), ...on("b", 2, 3), ...on("c", 3, 4)]);
    expect(rows.map(({ bands, row }) => [bands[0]?.job, row])).toEqual([
      ["a", 0],
      ["b", 1],
      ["c", 0],
    ]);
  });
});
