"""What a processor is given for one attempt, and how it speaks while it works."""

from __future__ import annotations

import asyncio
import contextvars
import enum
import json
import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from campanile._failure import Cancelled, Killed
from campanile._outbox import Outbox, as_line
from campanile.executor.v1 import executor_pb2 as v1

if TYPE_CHECKING:
    from campanile._locks import Door, Lock

STREAMS = {"log": v1.LOG_STREAM_LOG, "stdout": v1.LOG_STREAM_STDOUT, "stderr": v1.LOG_STREAM_STDERR}

current: contextvars.ContextVar[Task | None] = contextvars.ContextVar("campanile_task", default=None)


class CancelStage(enum.IntEnum):
    """How far the node has gone to end an attempt."""

    NONE = 0
    """Nobody has asked."""
    ASK = 1
    """End in your own way. An `async` processor is cancelled as any task of asyncio is."""
    TERMINATE = 2
    """TERM to whatever was started."""
    KILL = 3
    """KILL to whatever was started. `Killed` is raised inside a processor that still goes on."""


class Ending:
    """How far the asking has gone, and who waits for it."""

    def __init__(self) -> None:
        self._moved = threading.Condition()
        self.stage = CancelStage.NONE
        self.on_reach: Callable[[CancelStage], None] | None = None

    def reach(self, stage: CancelStage) -> bool:
        """Goes on to `stage`, never back. True when that was news."""
        with self._moved:
            if stage <= self.stage:
                return False
            self.stage = stage
            self._moved.notify_all()
            told = self.on_reach
        if told:
            told(stage)
        return True

    def wait(self, stage: CancelStage, seconds: float | None) -> bool:
        until = None if seconds is None else time.monotonic() + seconds
        with self._moved:
            while self.stage < stage:
                left = None if until is None else until - time.monotonic()
                if left is not None and left <= 0:
                    return False
                # Woken now and then, so that a processor that is to be killed can be.
                self._moved.wait(0.5 if left is None else min(left, 0.5))
            return True


@dataclass(frozen=True)
class Upstream:
    """What a job before this one gave."""

    job: str
    instance_id: str
    result: Any


@dataclass(frozen=True)
class Shard:
    """Which piece of the data an attempt has. Levels and shards are counted from 0, rounds from 1."""

    level: int
    level_count: int
    index: int
    count: int
    round: int
    item_count: int


class Task:
    """One attempt at one task. Its methods may be called from any thread."""

    def __init__(self, push: v1.Push, outbox: Outbox, ending: Ending, executor: str, boot_id: str, door: Door) -> None:
        self._push = push
        self._outbox = outbox
        self._ending = ending
        self._door = door
        self._masked: Callable[[str], str] = lambda text: text
        context = push.context
        self.id: str = push.attempt.task_id
        self.attempt: int = push.attempt.attempt
        """Counts from 1."""
        self.idempotency_key: str = push.idempotency_key
        """The same for each attempt of the task: what is written elsewhere can be made to happen once by it."""
        self.processor: str = push.processor
        self.job: str = context.job
        self.job_version: int = context.job_version
        self.instance_id: str = context.instance_id
        self.origin: str = context.origin
        """schedule, added, manual, api, backfill or after."""
        self.planned = _moment(context.planned_ms)
        """The time that the schedule names."""
        self.due = _moment(context.due_ms)
        """When it was to run, after rolls, moves and spread."""
        self.deadline = _moment(context.deadline_ms) if context.HasField("deadline_ms") else None
        """When its time to run is over. The node watches it; a processor may look."""
        self.tenant: str = context.tenant
        self.executor = executor
        self.boot_id = boot_id
        """Of the executor's process: another one after each start."""
        self.parameters: dict[str, Any] = {}
        """A JSON object; its templates and secrets are filled in."""

    @property
    def upstream(self) -> list[Upstream]:
        """What the jobs before this one gave, for jobs that run after others."""
        each = self._push.context.upstream
        return [Upstream(one.job, one.instance_id, json.loads(one.result_json or "null")) for one in each]

    @property
    def shard(self) -> Shard | None:
        if not self._push.HasField("shard"):
            return None
        shard = self._push.shard
        return Shard(shard.level, shard.level_count, shard.index, shard.count, shard.round, shard.item_count)

    def log(self, text: str, *, stream: str = "log", wait: bool = False) -> None:
        """Writes lines to the task's log.

        It never waits unless asked to: a log that is far ahead of the link loses lines, and says how many. `wait` is
        for what can be held back, such as the output of a program (with `stream` "stdout" or "stderr").
        """
        for line in self._masked(text).removesuffix("\n").split("\n"):
            text, cut_bytes = as_line(line.encode("utf-8", "replace"))
            line = v1.LogLine(at_ms=now_ms(), stream=STREAMS[stream], text=text, cut_bytes=cut_bytes)
            self._outbox.line(line, wait=wait)

    def progress(self, percent: float | None, message: str = "") -> None:
        """How far it is, 0 to 100, and what it is at. Only the latest is kept. None leaves the figure as it was."""
        if percent is not None:
            percent = min(100.0, max(0.0, float(percent))) if math.isfinite(percent) else None
        self._outbox.progress(percent, self._masked(message))

    def item(self, index: int, error: object = None) -> None:
        """The outcome of one item of a shard, by its place in the level; without an error it succeeded.

        An item that was reported is not handed out again with the next attempt.
        """
        self._outbox.item(index, error is None, "" if error is None else self._masked(str(error)))

    @property
    def cancel_stage(self) -> CancelStage:
        return self._ending.stage

    @property
    def cancelled(self) -> bool:
        """Whether somebody asked for the end of this attempt."""
        return self._ending.stage >= CancelStage.ASK

    def raise_if_cancelled(self) -> None:
        if self.cancelled:
            raise Cancelled("asked to end")

    def wait_cancelled(self, seconds: float | None = None, *, stage: CancelStage = CancelStage.ASK) -> bool:
        """Waits until the cancellation has gone as far as `stage`; False when that took longer than `seconds`."""
        return self._ending.wait(stage, seconds)

    def sleep(self, seconds: float) -> None:
        """Sleeps, unless somebody asks for the end meanwhile: then it raises `Cancelled`."""
        if self._ending.wait(CancelStage.ASK, seconds):
            raise Cancelled("asked to end")

    def lock(self, *names: str, wait: float = 30.0, lease: float | None = None) -> Lock:
        """A lock that one task at a time may hold, among all executors of the node's team.

            with task.lock("accounts/17", wait=5) as lock:
                ...  # lock.token is greater than that of every holder before

        Waits for at most `wait` seconds; 0 tries once. With several names it takes all of them or none, in the order
        of the names. With `lease` it ends so many seconds after it was had; without, it goes on until it is left. In
        an `async` processor it is `async with`.
        """
        if not names:
            raise ValueError("a lock has a name")
        from campanile._locks import Lock  # it needs what needs this module

        return Lock(self._door, list(names), wait, lease, lambda: self.cancelled)

    def __repr__(self) -> str:
        return f"<task {self.id} attempt {self.attempt} of {self.job}>"


class TaskLogHandler(logging.Handler):
    """Hands what is logged inside a processor to the log of its task: `logging.getLogger().addHandler(...)`."""

    def emit(self, record: logging.LogRecord) -> None:
        task = current.get()
        if task is None:
            return
        try:
            task.log(self.format(record))
        except Exception:  # as every handler of logging does: it must not fail who logs
            self.handleError(record)


def current_task() -> Task | None:
    """The attempt that runs here, in its own thread or asyncio task."""
    return current.get()


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, timezone.utc)


def is_cancellation(error: BaseException) -> bool:
    """About what was raised, not about whether anybody asked."""
    return isinstance(error, (Cancelled, Killed, asyncio.CancelledError))
