"""Writes zones.txt: a digest of every zone's changes from 1970 to 2037, by Python's zoneinfo.

    pip install tzdata==2026.6
    python zones.py > zones.txt

The first line is the version of the data. Each other one is

    zone TAB changes TAB digest

where the digest is FNV-1a over `instant:offset` (seconds, separated by spaces) of each change, in order.
"""

import zoneinfo
from importlib import resources

zoneinfo.reset_tzpath([])  # the packaged data, not what the machine has

import tzdata  # noqa: E402

START, END = 0, 2_145_916_800  # 1970-01-01 to 2038-01-01
STEP = 12 * 3600  # no two changes lie nearer than that


def changes(zone):
    from datetime import datetime, timezone

    def offset(at):
        return int(datetime.fromtimestamp(at, timezone.utc).astimezone(zone).utcoffset().total_seconds())

    at, shown = START, offset(START)
    while at < END:
        upto = min(at + STEP, END)
        if offset(upto) != shown:
            low, high = at, upto
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == shown else (low, middle)
            shown = offset(high)
            yield high, shown
        at = upto


def main():
    print(tzdata.IANA_VERSION)
    names = (resources.files("tzdata") / "zones").read_text().split()
    for name in sorted(names):
        found = [f"{at}:{offset}" for at, offset in changes(zoneinfo.ZoneInfo(name))]
        digest = 0xCBF29CE484222325
        for byte in " ".join(found).encode():
            digest = (digest ^ byte) * 0x100000001B3 % 2**64
        print(f"{name}\t{len(found)}\t{digest:016x}")


main()
