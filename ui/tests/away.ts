// What the scripted node says of the time that nobody looked: what the policies did, and what waits to be asked.
import { moment } from "./fixture";

const MIN = 60_000;
const yes = { ok: true, why: null };

export function away(now: number) {
  const row = (job: number, name: string, n: Record<string, number>, en: string, zh: string) => ({
    job: `job-${job}`,
    name,
    missed: 0,
    folded: 0,
    asked: 0,
    skipped: 0,
    ...n,
    from: moment(now - 500 * MIN),
    to: moment(now - 20 * MIN),
    omissions: [
      {
        job: `job-${job}`,
        name,
        from: moment(now - 500 * MIN),
        to: moment(now - 20 * MIN),
        count: 1,
        reason: "misfire",
        missed: true,
        words: { en, zh },
      },
    ],
    can_run: yes,
  });
  const question = (id: string, job: number, name: string, count: number) => ({
    id,
    job: `job-${job}`,
    name,
    from: moment(now - 480 * MIN),
    to: moment(now - (count === 1 ? 480 : 60) * MIN),
    count,
    asked_at: moment(now - 20 * MIN),
    until: moment(now + 1_420 * MIN),
    words: { en: "The machine was asleep; one run would stand for all of them", zh: "机器休眠；一次运行可代表全部" },
    can_answer: yes,
  });
  return {
    since: moment(now - 600 * MIN),
    missed: 4,
    folded: 96,
    skipped: 3,
    rows: [
      row(
        2,
        "sync-orders",
        { folded: 96 },
        "The machine was asleep; folded into the run at 09:10",
        "机器休眠；已合并到 09:10 的运行",
      ),
      row(
        0,
        "nightly-report",
        { missed: 1 },
        "Missed by 7 h 10 min; its policy is to skip",
        "错过 7 小时 10 分；策略为跳过",
      ),
      row(7, "clean-temp", { skipped: 3 }, "The job was paused", "任务已暂停"),
    ],
    questions: [question("q-1", 6, "monthly-invoice", 1), question("q-2", 13, "price-feed", 3)],
    complete: true,
  };
}
