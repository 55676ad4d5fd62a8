"""Writes repeat.txt: what python-dateutil's rrule says of generated recurrences.

    pip install python-dateutil==4.0.0
    python repeat.py > repeat.txt

A line is

    level interval days TAB start TAB next next next …

where `days` is a list or `-`, `start` is in seconds since 1970 (UTC) and each further time is the seconds since the one
before, all in base 36. The start itself is always the first run and is left out.
"""

import random
from datetime import datetime, timedelta, timezone
from itertools import islice

from dateutil.rrule import DAILY, HOURLY, MO, MONTHLY, WEEKLY, YEARLY, rrule

DICE = random.Random(20261121)
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
EPOCH = datetime(1970, 1, 1)


def base36(number):
    text = ""
    while True:
        number, digit = divmod(number, 36)
        text = DIGITS[digit] + text
        if number == 0:
            return text


def main():
    for _ in range(3000):
        level = DICE.choice(["hour", "day", "week", "week", "month", "month", "month", "year"])
        interval = DICE.choice([1, 1, 2, 3, DICE.randint(1, 40)])
        start = EPOCH + timedelta(seconds=DICE.randint(0, 2_100_000_000))
        if DICE.randrange(6) == 0:
            start = start.replace(month=DICE.choice([1, 2, 2, 3, 12]), day=DICE.choice([1, 28]))
        if DICE.randrange(12) == 0:
            start = start.replace(year=DICE.choice([1996, 2000, 2024, 2096]), month=2, day=29)
        days, rule = [], {}
        if level == "week" and DICE.randrange(3):
            days = sorted(DICE.sample(range(1, 8), DICE.randint(1, 5)))
            rule["byweekday"] = [day - 1 for day in days]
        if level == "month" and DICE.randrange(4):
            choices = [*range(1, 32), *range(-31, 0), 29, 30, 31, -1, -1, -29, -30, -31]
            days = sorted(set(DICE.choice(choices) for _ in range(DICE.randint(1, 4))))
            rule["bymonthday"] = days
        freq = {"hour": HOURLY, "day": DAILY, "week": WEEKLY, "month": MONTHLY, "year": YEARLY}[level]
        # A rule that meets only the start, such as every 12 months on the 31st of February, ends at the horizon.
        found = rrule(freq, dtstart=start, interval=interval, wkst=MO, until=datetime(2500, 1, 1), **rule)
        times, at = [], start
        for each in islice((time for time in found if time > start), 5):
            times.append(base36(int((each - at).total_seconds())))
            at = each
        named = ",".join(map(str, days)) or "-"
        begun = int((start - EPOCH).total_seconds())
        print(f"{level} {interval} {named}\t{base36(begun)}\t{' '.join(times)}")


main()
