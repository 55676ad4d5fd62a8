"""What a running attempt has said and the session has not sent yet.

It is where a processor's speed meets the link's: memory stays bounded, and a processor that is faster than the link
either waits (where it asked to) or loses log lines, counted. Outcomes of items are never lost; of progress only the
latest is kept.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from campanile._failure import cut
from campanile.executor.v1 import executor_pb2 as v1

# Log text held here for one attempt.
MAX_PENDING_BYTES = 1024 * 1024
# From here on the session is told at once rather than at its next flush.
PRESSING_BYTES = 128 * 1024
# A message of an item or of progress is cut here.
MAX_REMARK_BYTES = 2 * 1024
# What one line costs beyond its text.
LINE_COST = 64

MAX_ITEMS_PER_REPORT = 1000
MAX_LINE_BYTES = 64 * 1024
# No message of the protocol is larger than 1 MiB; an item leaves room for the rest of its message.
MAX_ITEM_BYTES = 1_000_000
# Of several items in one message.
MAX_DATA_BYTES = 512 * 1024


class Outbox:
    def __init__(self, linked: bool, wake: Callable[[bool], None]) -> None:
        self._room = threading.Condition()
        self._wake = wake
        self._linked = linked
        self._closed = False
        self._told = self._pressed = False
        self._lines: deque[tuple[int, v1.LogLine]] = deque()
        self._bytes = 0
        self._dropped = 0
        self._items: deque[v1.ItemOutcome] = deque()
        self._progress: v1.Progress | None = None
        self._data: deque[v1.NewData] = deque()
        # Bytes of new data that are here or under way; bounded by making the processor wait.
        self._data_bytes = 0

    def _tell(self) -> Callable[[], None]:
        """What wakes the session, to be called without the lock: once, and again when it presses."""
        pressing = self._bytes >= PRESSING_BYTES or len(self._items) >= MAX_ITEMS_PER_REPORT or len(self._data) > 0
        news = not self._told or (pressing and not self._pressed)
        self._told, self._pressed = True, self._pressed or pressing
        return (lambda: self._wake(pressing)) if news else (lambda: None)

    def line(self, line: v1.LogLine, *, wait: bool = False) -> None:
        """Never waits unless asked to, and then only while there is a link: with no room the line is lost, counted."""
        cost = len(line.text.encode()) + LINE_COST
        with self._room:
            while wait and self._bytes >= MAX_PENDING_BYTES and self._linked and not self._closed:
                # Woken now and then, so that a processor that is to be killed can be.
                self._room.wait(0.5)
            if self._bytes >= MAX_PENDING_BYTES:
                self._dropped += 1
            else:
                self._bytes += cost
                self._lines.append((cost, line))
            tell = self._tell()
        tell()

    def item(self, index: int, succeeded: bool, message: str) -> None:
        outcome = v1.ItemOutcome(index=index, succeeded=succeeded, message=cut(message, MAX_REMARK_BYTES))
        with self._room:
            self._items.append(outcome)
            tell = self._tell()
        tell()

    def progress(self, percent: float | None, message: str) -> None:
        progress = v1.Progress(percent=percent, message=cut(message, MAX_REMARK_BYTES))
        with self._room:
            self._progress = progress
            tell = self._tell()
        tell()

    def new_data(self, piece: v1.NewData, stopped: Callable[[], bool]) -> bool:
        """Waits while too much is under way, link or no link: data may not be lost. False when it is to end."""
        with self._room:
            while self._data_bytes >= MAX_PENDING_BYTES and not self._closed and not stopped():
                self._room.wait(0.1)
            if self._closed or stopped():
                return False
            self._data.append(piece)
            self._data_bytes += data_weight(piece)
            tell = self._tell()
        tell()
        return True

    def data_taken(self, weight: int) -> None:
        with self._room:
            self._data_bytes -= weight
            self._room.notify_all()

    def set_linked(self, linked: bool) -> None:
        with self._room:
            self._linked = linked
            self._room.notify_all()

    def close(self) -> None:
        """Lets go of whoever waits: the attempt is over."""
        with self._room:
            self._closed = True
            self._room.notify_all()

    def take_lines(self, max_bytes: int) -> tuple[int, v1.LogLines] | None:
        """The oldest lines, at most about `max_bytes` of them, with their weight."""
        with self._room:
            if not self._lines and not self._dropped:
                return None
            taken, weight = v1.LogLines(), 0
            while self._lines and weight < max_bytes:
                cost, line = self._lines.popleft()
                weight += cost
                taken.lines.append(line)
            self._bytes -= weight
            # Lines are dropped for want of room, thus after all those that had room.
            if not self._lines:
                taken.dropped, self._dropped = self._dropped, 0
            self._room.notify_all()
            return weight, taken

    def take_items(self) -> v1.Items | None:
        with self._room:
            if not self._items:
                return None
            taken, weight = v1.Items(), 0
            while self._items and len(taken.outcomes) < MAX_ITEMS_PER_REPORT and weight < MAX_PENDING_BYTES // 2:
                item = self._items.popleft()
                weight += len(item.message) + 16
                taken.outcomes.append(item)
            return taken

    def take_progress(self) -> v1.Progress | None:
        with self._room:
            taken, self._progress = self._progress, None
            return taken

    def take_data(self) -> v1.NewData | None:
        with self._room:
            return self._data.popleft() if self._data else None

    def looked(self) -> None:
        """The session has looked; the next thing said wakes it again."""
        with self._room:
            self._told = self._pressed = False


def data_weight(piece: v1.NewData) -> int:
    return LINE_COST + sum(len(item) for item in piece.items_json)


def as_line(raw: bytes) -> tuple[str, int]:
    """A line that can be kept: cut at 64 KiB with a visible mark and a count, whole characters, and text only."""
    raw = raw.removesuffix(b"\r")
    lost = 0
    if len(raw) > MAX_LINE_BYTES:
        kept = raw[:MAX_LINE_BYTES]
        # A character that the cut split in two is cut whole, not shown as broken.
        for back in range(1, min(4, len(kept) + 1)):
            byte = kept[-back]
            if byte & 0xC0 != 0x80:
                needed = 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
                if needed > back:
                    kept = kept[:-back]
                break
        lost = len(raw) - len(kept)
        raw = kept
    text = raw.decode("utf-8", "replace")
    encoded = text.encode()
    # Replacement characters may be longer than the bytes they stand for.
    if len(encoded) > MAX_LINE_BYTES:
        shorter = encoded[:MAX_LINE_BYTES].decode("utf-8", "ignore")
        lost += len(text) - len(shorter)
        text = shorter
    if lost:
        text += f" … [{lost} bytes cut · 已截断 {lost} 字节]"
    return text, lost
