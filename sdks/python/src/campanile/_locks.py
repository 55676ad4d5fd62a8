"""Locks: one holder at a time, among all executors of the node's team."""

from __future__ import annotations

import asyncio
import enum
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from campanile._failure import (
    Business,
    Cancelled,
    Failure,
    System,
    Transient,
    lock_lost,
    lock_not_held,
    locks_unavailable,
)
from campanile._record import Key, Record, attempt_ref, key_of
from campanile.executor.v1 import executor_pb2 as v1

# How long one waits for a lock who does not say, in seconds.
PATIENCE = 30.0
# A node answers in its own time; so long after what was to wait for.
ANSWER_WITHIN = 15.0


class Stage(enum.Enum):
    ASKED = 0
    HELD = 1
    REFUSED = 2
    LOST = 3
    LEFT = 4


class Claim:
    """One ask, as the attempt and its executor both see it."""

    def __init__(self, number: int, names: list[str], wait: float, lease: float | None) -> None:
        self.number = number
        self.names = names
        self.give_up_at = time.monotonic() + wait
        self.lease = lease
        self.stage = Stage.ASKED
        self.why: Failure | None = None
        self.tokens: dict[str, int] = {}
        self.lost: set[str] = set()
        self.until: float | None = None
        self.leaving = False
        self._moved = threading.Condition()
        self._told: list[Callable[[], None]] = []

    def reach(self, stage: Stage, change: Callable[[], None] | None = None) -> None:
        """Goes on to `stage`; from an end it goes nowhere."""
        with self._moved:
            if self.stage in (Stage.REFUSED, Stage.LOST, Stage.LEFT):
                return
            if change:
                change()
            self.stage = stage
            self._moved.notify_all()
            told = list(self._told)
        for tell in told:
            tell()

    def grant(self, tokens: dict[str, int], until: float | None) -> None:
        # Told again, it is what it was.
        if self.stage is Stage.ASKED:
            self.reach(Stage.HELD, lambda: self.__dict__.update(tokens=tokens, until=until))

    def lose(self, names: list[str]) -> bool:
        """True: nothing of it is held any more."""
        gone = self.lost.union(names)
        everything = self.stage is not Stage.HELD or gone.issuperset(self.tokens)
        self.reach(Stage.LOST if everything else Stage.HELD, lambda: self.__dict__.update(lost=gone))
        return everything

    @property
    def is_lost(self) -> bool:
        if self.stage is Stage.HELD:
            return bool(self.lost) or (self.until is not None and self.until <= time.monotonic())
        return self.stage is Stage.LOST

    def wait(self, over: Callable[[], bool], seconds: float, is_asked: Callable[[], bool]) -> bool:
        """False when it took longer, or when somebody asked for the end of the attempt."""
        until = time.monotonic() + seconds
        with self._moved:
            while not over():
                left = until - time.monotonic()
                if left <= 0 or is_asked():
                    return False
                # Woken now and then, so that a processor that is to end can.
                self._moved.wait(min(left, 0.1))
            return True

    async def wait_async(self, over: Callable[[], bool], seconds: float) -> bool:
        loop, moved = asyncio.get_running_loop(), asyncio.Event()

        def tell() -> None:
            loop.call_soon_threadsafe(moved.set)

        with self._moved:
            self._told.append(tell)
        try:
            until = loop.time() + seconds
            while not over():
                moved.clear()
                if over():
                    break
                try:
                    await asyncio.wait_for(moved.wait(), until - loop.time())
                except (TimeoutError, asyncio.TimeoutError):
                    return over()
            return True
        finally:
            self._told.remove(tell)


class Door:
    """The way from an attempt to its executor."""

    def __init__(self, take: Callable[[Claim], None], leave: Callable[[Claim], None]) -> None:
        self.take = take
        self.leave = leave
        self._next = 0
        self._counting = threading.Lock()

    def number(self) -> int:
        with self._counting:
            self._next += 1
            return self._next


class Lock:
    """A lock, or several, that a task takes by `with` (or `async with`) and leaves at its end.

    A task may take a lock that it holds once more. A lock that is lost cancels the task; what must never be written
    twice shows the `token` where it is written, and is refused there where a greater one has been shown.
    """

    def __init__(
        self, door: Door, names: list[str], wait: float, lease: float | None, is_asked: Callable[[], bool]
    ) -> None:
        self._door = door
        self._names = names
        self._wait = wait
        self._lease = lease
        self._is_asked = is_asked
        self._claim: Claim | None = None

    @property
    def token(self) -> int:
        """The fencing token: greater than that of every holding before. Of several, that of the first by name."""
        tokens = self.tokens
        return tokens[min(tokens)] if tokens else 0

    @property
    def tokens(self) -> dict[str, int]:
        return dict(self._claim.tokens) if self._claim else {}

    @property
    def lost(self) -> bool:
        """One of them is not held any more. The task is cancelled by then, or is about to be."""
        return self._claim is not None and self._claim.is_lost

    def acquire(self) -> Lock:
        """Raises `Transient` when it was not to be had in time, and `Cancelled` when the task is to end meanwhile."""
        claim = self._ask()
        try:
            answered = claim.wait(lambda: claim.stage is not Stage.ASKED, self._wait + ANSWER_WITHIN, self._is_asked)
        except BaseException:
            self._door.leave(claim)
            raise
        if not answered and self._is_asked():
            self._door.leave(claim)
            raise Cancelled("asked to end while it waited for a lock")
        return self._have(claim)

    async def acquire_async(self) -> Lock:
        claim = self._ask()
        try:
            await claim.wait_async(lambda: claim.stage is not Stage.ASKED, self._wait + ANSWER_WITHIN)
        except BaseException:
            self._door.leave(claim)
            raise
        return self._have(claim)

    def release(self) -> None:
        """Leaves what was taken and waits until it is left. Raises `Transient` where it was not held any more."""
        claim, was_lost = self._let_go()
        over = claim.wait(lambda: claim.stage in (Stage.LEFT, Stage.LOST), ANSWER_WITHIN, lambda: False)
        self._left(claim, over, was_lost)

    async def release_async(self) -> None:
        claim, was_lost = self._let_go()
        over = await claim.wait_async(lambda: claim.stage in (Stage.LEFT, Stage.LOST), ANSWER_WITHIN)
        self._left(claim, over, was_lost)

    def _ask(self) -> Claim:
        if self._claim is not None:
            raise RuntimeError("this lock was taken already; take it anew with task.lock")
        self._claim = Claim(self._door.number(), self._names, self._wait, self._lease)
        self._door.take(self._claim)
        return self._claim

    def _have(self, claim: Claim) -> Lock:
        if claim.stage is Stage.HELD:
            return self
        self._door.leave(claim)
        if claim.stage is Stage.LOST:
            raise lock_lost()  # before it was told that it had it
        raise claim.why or locks_unavailable("the node did not answer", "节点没有应答")

    def _let_go(self) -> tuple[Claim, bool]:
        claim = self._claim
        if claim is None or claim.leaving:
            raise lock_not_held(self._names[0])
        was_lost, claim.leaving = claim.is_lost, True
        self._door.leave(claim)
        return claim, was_lost

    def _left(self, claim: Claim, over: bool, was_lost: bool) -> None:
        if not over:
            raise locks_unavailable("the node did not answer", "节点没有应答")
        if was_lost or claim.stage is Stage.LOST:
            raise lock_not_held(self._names[0])

    def __enter__(self) -> Lock:
        return self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self._claim_is_leaving():
            self.release()
        elif self._claim:
            # What went wrong says more than whether the lock was held.
            self._door.leave(self._claim)

    async def __aenter__(self) -> Lock:
        return await self.acquire_async()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and not self._claim_is_leaving():
            await self.release_async()
        elif self._claim:
            self._door.leave(self._claim)

    def _claim_is_leaving(self) -> bool:
        return self._claim is None or self._claim.leaving


class LockBook:
    """What the attempts of one executor hold and wait for. Only the session's own thread touches it."""

    def __init__(self, tell: Callable[..., None]) -> None:
        self._tell = tell
        # Each with whether it is to be left.
        self._claims: dict[tuple[Key, int], tuple[Claim, bool]] = {}

    def take(self, record: Record | None, key: Key, claim: Claim, has_lease: bool) -> None:
        if record is None or not record.runs or not has_lease:
            self._refuse(claim)
            return
        self._claims[key, claim.number] = (claim, False)
        self._ask(key, claim)

    def leave(self, key: Key, claim: Claim) -> None:
        known, leaving = self._claims.get((key, claim.number), (None, True))
        if known is not None and not leaving:
            self._claims[key, claim.number] = (claim, True)
            self._tell(leave_locks=v1.LeaveLocks(attempt=attempt_ref(key), ask=claim.number))

    def granted(self, granted: v1.LocksGranted, now: float) -> None:
        claim, _ = self._claims.get((key_of(granted.attempt), granted.ask), (None, False))
        if claim:
            until = now + granted.left_ms / 1000 if granted.HasField("left_ms") else None
            claim.grant({held.name: held.token for held in granted.locks}, until)

    def refused(self, refused: v1.LocksRefused) -> None:
        claim, _ = self._claims.pop((key_of(refused.attempt), refused.ask), (None, False))
        if claim:
            kinds = {v1.FAILURE_CLASS_BUSINESS: Business, v1.FAILURE_CLASS_SYSTEM: System}
            why = refused.why
            kind = kinds.get(getattr(why, "class"), Transient)
            self._refuse(claim, kind(why.code, why.message_en, zh=why.message_zh))

    def lost(self, lost: v1.LocksLost, record: Record | None) -> None:
        place = key_of(lost.attempt), lost.ask
        claim, leaving = self._claims.get(place, (None, False))
        if claim is None:
            return
        if claim.lose(list(lost.names)):
            del self._claims[place]
        if record is not None and not leaving:
            without_its_lock(record)

    def left(self, left: v1.LocksLeft) -> None:
        claim, _ = self._claims.pop((key_of(left.attempt), left.ask), (None, False))
        if claim:
            claim.reach(Stage.LEFT)

    def ask_again(self) -> None:
        """After Welcome: what is not over is asked again, and left again."""
        for (key, number), (claim, leaving) in self._claims.items():
            self._ask(key, claim)
            if leaving:
                self._tell(leave_locks=v1.LeaveLocks(attempt=attempt_ref(key), ask=number))

    def forget(self, key: Key) -> None:
        """With the attempt the node leaves what it held."""
        for _, claim, _ in self._pop(lambda of: of == key):
            claim.reach(Stage.LEFT)

    def lose(self, of: Callable[[Key], bool], records: dict[Key, Record]) -> None:
        """What these attempts held is another's, or may be."""
        for key, claim, leaving in self._pop(of):
            # For a node that still counts it as ours.
            self._tell(leave_locks=v1.LeaveLocks(attempt=attempt_ref(key), ask=claim.number))
            if claim.stage is not Stage.HELD:
                self._refuse(claim)
                continue
            claim.reach(Stage.LOST)
            if not leaving and key in records:
                without_its_lock(records[key])

    def _pop(self, of: Callable[[Key], bool]) -> list[tuple[Key, Claim, bool]]:
        places = [place for place in self._claims if of(place[0])]
        return [(place[0], *self._claims.pop(place)) for place in places]

    def _refuse(self, claim: Claim, why: Failure | None = None) -> None:
        why = why or locks_unavailable("the executor has no lease", "执行器没有租约")
        claim.reach(Stage.REFUSED, lambda: self._set_why(claim, why))

    @staticmethod
    def _set_why(claim: Claim, why: Failure) -> None:
        claim.why = why

    def _ask(self, key: Key, claim: Claim) -> None:
        wait = max(0.0, claim.give_up_at - time.monotonic())
        more: dict[str, Any] = {} if claim.lease is None else {"lease_ms": max(1, round(claim.lease * 1000))}
        held = claim.tokens.items() if claim.stage is Stage.HELD else ()
        still = [v1.HeldLock(name=name, token=token) for name, token in held if name not in claim.lost]
        ask = v1.AskLocks(
            attempt=attempt_ref(key),
            ask=claim.number,
            names=claim.names,
            wait_ms=round(wait * 1000),
            held=still,
            **more,
        )
        self._tell(ask_locks=ask)


def without_its_lock(record: Record) -> None:
    if record.runs:
        record.ask_to_end(lock_lost())
