"""A processor whose work is cut into shards, which run at many executors."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

from campanile._failure import Business, Cancelled, Failure, incomplete
from campanile._outbox import MAX_DATA_BYTES, MAX_ITEM_BYTES, MAX_ITEMS_PER_REPORT, Outbox
from campanile.executor.v1 import executor_pb2 as v1


@dataclass(frozen=True)
class Item:
    """One value of the data and its place in its level."""

    level: int
    index: int
    value: Any


@dataclass(frozen=True)
class Notice:
    """How far all shards together are."""

    items_done: int
    items_total: int
    percent: float


@dataclass(frozen=True)
class ShardEnd:
    """How one shard ended: 301 succeeded, 302 failed, 303 cancelled."""

    level: int
    shard: int
    code: int
    result: Any
    failure: Failure | None


class Feed:
    """What follows a push: pieces of data or ends of shards, in order. The session puts, the processor takes."""

    def __init__(self, whole: bool) -> None:
        self._moved = threading.Condition()
        self._pieces: deque[list[Any]] = deque()
        self._whole = whole
        self.broken = False

    def put(self, piece: list[Any], last: bool) -> None:
        with self._moved:
            self._pieces.append(piece)
            self._whole = self._whole or last
            self._moved.notify_all()

    def break_off(self) -> bool:
        """Ends what has not come whole; True when it had not."""
        with self._moved:
            self.broken = self.broken or not self._whole
            self._moved.notify_all()
            return self.broken

    @property
    def begun(self) -> bool:
        """There is something to start with."""
        with self._moved:
            return self._whole or bool(self._pieces)

    def take(self, stopped: Callable[[], bool]) -> list[Any] | None:
        """Waits for the next piece; None after the last."""
        with self._moved:
            while not self._pieces:
                if self.broken:
                    raise incomplete()
                if self._whole:
                    return None
                if stopped():
                    raise Cancelled("asked to end")
                self._moved.wait(0.1)
            return self._pieces.popleft()


class Stream:
    """Values as they arrive, once, by `for` or `async for`; never all of them in memory twice."""

    def __init__(self, feed: Feed, stopped: Callable[[], bool], read: Callable[[Any], Any]) -> None:
        self._feed = feed
        self._stopped = stopped
        self._read = read

    def __iter__(self) -> Iterator[Any]:
        while (piece := self._feed.take(self._stopped)) is not None:
            yield from map(self._read, piece)

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (piece := await asyncio.to_thread(self._feed.take, self._stopped)) is not None:
            for value in map(self._read, piece):
                yield value


def read_item(entry: tuple[int, v1.DataItem]) -> Item:
    level, item = entry
    return Item(level, item.index, json.loads(item.value_json))


def read_end(end: v1.ShardEnd) -> ShardEnd:
    result = json.loads(end.result_json) if end.HasField("result_json") else None
    failure = None
    if end.HasField("error"):
        error = end.error
        failure = Failure(error.code, error.message_en, zh=error.message_zh)
        failure.failure_class = getattr(error, "class")
    return ShardEnd(end.level, end.shard, end.code, result, failure)


class NewData:
    """Cuts what `pre_process` gives into messages."""

    def __init__(self, outbox: Outbox, stopped: Callable[[], bool]) -> None:
        self._outbox = outbox
        self._stopped = stopped
        self._level = 0
        self._pending: list[str] = []
        self._bytes = 0

    def add(self, level: int, value: Any) -> None:
        if level < self._level:
            raise Business(
                "k_sc_ec_300053",
                f"level {level} was added after level {self._level}",
                zh=f"层级 {level} 在层级 {self._level} 之后加入",
            )
        try:
            text = as_json(value)
        except (TypeError, ValueError) as error:
            raise Business("k_sc_ec_300051", f"an item is not JSON: {error}", zh=f"有一项不是 JSON：{error}") from error
        size = len(text.encode())
        if size > MAX_ITEM_BYTES:
            raise Business(
                "k_sc_ec_300052",
                f"an item has {size} bytes, at most {MAX_ITEM_BYTES} are taken",
                zh=f"单项为 {size} 字节，最多 {MAX_ITEM_BYTES} 字节",
            )
        full = self._bytes + size > MAX_DATA_BYTES or len(self._pending) >= MAX_ITEMS_PER_REPORT
        if level != self._level or full:
            self._send(last=False)
            self._level = level
        self._pending.append(text)
        self._bytes += size

    def end(self) -> None:
        self._send(last=True)

    def _send(self, *, last: bool) -> None:
        if not self._pending and not last:
            return
        piece = v1.NewData(level=self._level, items_json=self._pending, last=last)
        self._pending, self._bytes = [], 0
        if not self._outbox.new_data(piece, self._stopped):
            raise Cancelled("asked to end")


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
