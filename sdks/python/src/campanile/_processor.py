"""What a processor is: a name, a description from which a form is made, and the work itself."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from campanile._sharding import Notice, Stream
from campanile._task import Task
from campanile.executor.v1 import executor_pb2 as v1

Words = str | tuple[str, str]


@dataclass(frozen=True)
class Question:
    """What `still_needed` is asked about."""

    parameters: dict[str, Any]
    job: str
    instance_id: str
    planned: datetime
    due: datetime


@dataclass(frozen=True)
class Info:
    """What people see of a processor. Words are a text, or a pair of texts in English and Chinese."""

    name: str
    title: Words = ""
    description: Words = ""
    parameters: dict[str, Any] | None = None
    """A JSON Schema of an object, from which the console makes its form. Beside the standard words it may say
    "title:zh", "description:zh" and "x-order", and "format" one of command, multiline, duration, connection."""
    stop_without_lease: bool = False
    """What runs is stopped when the executor loses its lease, rather than going on."""


class Processor:
    """Work of one kind; one serves many tasks at once. Made by the decorator `processor`; calling it calls the work."""

    def __init__(self, work: Callable[..., Any], info: Info, still_needed: Callable[..., Any] | None) -> None:
        self.info = info
        self._work = work
        self.still_needed = still_needed
        self.methods: dict[v1.Method, Callable[..., Any]] = {v1.METHOD_PROCESS: work}
        self.kind = v1.PROCESSOR_KIND_UNICAST

    def __call__(self, task: Task) -> Any:
        return self._work(task)


def processor(
    name: str,
    *,
    title: Words = "",
    description: Words = "",
    parameters: dict[str, Any] | None = None,
    stop_without_lease: bool = False,
    still_needed: Callable[[Question], Any] | None = None,
) -> Callable[[Callable[[Task], Any]], Processor]:
    """Makes a processor of a function, which may be `async`.

    The result, at most 64 KiB as JSON, is kept and handed to the jobs that run after this one. Raise `Transient`,
    `Business` or `System` to say whether another try is worth it; of any other exception the job's rules decide.

    A plain function runs in a thread of its own. An `async` one shares one event loop with the others, apart from the
    executor's own work: it must not block.

    The same task may come again as a later attempt, after a failure as well as after the loss of an executor that had
    done it: `task.idempotency_key` is the same each time.
    """
    info = Info(name, title, description, parameters, stop_without_lease)
    return lambda work: Processor(work, info, still_needed)


class ShardingProcessor:
    """Work that is cut into shards, which run at many executors.

    A subclass sets `info` and has `sharding_process`; the other three are there where it has them. Each may be `async`.

        def pre_process(self, task, items): ...
            Once, at one executor, before anything else. What it returns or yields, pairs of (level, value) in order,
            takes the place of what the job has; None keeps that.
        def notify(self, task, notice): ...
            When progress has grown by the job's notifyStep. Its failure fails nothing.
        def post_process(self, task, ends): ...
            Once all shards are final, failed ones included; not after a cancel.
    """

    info: Info
    still_needed: Callable[..., Any] | None = None
    kind = v1.PROCESSOR_KIND_SHARDING

    def sharding_process(self, task: Task, items: Stream) -> Any:
        """The work of one shard (`task.shard`).

        Outcomes of single items are reported by `task.item`; an item that was reported is not handed out again when
        the shard is retried. Without any, the shard is judged by what this returns.
        """
        raise NotImplementedError

    @property
    def methods(self) -> dict[v1.Method, Callable[..., Any]]:
        named = {
            v1.METHOD_PRE_PROCESS: "pre_process",
            v1.METHOD_SHARDING_PROCESS: "sharding_process",
            v1.METHOD_NOTIFY: "notify",
            v1.METHOD_POST_PROCESS: "post_process",
        }
        return {method: getattr(self, name) for method, name in named.items() if hasattr(self, name)}


def check(hosted: Processor | ShardingProcessor) -> None:
    if not isinstance(hosted, (Processor, ShardingProcessor)):
        raise TypeError(f"{hosted!r} is no processor: decorate it with @campanile.processor(name)")
    if not hosted.info.name:
        raise ValueError("a processor needs a name")
    schema = hosted.info.parameters
    if schema is not None and not isinstance(schema, dict):
        raise ValueError(f"the parameter schema of processor {hosted.info.name} is not a JSON object")
    if isinstance(hosted, ShardingProcessor) and type(hosted).sharding_process is ShardingProcessor.sharding_process:
        raise TypeError(f"processor {hosted.info.name} has no sharding_process")


def registered(hosted: Processor | ShardingProcessor) -> v1.Processor:
    info = hosted.info
    title_en, title_zh = _both(info.title or info.name)
    description_en, description_zh = _both(info.description)
    return v1.Processor(
        name=info.name,
        title_en=title_en,
        title_zh=title_zh,
        description_en=description_en,
        description_zh=description_zh,
        parameter_schema_json=json.dumps(info.parameters or {"type": "object"}, ensure_ascii=False),
        kind=hosted.kind,
        methods=sorted(hosted.methods),
        stop_without_lease=info.stop_without_lease,
        answers_still_needed=hosted.still_needed is not None,
    )


def _both(words: Words) -> tuple[str, str]:
    return (words, words) if isinstance(words, str) else words


def arguments(method: int, task: Task, push: v1.Push, stream: Callable[[], Stream]) -> tuple[Any, ...]:
    """What a method is called with."""
    if method == v1.METHOD_PROCESS:
        return (task,)
    if method == v1.METHOD_NOTIFY:
        notice = push.notice
        return task, Notice(notice.items_done, notice.items_total, notice.percent)
    return task, stream()


def is_async(work: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(work) or inspect.isasyncgenfunction(work)
