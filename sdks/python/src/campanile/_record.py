"""An attempt that the executor has, or of which it still has something to report.

Only the session's own thread touches a record.
"""

from __future__ import annotations

import enum
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from campanile._failure import Failure
from campanile._outbox import Outbox, data_weight
from campanile._sharding import Feed
from campanile._task import CancelStage, Ending, now_ms
from campanile.executor.v1 import executor_pb2 as v1

# Log text of one attempt that may be under way without an Ack.
MAX_LOG_UNDER_WAY = 1024 * 1024
# Log text in one report.
MAX_LOG_IN_REPORT = 256 * 1024
# Attempts that ended or were handed back are remembered, so that a late push of one is not run.
REMEMBERED = 10_000

# The pace, in seconds, at which the executor ends what it has to end by itself.
ASK_TO_TERMINATE = 5.0
TERMINATE_TO_KILL = 10.0

Key = tuple[str, int]
Say = Callable[[v1.FromExecutor], None]


def key_of(attempt: v1.AttemptRef) -> Key:
    return attempt.task_id, attempt.attempt


def attempt_ref(key: Key) -> v1.AttemptRef:
    return v1.AttemptRef(task_id=key[0], attempt=key[1])


class Phase(enum.Enum):
    QUEUED = v1.HELD_STATE_QUEUED
    RUNNING = v1.HELD_STATE_RUNNING
    ENDED = v1.HELD_STATE_ENDED
    HANDED_BACK = 0


class Record:
    def __init__(self, push: v1.Push, hosted: Any, sequence: int, outbox: Outbox) -> None:
        self.key = key_of(push.attempt)
        self.phase = Phase.QUEUED
        self.push = push
        self.hosted = hosted
        self.feed = Feed(whole=not push.more_follows)
        self.last_sequence = sequence
        self.accepted = 0
        # By number, in order.
        self.unacknowledged: dict[int, tuple[int, v1.Report]] = {}
        self.log_under_way = 0
        self.last_progress: v1.Progress | None = None
        self.outbox = outbox
        self.ending = Ending()
        self.why_stopping: Failure | None = None
        self.stop_next: float | None = None

    @property
    def runs(self) -> bool:
        return self.phase is Phase.RUNNING

    @property
    def is_over(self) -> bool:
        return self.phase in (Phase.ENDED, Phase.HANDED_BACK)

    def report(self, say: Say | None, weight: int = 0, **what: Any) -> v1.Report:
        """Numbers a report, keeps it until it is acknowledged (progress aside), and says it where there is a link."""
        self.last_sequence += 1
        said = report(self.key, self.last_sequence, **what)
        if said.HasField("log_lines"):
            self.log_under_way += weight
        if not said.HasField("progress"):
            self.unacknowledged[said.sequence] = (weight, said)
        if say:
            say(v1.FromExecutor(report=said))
        return said

    def acknowledge(self, sequence: int) -> None:
        weight, said = self.unacknowledged.pop(sequence, (0, None))
        if said is not None and said.HasField("log_lines"):
            self.log_under_way -= weight
        if said is not None and said.HasField("new_data"):
            self.outbox.data_taken(data_weight(said.new_data))

    def flush(self, say: Say | None) -> None:
        """Moves what the processor said into reports.

        Without a link it stays where its size is bounded, unless the attempt is over.
        """
        over = self.phase is Phase.ENDED
        if say is None and not over:
            return
        self.outbox.looked()
        while items := self.outbox.take_items():
            self.report(say, items=items)
        while data := self.outbox.take_data():
            self.report(say, new_data=data)
        while over or self.log_under_way < MAX_LOG_UNDER_WAY:
            if (taken := self.outbox.take_lines(MAX_LOG_IN_REPORT)) is None:
                break
            weight, lines = taken
            self.report(say, weight, log_lines=lines)
        if progress := self.outbox.take_progress():
            self.last_progress = progress
            self.report(say, progress=progress)

    def send_again(self, say: Say) -> None:
        for _, said in self.unacknowledged.values():
            say(v1.FromExecutor(report=said))
        if self.runs and self.last_progress is not None:
            self.report(say, progress=self.last_progress)

    def stop(self, why: Failure, stage: CancelStage, next_at: float) -> None:
        """Begins an end of the executor's own making; a second reason changes nothing."""
        if self.why_stopping is None:
            self.why_stopping = why
        if self.stop_next is None:
            self.stop_next = next_at
        self.ending.reach(stage)

    def ask_to_end(self, why: Failure) -> None:
        """Tells the processor to end, and leaves it the time to."""
        if self.why_stopping is None:
            self.why_stopping = why
        self.ending.reach(CancelStage.ASK)

    def go_on_stopping(self, now: float) -> None:
        if self.stop_next is None or self.stop_next > now:
            return
        if self.ending.stage < CancelStage.TERMINATE:
            self.ending.reach(CancelStage.TERMINATE)
            self.stop_next = now + TERMINATE_TO_KILL
        else:
            self.ending.reach(CancelStage.KILL)
            self.stop_next = None


def report(key: Key, sequence: int, **what: Any) -> v1.Report:
    return v1.Report(attempt=attempt_ref(key), sequence=sequence, at_ms=now_ms(), **what)


class Remembered:
    """The last attempts of some fate, with what is known of each."""

    def __init__(self) -> None:
        self._known: OrderedDict[Key, Any] = OrderedDict()

    def add(self, key: Key, what: Any = True) -> None:
        self._known[key] = what
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)

    def get(self, key: Key) -> Any:
        return self._known.get(key)

    def clear(self) -> None:
        self._known.clear()
