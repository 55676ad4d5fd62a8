"""Reads the machine that the executor runs on, where it says of itself in /proc.

What cannot be read is unknown, not zero.
"""

from __future__ import annotations

import os
from pathlib import Path

from campanile.executor.v1 import executor_pb2 as v1


class Machine:
    def __init__(self) -> None:
        self._busy = self._total = 0.0

    def read(self) -> v1.Machine:
        return v1.Machine(
            cpu_percent=self._cpu(), memory_percent=_memory(), disk_queue=_disk_queue(), cores=os.cpu_count()
        )

    def _cpu(self) -> float | None:
        """The share since the last reading; unknown the first time."""
        lines = _lines("/proc/stat")
        if not lines:
            return None
        ticks = [float(field) for field in lines[0].split()[1:9]]
        total, idle = sum(ticks), sum(ticks[3:5])
        busy = total - idle
        before_busy, before_total = self._busy, self._total
        self._busy, self._total = busy, total
        if before_total == 0 or total <= before_total:
            return None
        return 100 * (busy - before_busy) / (total - before_total)


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def _memory() -> float | None:
    figures = {line.split()[0]: float(line.split()[1]) for line in _lines("/proc/meminfo")}
    total, available = figures.get("MemTotal:"), figures.get("MemAvailable:")
    if not total or available is None:
        return None
    return 100 * (1 - available / total)


def _disk_queue() -> float | None:
    """The longest queue of any disk at this moment."""
    queues = [float(fields[11]) for fields in map(str.split, _lines("/proc/diskstats")) if len(fields) > 11]
    return max(queues) if queues else None
