"""Writes cron.txt: what cronsim says of generated five- and six-field expressions, and whether croniter says the same.

    pip install cronsim==2.8 croniter==7.0.0 tzdata==2026.6
    python cron.py > cron.txt

A line is

    expression TAB zone TAB from TAB = TAB next next next …

with `from` in seconds since 1970 and each further time as the seconds since the one before, all in base 36. `=` says that
croniter agrees, `~` that it does not (it fires twice in a repeated hour, and reads `*/2` beside a weekday in another way).
cronsim follows Debian's cron: what the clocks skip runs when the gap ends.
"""

import random
import zoneinfo
from datetime import datetime, timedelta, timezone

zoneinfo.reset_tzpath([])  # the packaged data, not what the machine has

from croniter import croniter  # noqa: E402
from cronsim import CronSim, CronSimError  # noqa: E402

DICE = random.Random(20261121)
ZONES = ["UTC", "UTC", "Asia/Shanghai", "Europe/Berlin", "America/New_York", "Europe/London", "America/Santiago"]
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
WEEKDAYS = "SUN MON TUE WED THU FRI SAT".split()


def base36(number):
    text = ""
    while True:
        number, digit = divmod(number, 36)
        text = DIGITS[digit] + text
        if number == 0:
            return text


def part(first, last, names=None):
    kind = DICE.randrange(8)
    # cronsim takes 5-5/2 for 5/2.
    a, b = sorted(DICE.sample(range(first, last + 1), 2))
    if kind == 0:
        return "*"
    if kind == 1:
        return f"*/{DICE.randint(2, max(2, (last - first + 1) // 2))}"
    if kind == 2:
        return f"{a}-{b}"
    if kind == 3:
        return f"{a}-{b}/{DICE.randint(1, 5)}"
    if names and kind == 4:
        return DICE.choice(names)
    return str(a)


def field(first, last, names=None):
    count = DICE.randint(2, 4) if DICE.randrange(4) == 0 else 1
    return ",".join(part(first, last, names) for _ in range(count))


def expression(night):
    minutes = field(0, 59)
    hours = field(0, 4) if night else field(0, 23)
    days = field(1, 31) if DICE.randrange(2) == 0 else "*"
    months = field(1, 12, MONTHS) if DICE.randrange(4) == 0 else "*"
    weekdays = field(0, 7, WEEKDAYS) if DICE.randrange(2) == 0 else "*"
    if night:
        days, months = "*" if DICE.randrange(3) else days, "*"
    return f"{minutes} {hours} {days} {months} {weekdays}"


def change_near(zone, at):
    """The first change of the clocks after a moment, to the minute; the moment itself where there is none."""
    info = zoneinfo.ZoneInfo(zone)
    offset = lambda t: datetime.fromtimestamp(t, info).utcoffset()
    day = 86_400
    for _ in range(400):
        if offset(at) != offset(at + day):
            low, high = at, at + day
            while high - low > 60:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == offset(low) else (low, middle)
            return high
        at += day
    return at


def main():
    for _ in range(4000):
        zone = DICE.choice(ZONES)
        night = zone not in ("UTC", "Asia/Shanghai") and DICE.randrange(3) > 0
        text = expression(night)
        start = DICE.randint(1_420_070_400, 2_050_000_000)
        if night:
            start = change_near(zone, start) - DICE.randint(0, 100_000)
        info = zoneinfo.ZoneInfo(zone)
        begun = datetime.fromtimestamp(start, timezone.utc).astimezone(info)
        try:
            sim = CronSim(text, begun)
            found = []
            for _ in range(5 if night else 3):
                try:
                    found.append(int(next(sim).timestamp()))
                except StopIteration:
                    break
        except CronSimError:
            continue
        try:
            theirs = []
            other = croniter(text, begun)
            for _ in found:
                theirs.append(int(other.get_next(datetime).timestamp()))
        except Exception:
            theirs = None
        times, at = [], start
        for each in found:
            times.append(base36(each - at))
            at = each
        agree = "=" if theirs == found else "~"
        print(f"{text}\t{zone}\t{base36(start)}\t{agree}\t{' '.join(times)}")


main()
