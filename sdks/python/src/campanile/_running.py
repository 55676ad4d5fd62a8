"""How an attempt is run to its end, whatever end that is, outside of the session's loop."""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import inspect
import json
import threading
import traceback
from collections.abc import Callable, Coroutine
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from campanile._failure import (
    Business,
    Failure,
    Killed,
    as_failure,
    cancelled_unasked,
    cut,
    finished,
    incomplete,
    parameters_refused,
    result_too_large,
)
from campanile._processor import Processor, Question, ShardingProcessor, arguments, is_async
from campanile._secrets import MARK, fill_in, masking, unsealed
from campanile._sharding import NewData, Stream, as_json, read_end, read_item
from campanile._task import CancelStage, Task, current, is_cancellation
from campanile.executor.v1 import executor_pb2 as v1

if TYPE_CHECKING:
    from campanile._executor import Executor
    from campanile._locks import Door
    from campanile._record import Record

MAX_RESULT_BYTES = 64 * 1024
ANSWER_WITHIN = 2.0


class Loop:
    """The event loop of `async` processors, in a thread of its own, made when the first of them runs."""

    def __init__(self) -> None:
        self._making = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Any:
        with self._making:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="campanile-async", daemon=True).start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def end(self) -> None:
        with self._making:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)


class Run:
    """One attempt from its start to what is told of its end."""

    def __init__(
        self, record: Record, executor: Executor, loop: Loop, door: Door, ended: Callable[[Run], None]
    ) -> None:
        self.record = record
        self.task = Task(record.push, record.outbox, record.ending, executor.name, executor.boot_id, door)
        self._key = executor.key
        self._loop = loop
        self._ended = ended
        self._result: Any = None
        self._error: BaseException | None = None
        # While this is set the processor's own code runs in that thread, and may be interrupted.
        self._inside: int | None = None
        self._guard = threading.Lock()

    def start(self) -> None:
        work = self.record.hosted.methods[self.record.push.method]
        if is_async(work):
            self._loop.spawn(self._see_through_async(work))
            return
        self.record.ending.on_reach = self._interrupt
        threading.Thread(target=self._see_through, args=(work,), name=f"task-{self.task.id}", daemon=True).start()

    # ---------------------------------------------------------- in a thread --

    def _see_through(self, work: Callable[..., Any]) -> None:
        try:
            try:
                current.set(self.task)
                self._prepare()
                given = self._arguments()
                with self._guard:
                    self._inside = threading.get_ident()
                if self.record.ending.stage >= CancelStage.KILL:
                    raise Killed
                self._result = self._take(work(*given))
            finally:
                with self._guard:
                    self._inside = None
        except BaseException as error:  # whatever it is, it is the end of this attempt and of nothing else
            self._error = error
            self._tell_trace(error)
        self._ended(self)

    def _interrupt(self, stage: CancelStage) -> None:
        if stage < CancelStage.KILL:
            return
        with self._guard:
            if self._inside is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._inside), ctypes.py_object(Killed))

    def _take(self, result: Any) -> Any:
        """What a method gave; of PRE_PROCESS the new data is sent on as it comes."""
        if self.record.push.method != v1.METHOD_PRE_PROCESS or result is None:
            return result
        data = self._new_data()
        for level, value in result:
            data.add(level, value)
        data.end()
        return None

    # ---------------------------------------------------------- in the loop --

    async def _see_through_async(self, work: Callable[..., Any]) -> None:
        running = asyncio.create_task(self._work_async(work))
        loop, ending = asyncio.get_running_loop(), self.record.ending

        # asyncio's own way: CancelledError at the next await, once for each stage.
        def ask(_stage: CancelStage) -> None:
            loop.call_soon_threadsafe(running.cancel)

        ending.on_reach = ask
        if ending.stage > CancelStage.NONE:
            running.cancel()
        await asyncio.wait({running})
        self._error = asyncio.CancelledError("asked to end") if running.cancelled() else running.exception()
        if self._error is not None:
            self._tell_trace(self._error)
        self._ended(self)

    async def _work_async(self, work: Callable[..., Any]) -> None:
        current.set(self.task)
        self._prepare()
        if not inspect.isasyncgenfunction(work):
            result = await work(*self._arguments())
            if self.record.push.method == v1.METHOD_PRE_PROCESS:
                result = await asyncio.to_thread(self._take, result)
            self._result = result
            return
        data = self._new_data()
        async for level, value in work(*self._arguments()):
            await asyncio.to_thread(data.add, level, value)
        await asyncio.to_thread(data.end)

    # --------------------------------------------------------------- both --

    def _prepare(self) -> None:
        """Reads the parameters and fills in their secrets."""
        push, task = self.record.push, self.task
        try:
            parameters = json.loads(push.parameters_json or "{}")
        except ValueError as error:
            raise parameters_refused(".", str(error)) from None
        if not isinstance(parameters, dict):
            raise parameters_refused(".", "it is not an object")
        if MARK.search(push.parameters_json):
            secrets = unsealed(self._key, push.secrets)
            task._masked = masking(secrets)
            parameters = fill_in(parameters, secrets)
        task.parameters = parameters

    def _arguments(self) -> tuple[Any, ...]:
        push = self.record.push
        read = read_end if push.method == v1.METHOD_POST_PROCESS else read_item
        return arguments(push.method, self.task, push, lambda: Stream(self.record.feed, self._is_asked, read))

    def _is_asked(self) -> bool:
        return self.task.cancelled

    def _new_data(self) -> NewData:
        return NewData(self.record.outbox, self._is_asked)

    def _tell_trace(self, error: BaseException) -> None:
        """The trace of what nobody foresaw is for the task's log."""
        if not isinstance(error, Failure) and not is_cancellation(error):
            self.task.log("".join(traceback.format_exception(error)))

    def verdict(self) -> v1.Finished:
        """What the node is told of the end."""
        record, error, masked = self.record, self._error, self.task._masked
        asked = record.ending.stage > CancelStage.NONE
        if record.feed.broken and not asked:
            return finished(incomplete(), masked)
        if error is None:
            return succeeded(self._result, masked)
        if not is_cancellation(error):
            return finished(as_failure(error), masked)
        if record.why_stopping is not None:
            return finished(record.why_stopping, masked)
        if asked:
            message = "killed" if isinstance(error, Killed) else str(error)
            return v1.Finished(cancelled=v1.Cancelled(message=cut(masked(message), 8 * 1024)))
        return finished(cancelled_unasked(), masked)


def succeeded(result: Any, masked: Callable[[str], str]) -> v1.Finished:
    try:
        text = masked(as_json(result))
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        return finished(Business("result_not_json", f"the result is not JSON: {error}"), masked)
    if size > MAX_RESULT_BYTES:
        return finished(result_too_large(size, MAX_RESULT_BYTES), masked)
    return v1.Finished(succeeded=v1.Succeeded(result_json=text))


def ask_still_needed(
    hosted: Processor | ShardingProcessor | None,
    question: v1.StillNeeded,
    loop: Loop,
    answer: Callable[[v1.StillNeededAnswer], None],
) -> None:
    """Asks in a thread and answers once; an error or no answer in time counts as yes."""
    first = threading.Lock()

    def say(needed: bool, message: str) -> None:
        if first.acquire(blocking=False):
            message = cut(message, 2 * 1024)
            answer(v1.StillNeededAnswer(question_id=question.question_id, needed=needed, message=message))

    work = None if hosted is None else hosted.still_needed
    if work is None:
        say(True, "no such processor here")
        return
    late = threading.Timer(ANSWER_WITHIN, say, (True, "no answer in time"))
    late.daemon = True
    late.start()

    def ask() -> None:
        try:
            context = question.context
            asked = Question(
                parameters=json.loads(question.parameters_json or "{}"),
                job=context.job,
                instance_id=context.instance_id,
                planned=datetime.fromtimestamp(context.planned_ms / 1000, timezone.utc),
                due=datetime.fromtimestamp(context.due_ms / 1000, timezone.utc),
            )
            needed = loop.spawn(work(asked)).result(ANSWER_WITHIN) if is_async(work) else work(asked)
            say(bool(needed), "")
        except BaseException as error:  # doubt means yes, whatever it is
            say(True, f"{type(error).__name__}: {error}")
        finally:
            late.cancel()

    threading.Thread(target=contextvars.copy_context().run, args=(ask,), daemon=True).start()
