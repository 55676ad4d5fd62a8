"""An executor: processors under one name, made and then run."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from types import FrameType

from campanile._processor import Processor, ShardingProcessor, check
from campanile._secrets import key_of
from campanile._session import Left, Session
from campanile._wire import TLS

VERSION = "python/0.1.0"


class Executor:
    """Hosts processors and holds one stream to a node.

    `nodes` are addresses (host:port) to begin with; any one will do, since each node tells of the others. `name` is
    unique among the live executors of the group, and the host's name unless given. `capacity` is how many attempts run
    at once (twice the cores unless given), `queued` how many more may wait here (as many again). `labels` are what
    jobs with the route label match. `token` admits the executor to its group, where the node asks for one. `secret_key`
    opens the secrets of the group and is the same for all of its executors (`read_secret_key`); without it a task that
    names a secret is refused.

    `time_to_leave` is how many seconds what runs may go on once the executor is to shut down; after it processors are
    asked to end.
    """

    sdk_version = VERSION

    def __init__(
        self,
        group: str,
        *,
        nodes: Iterable[str],
        processors: Iterable[Processor | ShardingProcessor],
        name: str = "",
        capacity: int = 0,
        queued: int | None = None,
        labels: Mapping[str, str] | None = None,
        token: str = "",
        secret_key: str = "",
        tls: TLS | None = None,
        time_to_leave: float = 30.0,
    ) -> None:
        self.group = group
        self.name = name or socket.gethostname()
        self.nodes = [nodes] if isinstance(nodes, str) else list(nodes)
        self.labels = dict(labels or {})
        self.token = token
        self.tls = tls
        self.capacity = capacity or 2 * (os.cpu_count() or 1)
        self.queued = self.capacity if queued is None else queued
        self.time_to_leave = time_to_leave
        self.boot_id = uuid.uuid4().hex
        self.key = key_of(secret_key)
        self.processors: dict[str, Processor | ShardingProcessor] = {}
        for processor in processors:
            check(processor)
            if processor.info.name in self.processors:
                raise ValueError(f"two processors are named {processor.info.name}")
            self.processors[processor.info.name] = processor
        if not group or not self.name:
            raise ValueError("an executor needs a group and a name")
        if not self.nodes:
            raise ValueError("an executor needs the address of a node")
        if not self.processors:
            raise ValueError("an executor needs at least one processor")
        if self.capacity < 1 or self.queued < 0:
            raise ValueError("the capacity must be at least 1, and the queue at least 0")
        self._session = Session(self)
        self._thread: threading.Thread | None = None
        self._left: Left | None = None
        self._error: BaseException | None = None

    def run(self) -> Left:
        """Runs until SIGINT or SIGTERM, or until `stop` is called, and what runs has ended or its time is over.

        Connects, and connects again whenever the stream breaks; what runs goes on meanwhile. A second signal leaves
        without waiting. Raises `Refused` when a node will not have this executor.
        """
        self.start()
        main = threading.current_thread() is threading.main_thread()
        before = {which: signal.signal(which, self._told_to_end) for which in _SIGNALS} if main else {}
        try:
            return self.wait()
        finally:
            for which, handler in before.items():
                signal.signal(which, handler)

    def start(self) -> None:
        """As `run`, in threads of its own; `stop` and `wait` end it. An executor is started once."""
        if self._thread is not None:
            raise RuntimeError("the executor was started already")
        self._thread = threading.Thread(target=self._live, name="campanile-session", daemon=True)
        self._thread.start()

    def stop(self, time_to_leave: float | None = None) -> None:
        """Takes nothing new, hands back what waits, finishes what runs within its time. Does not wait for it."""
        limit = self.time_to_leave if time_to_leave is None else time_to_leave
        self._session.post(lambda now: self._session.leave(now, limit))

    def wait(self, seconds: float | None = None) -> Left:
        """Waits for the end, and says what was left behind."""
        if self._thread is None:
            raise RuntimeError("the executor was not started")
        until = None if seconds is None else time.monotonic() + seconds
        # In steps, so that a signal is answered on every system.
        while self._thread.is_alive() and (until is None or time.monotonic() < until):
            self._thread.join(1.0 if until is None else min(1.0, max(0.0, until - time.monotonic())))
        if self._thread.is_alive():
            raise TimeoutError("the executor has not ended yet")
        if self._error is not None:
            raise self._error
        assert self._left is not None
        return self._left

    def set_capacity(self, running: int) -> None:
        """Changes how many attempts run at once. Lowering it stops nothing."""
        self.capacity = max(1, running)
        self._session.post(self._session.say_capacity)

    def _live(self) -> None:
        try:
            self._left = self._session.run()
        except BaseException as error:  # told by `wait`, to whoever waits
            self._error = error

    def _told_to_end(self, _which: int, _frame: FrameType | None) -> None:
        again = self._session.leaving is not None
        self.stop(0.0 if again else None)


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
