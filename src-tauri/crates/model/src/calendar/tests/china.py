"""Asks three packages which days of 2004 to 2026 are worked in China, and writes their answers to china.csv.

    pip install chinesecalendar==1.11.0 holidays==0.108
    npm pack chinese-days@1.5.7 && tar xzf chinese-days-1.5.7.tgz
    python china.py package/dist/years > china.csv

A row stands for a day on which at least one of them departs from Monday to Friday. 1 is a working day.
"""

import datetime
import json
import pathlib
import sys

import chinese_calendar
import holidays

FIRST, LAST = 2004, 2026
years = pathlib.Path(sys.argv[1])
china = holidays.China(years=range(FIRST, LAST + 1))
off, work = {}, {}
for year in range(FIRST, LAST + 1):
    told = json.loads((years / f"{year}.json").read_text())
    off |= told["holidays"]
    work |= told["workdays"]


def by_chinese_days(day):
    text = day.isoformat()
    return text in work or (text not in off and day.weekday() < 5)


print("date,chinesecalendar 1.11.0,holidays 0.108,chinese-days 1.5.7")
day = datetime.date(FIRST, 1, 1)
while day.year <= LAST:
    answers = [chinese_calendar.is_workday(day), china.is_working_day(day), by_chinese_days(day)]
    if any(answer != (day.weekday() < 5) for answer in answers):
        print(",".join([day.isoformat(), *(str(int(answer)) for answer in answers)]))
    day += datetime.timedelta(days=1)
