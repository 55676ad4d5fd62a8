"""The executor's side of the protocol: one loop that holds every attempt, the lease and the link.

The loop waits for one event at a time and answers it without waiting, so each rule below is plain code on plain state.
Processors run in threads of their own and speak to the loop through its mailbox and their outboxes; the loop never
waits for them, nor for the node.

It does not watch deadlines and does not retry tasks: the node does. It decides only what is the executor's to decide:
what has room, what may start (nothing without a lease), what was seen before, and when to let go.
"""

from __future__ import annotations

import enum
import logging
import queue
import random
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from campanile._failure import Refused, cut, executor_left, lease_lost
from campanile._locks import Claim, Door, LockBook
from campanile._machine import Machine
from campanile._outbox import Outbox
from campanile._processor import registered
from campanile._record import ASK_TO_TERMINATE, Key, Phase, Record, Remembered, Say, attempt_ref, key_of, report
from campanile._running import Loop, Run, ask_still_needed
from campanile._task import CancelStage
from campanile._wire import Wire
from campanile.executor.v1 import executor_pb2 as v1

if TYPE_CHECKING:
    from campanile._executor import Executor

log = logging.getLogger("campanile")

PROTOCOL_VERSION = 1

# Spans in seconds. What a processor says reaches the node this much later at most, unless it presses.
FLUSH_EVERY = 0.1
FIRST_RETRY = 0.1
LONGEST_RETRY = 2.0
# A node that takes a stream and then does not answer Register is left.
WELCOME_WITHIN = 10.0
MACHINE_EVERY = 10.0
# At shutdown: from TERM to KILL, from KILL to giving up, and how long the last acknowledgements are waited for.
LEAVE_STEP = 5.0
# How long the node is given to take Goodbye.
GOODBYE_WITHIN = 1.0


class Link(enum.Enum):
    DOWN = 0
    # Register is sent; nothing else may be before Welcome.
    JOINING = 1
    UP = 2


@dataclass
class Left:
    """What an executor leaves behind when its time to leave ran out."""

    unfinished: int = 0
    """Attempts that did not end. Whatever they started may still run."""
    unreported: int = 0
    """Attempts of which the node did not acknowledge everything."""


@dataclass
class Leaving:
    finish_by: float
    give_up: float
    stopped: bool = False
    kill_at: float | None = None
    report_by: float | None = None
    """Set once nothing runs."""
    gone_by: float | None = None
    """Set once Goodbye is said."""


@dataclass
class Lease:
    heartbeat: float = 1.0
    length: float = 3.0
    until: float | None = None
    next_heartbeat: float = 0.0
    next_machine: float = 0.0
    count: int = 0
    sent: deque[tuple[int, float]] = field(default_factory=deque)


class Session:
    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self.machine = Machine()
        self.loop = Loop()
        self.mailbox: queue.SimpleQueue[Callable[[float], None]] = queue.SimpleQueue()
        self.link = Link.DOWN
        self.wire: Wire | None = None
        self.retry_at = self.since = self.last_heard = time.monotonic()
        self.tries = self.tried = 0
        self.told: list[str] = []
        self.draining = False
        self.lease = Lease()
        self.records: dict[Key, Record] = {}
        self.queue: list[Key] = []
        self.ended = Remembered()
        # The number of the report that handed back an attempt on this stream. What was pushed on an earlier one does
        # not come on this.
        self.back = Remembered()
        self.flush_at: float | None = None
        self.locks = LockBook(self._tell)
        self.leaving: Leaving | None = None
        self.refused: Refused | None = None

    def post(self, happening: Callable[[float], None]) -> None:
        """Called by any thread: `happening` is called by the loop, with the time."""
        self.mailbox.put(happening)

    def run(self) -> Left:
        while True:
            now = time.monotonic()
            self._keep_time(now)
            self._start_what_may(now)
            left = self._may_leave(now)
            if left is not None:
                break
            try:
                happening = self.mailbox.get(timeout=max(0.0, self._wake_at(now) - time.monotonic()))
                happening(time.monotonic())
            except queue.Empty:
                pass
        if self.wire:
            self.wire.close()
        # What still runs has nobody to report to.
        for record in self.records.values():
            record.ending.reach(CancelStage.KILL)
            record.outbox.close()
        self.loop.end()
        if self.refused:
            raise self.refused
        return left

    def _wake_at(self, now: float) -> float:
        """The next moment at which time alone changes something."""
        moments: list[float | None] = [now + 3600, self.lease.until, self.flush_at]
        if self.link is Link.DOWN:
            moments.append(self.retry_at)
        elif self.link is Link.JOINING:
            moments.append(self.since + WELCOME_WITHIN)
        else:
            moments += [self.lease.next_heartbeat, self.last_heard + 2 * self.lease.length]
        moments += [record.stop_next for record in self.records.values() if record.runs]
        if leaving := self.leaving:
            moments += [None if leaving.stopped else leaving.finish_by, leaving.kill_at, leaving.gone_by]
            moments.append(leaving.give_up if leaving.report_by is None else leaving.report_by)
        return min(moment for moment in moments if moment is not None)

    @property
    def say(self) -> Say | None:
        """How to say something, where there is somebody to say it to."""
        return self.wire.say if self.link is Link.UP and self.wire else None

    def _tell(self, **message: Any) -> None:
        if say := self.say:
            say(v1.FromExecutor(**message))

    # --------------------------------------------------------------- time --

    def _keep_time(self, now: float) -> None:
        lease = self.lease
        if self.link is Link.DOWN and self.retry_at <= now:
            self._connect(now)
        elif self.link is Link.JOINING and self.since + WELCOME_WITHIN <= now:
            self._lose_link(now, "no Welcome came")
        elif self.link is Link.UP and self.last_heard + 2 * lease.length <= now:
            self._lose_link(now, "the node fell silent")
        elif self.link is Link.UP and lease.next_heartbeat <= now:
            self._beat(now)
        if lease.until is not None and lease.until <= now:
            self._lose_lease(now)
        if self.flush_at is not None and self.flush_at <= now:
            self.flush_at = None
            for record in self.records.values():
                record.flush(self.say)
        for record in self.records.values():
            if record.runs:
                record.go_on_stopping(now)
        self._go_on_leaving(now)

    def _beat(self, now: float) -> None:
        lease = self.lease
        lease.count += 1
        lease.sent.append((lease.count, now))
        machine = None
        if lease.next_machine <= now:
            lease.next_machine = now + MACHINE_EVERY
            machine = self.machine.read()
        self._tell(heartbeat=v1.Heartbeat(number=lease.count, machine=machine))
        lease.next_heartbeat = now + lease.heartbeat

    def _lose_lease(self, now: float) -> None:
        log.warning("%s: the lease ended; nothing new is started", self.executor.name)
        self.lease.until = None
        self.locks.lose(lambda _: True, self.records)
        for record in self.records.values():
            if record.runs and record.hosted.info.stop_without_lease:
                record.stop(lease_lost(), CancelStage.ASK, now + ASK_TO_TERMINATE)

    def _lease_extended(self, ack: v1.HeartbeatAck, now: float) -> None:
        lease = self.lease
        while lease.sent and lease.sent[0][0] <= ack.number:
            number, sent = lease.sent.popleft()
            if number != ack.number:
                continue
            lease.length = max(1, ack.lease_ms) / 1000
            until = sent + lease.length
            if until > now and (lease.until is None or lease.until < until):
                lease.until = until

    # --------------------------------------------------------------- link --

    def _connect(self, now: float) -> None:
        # Those that the last node told of, and those given to begin with, each once.
        addresses = list(dict.fromkeys(self.told + self.executor.nodes))
        address = addresses[self.tried % len(addresses)]
        self.wire = Wire(address, self.executor.tls, self._said, self._broke)
        self.wire.say(v1.FromExecutor(register=self._register()))
        self.link, self.since, self.last_heard = Link.JOINING, now, now

    def _register(self) -> v1.Register:
        executor = self.executor
        held = [record for record in self.records.values() if record.phase is not Phase.HANDED_BACK]
        return v1.Register(
            protocol_version=PROTOCOL_VERSION,
            group=executor.group,
            name=executor.name,
            boot_id=executor.boot_id,
            processors=[registered(hosted) for _, hosted in sorted(executor.processors.items())],
            labels=executor.labels,
            capacity=self._capacity(),
            sdk_version=executor.sdk_version,
            token=executor.token,
            public_key=bytes(executor.key.public_key) if executor.key else b"",
            still_held=[
                v1.HeldAttempt(
                    attempt=attempt_ref(record.key), state=record.phase.value, last_sequence=record.last_sequence
                )
                for record in held
            ],
        )

    def _capacity(self) -> v1.Capacity:
        return v1.Capacity(running=self.executor.capacity, queued=self.executor.queued)

    def say_capacity(self, _now: float) -> None:
        self._tell(capacity=self._capacity())

    def _said(self, wire: Wire, message: v1.ToExecutor) -> None:
        self.post(lambda now: self._hear(message, now) if wire is self.wire else None)

    def _broke(self, wire: Wire, why: str) -> None:
        self.post(lambda now: self._lose_link(now, why) if wire is self.wire else None)

    def _lose_link(self, now: float, why: str) -> None:
        """Turns to the next node, after a while that grows."""
        log.log(logging.INFO if self.link is Link.UP else logging.DEBUG, "%s: no stream: %s", self.executor.name, why)
        self.tries += 1
        self.tried += 1
        longest = min(LONGEST_RETRY, FIRST_RETRY * 2 ** min(self.tries - 1, 10))
        self._break_link(now + longest * random.uniform(0.5, 1.0))

    def _break_link(self, retry_at: float) -> None:
        if self.wire:
            self.wire.close()
        self.link, self.wire, self.retry_at = Link.DOWN, None, retry_at
        self.lease.sent.clear()
        for record in list(self.records.values()):
            record.outbox.set_linked(False)
            if not record.is_over and record.feed.break_off() and record.phase is Phase.QUEUED:
                # Not held any more when the stream is there again, it is free to go elsewhere.
                self._drop(record.key)

    def _drop(self, key: Key) -> None:
        if record := self.records.pop(key, None):
            record.outbox.close()
        if key in self.queue:
            self.queue.remove(key)

    def _welcomed(self, welcome: v1.Welcome, now: float) -> None:
        if self.link is not Link.JOINING:
            self._lose_link(now, "a second Welcome on one stream")
            return
        log.info("%s: joined %s", self.executor.name, welcome.node)
        self.link, self.tries = Link.UP, 0
        lease = self.lease
        lease.heartbeat, lease.length = max(1, welcome.heartbeat_ms) / 1000, max(1, welcome.lease_ms) / 1000
        lease.until, lease.count, lease.next_heartbeat = self.since + lease.length, 0, now
        self.told = [node.address for node in welcome.nodes if node.address]
        self.draining = welcome.draining
        self.back.clear()

        ours = {key_of(still.attempt): still.stored_sequence for still in welcome.still_yours}
        for record in list(self.records.values()):
            record.outbox.set_linked(True)
            stored = ours.get(record.key)
            if stored is not None:
                for sequence in [sequence for sequence in record.unacknowledged if sequence <= stored]:
                    record.acknowledge(sequence)
            elif record.phase in (Phase.QUEUED, Phase.HANDED_BACK):
                self._drop(record.key)
                continue
            elif record.runs:
                record.stop(lease_lost(), CancelStage.ASK, now + ASK_TO_TERMINATE)
            # What ended and is not ours is reported once more, so that it can be shown as finished too late.
            if say := self.say:
                record.send_again(say)
            record.flush(self.say)
        self.locks.lose(lambda key: key not in ours, self.records)
        self.locks.ask_again()
        self._let_go_of_what_is_told()
        if self.leaving:
            self._tell(draining=v1.Draining(leaving=True))
        if self.draining:
            self._hand_back_queue()

    def _refused(self, refusal: v1.Refused, now: float) -> None:
        log.warning("%s: refused: %s %s", self.executor.name, refusal.code, refusal.message_en)
        if refusal.retry_after_ms:
            self.tried += 1
            self._break_link(now + refusal.retry_after_ms / 1000)
            return
        self.refused = Refused(refusal.code, refusal.message_en, refusal.message_zh)
        self._break_link(now + 3600)
        self.leave(now, 0.0)

    # --------------------------------------------------- what a node says --

    def _hear(self, message: v1.ToExecutor, now: float) -> None:
        self.last_heard = now
        kind = message.WhichOneof("message")
        if kind is None:
            return
        said = getattr(message, kind)
        if kind == "welcome":
            self._welcomed(said, now)
        elif kind == "refused":
            self._refused(said, now)
        elif self.link is not Link.UP:
            pass  # Before Welcome a node has nothing else to say.
        elif kind == "heartbeat_ack":
            self._lease_extended(said, now)
        elif kind == "push":
            self._pushed(said)
        elif kind == "shard_data":
            self._fed(said.attempt, [(said.level, item) for item in said.items], said.last)
        elif kind == "shard_ends":
            self._fed(said.attempt, list(said.ends), said.last)
        elif kind == "withdraw":
            self._withdraw(key_of(said.attempt))
        elif kind == "cancel":
            self._cancel(key_of(said.attempt), said)
        elif kind == "ack":
            if record := self.records.get(key_of(said.attempt)):
                record.acknowledge(said.sequence)
                record.flush(self.say)
                self._let_go_of_what_is_told()
        elif kind == "forget":
            self._forget(key_of(said.attempt), now)
        elif kind == "drain":
            log.info("%s: draining: %s", self.executor.name, said.reason)
            self.draining = True
            self._tell(draining=v1.Draining(leaving=self.leaving is not None))
            self._hand_back_queue()
        elif kind == "resume":
            self.draining = False
        elif kind == "still_needed":
            hosted = self.executor.processors.get(said.processor)
            ask_still_needed(hosted, said, self.loop, lambda answer: self.post(lambda _: self._answer(answer)))
        elif kind == "locks_granted":
            self.locks.granted(said, now)
        elif kind == "locks_refused":
            self.locks.refused(said)
        elif kind == "locks_lost":
            self.locks.lost(said, self.records.get(key_of(said.attempt)))
        elif kind == "locks_left":
            self.locks.left(said)
        elif kind == "nodes":
            self.told = [node.address for node in said.nodes if node.address]

    def _answer(self, answer: v1.StillNeededAnswer) -> None:
        self._tell(still_needed_answer=answer)

    def _pushed(self, push: v1.Push) -> None:
        key = key_of(push.attempt)
        if self.ended.get(key):
            self._answer_for_unheld(key, handed_back=v1.HandedBack(reason=v1.HAND_BACK_REASON_ALREADY_ENDED))
            return
        if push.sequence_after < (self.back.get(key) or 0):
            # The push that was handed back, come again: whoever took the hand-back may have given the attempt to
            # another executor since. A new push of it shows that the hand-back was heard.
            return
        held = self.records.get(key)
        if held is not None and held.phase is not Phase.HANDED_BACK:
            # Here already. Whatever the node has not heard, it hears again.
            if not held.unacknowledged:
                self._tell(report=report(key, held.accepted, accepted=v1.Accepted()))
            if say := self.say:
                held.send_again(say)
            return
        self._drop(key)

        hosted = self.executor.processors.get(push.processor)
        reason = None
        if self.draining or self.leaving:
            reason = v1.HAND_BACK_REASON_DRAINING
        elif hosted is None or push.method not in hosted.methods:
            reason = v1.HAND_BACK_REASON_UNKNOWN_PROCESSOR
        elif self._held() >= self.executor.capacity + self.executor.queued:
            reason = v1.HAND_BACK_REASON_NO_ROOM

        outbox = Outbox(True, lambda pressing: self.post(lambda now: self._pending(key, pressing, now)))
        record = Record(push, hosted, push.sequence_after, outbox)
        self.records[key] = record
        if reason is not None:
            self._hand_back(record, reason)
            return
        record.accepted = record.report(self.say, accepted=v1.Accepted()).sequence
        self.queue.append(key)

    def _held(self) -> int:
        return sum(not record.is_over for record in self.records.values())

    def _hand_back(self, record: Record, reason: v1.HandBackReason) -> None:
        record.phase = Phase.HANDED_BACK
        record.report(self.say, handed_back=v1.HandedBack(reason=reason))
        self.back.add(record.key, record.last_sequence)
        if record.key in self.queue:
            self.queue.remove(record.key)

    def _hand_back_queue(self) -> None:
        for key in list(self.queue):
            self._hand_back(self.records[key], v1.HAND_BACK_REASON_DRAINING)

    def _fed(self, attempt: v1.AttemptRef, piece: list[Any], last: bool) -> None:
        record = self.records.get(key_of(attempt))
        if record and not record.is_over:
            record.feed.put(piece, last)

    def _withdraw(self, key: Key) -> None:
        record = self.records.get(key)
        if record is None:
            self._answer_for_unheld(key, handed_back=v1.HandedBack(reason=v1.HAND_BACK_REASON_UNKNOWN))
        elif record.phase is Phase.QUEUED:
            self._hand_back(record, v1.HAND_BACK_REASON_WITHDRAWN)
        # If it was started, Started is the answer and has been given.

    def _cancel(self, key: Key, cancel: v1.Cancel) -> None:
        stages = {
            v1.CANCEL_ASK_ASK: (CancelStage.ASK, v1.CANCEL_REACHED_ACKNOWLEDGED),
            v1.CANCEL_ASK_TERMINATE: (CancelStage.TERMINATE, v1.CANCEL_REACHED_TERMINATED),
            v1.CANCEL_ASK_KILL: (CancelStage.KILL, v1.CANCEL_REACHED_KILLED),
        }
        record = self.records.get(key)
        if record is None:
            self._answer_for_unheld(key, cancel_stage=v1.CancelStage(reached=v1.CANCEL_REACHED_GONE))
        elif cancel.ask not in stages:
            pass
        elif record.phase is Phase.QUEUED:
            record.phase = Phase.ENDED
            self.queue.remove(key)
            record.report(self.say, cancel_stage=v1.CancelStage(reached=v1.CANCEL_REACHED_ACKNOWLEDGED))
            message = cut(f"before it was started: {cancel.reason}", 8 * 1024)
            record.report(self.say, finished=v1.Finished(cancelled=v1.Cancelled(message=message)))
        elif record.runs:
            stage, reached = stages[cancel.ask]
            if stage > record.ending.stage:
                record.report(self.say, cancel_stage=v1.CancelStage(reached=reached))
                record.ending.reach(stage)
        # The end of what is over is under way already, and says more.

    def _let_go_of_what_is_told(self) -> None:
        """Drops what is over and acknowledged, and remembers that it ended here."""
        for record in [record for record in self.records.values() if record.is_over and not record.unacknowledged]:
            if record.phase is Phase.ENDED:
                self.ended.add(record.key)
            self._drop(record.key)

    def _forget(self, key: Key, now: float) -> None:
        self.locks.lose(lambda of: of == key, self.records)
        record = self.records.get(key)
        if record is None:
            return
        if record.runs:
            record.stop(lease_lost(), CancelStage.ASK, now + ASK_TO_TERMINATE)
            return
        if record.phase is Phase.ENDED:
            self.ended.add(key)
        self._drop(key)

    def _answer_for_unheld(self, key: Key, **what: Any) -> None:
        self._tell(report=report(key, 0, **what))

    # ------------------------------------------------------------ running --

    def _start_what_may(self, now: float) -> None:
        """Starts what waits and has what it needs, while there is a lease and room."""
        if self.lease.until is None or self.lease.until <= now or self.leaving:
            return
        free = self.executor.capacity - sum(record.runs for record in self.records.values())
        for key in list(self.queue):
            if free <= 0:
                return
            record = self.records[key]
            if not record.feed.begun:
                continue
            free -= 1
            self.queue.remove(key)
            record.phase = Phase.RUNNING
            record.report(self.say, started=v1.Started())
            door = self._door(key)
            Run(record, self.executor, self.loop, door, lambda run: self.post(lambda _: self._finish(run))).start()

    def _door(self, key: Key) -> Door:
        def take(now: float, claim: Claim) -> None:
            has_lease = self.lease.until is not None and self.lease.until > now
            self.locks.take(self.records.get(key), key, claim, has_lease)

        return Door(
            lambda claim: self.post(lambda now: take(now, claim)),
            lambda claim: self.post(lambda _: self.locks.leave(key, claim)),
        )

    def _finish(self, run: Run) -> None:
        record = run.record
        self.locks.forget(record.key)
        record.phase = Phase.ENDED
        verdict = run.verdict()
        record.outbox.close()
        record.flush(self.say)
        record.report(self.say, finished=verdict)

    def _pending(self, key: Key, pressing: bool, now: float) -> None:
        """An attempt has something to say, soon or now."""
        record = self.records.get(key)
        if record is None:
            return
        if pressing:
            record.flush(self.say)
        elif self.flush_at is None:
            self.flush_at = now + FLUSH_EVERY

    # ------------------------------------------------------------ leaving --

    def leave(self, now: float, limit: float) -> None:
        if self.leaving:
            self.leaving.finish_by = min(self.leaving.finish_by, now + limit)
            self.leaving.give_up = self.leaving.finish_by + 2 * LEAVE_STEP
            return
        self.leaving = Leaving(finish_by=now + limit, give_up=now + limit + 2 * LEAVE_STEP)
        self._tell(draining=v1.Draining(leaving=True))
        self._hand_back_queue()

    def _go_on_leaving(self, now: float) -> None:
        leaving = self.leaving
        if leaving is None:
            return
        running = [record for record in self.records.values() if record.runs]
        if not running and leaving.report_by is None:
            leaving.report_by = now + LEAVE_STEP
        if leaving.finish_by <= now and not leaving.stopped:
            leaving.stopped, leaving.kill_at = True, now + LEAVE_STEP
            for record in running:
                record.stop(executor_left(), CancelStage.TERMINATE, now + LEAVE_STEP)
        if leaving.kill_at is not None and leaving.kill_at <= now:
            leaving.kill_at = None
            for record in running:
                record.ending.reach(CancelStage.KILL)

    def _may_leave(self, now: float) -> Left | None:
        """What is left behind, once it is time to go."""
        leaving = self.leaving
        if leaving is None:
            return None
        left = Left(
            unfinished=sum(record.runs for record in self.records.values()),
            unreported=sum(bool(record.unacknowledged) for record in self.records.values()),
        )
        deadline = leaving.give_up if leaving.report_by is None else leaving.report_by
        if deadline <= now or (self.refused and not left.unfinished):
            return left
        if left.unfinished or left.unreported:
            return None
        if self.link is not Link.UP:
            return left  # Nothing to say and nobody to say it to.
        if leaving.gone_by is None:
            leaving.gone_by = now + GOODBYE_WITHIN
            self._tell(goodbye=v1.Goodbye())
        # The node closes the stream when it has read it, which breaks the link.
        return left if leaving.gone_by <= now else None
