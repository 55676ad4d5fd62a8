"""A node that does what the test says, over real gRPC: it acknowledges heartbeats, and nothing else unless told."""

from __future__ import annotations

import queue
import threading
from concurrent import futures

import grpc
import pytest

import campanile
from campanile.executor.v1 import executor_pb2 as v1

PATIENCE = 20
LEASE_MS = 1500


def ref(task: str) -> v1.AttemptRef:
    return v1.AttemptRef(task_id=task, attempt=1)


class Stream:
    def __init__(self) -> None:
        self.said: queue.Queue[v1.FromExecutor | None] = queue.Queue()
        self.to_tell: queue.Queue[v1.ToExecutor | None] = queue.Queue()
        self.silent = False
        self.register = v1.Register()

    def tell(self, **message) -> None:
        self.to_tell.put(v1.ToExecutor(**message))

    def hang_up(self) -> None:
        self.to_tell.put(None)

    def next(self) -> v1.FromExecutor:
        message = self.said.get(timeout=PATIENCE)
        assert message is not None, "the stream is over"
        return message

    def welcome(self, *still: tuple[str, int]) -> None:
        yours = [v1.StillYours(attempt=ref(task), stored_sequence=stored) for task, stored in still]
        self.tell(
            welcome=v1.Welcome(protocol_version=1, node="n", heartbeat_ms=40, lease_ms=LEASE_MS, still_yours=yours)
        )

    def push(self, task: str, processor: str, parameters: str = "{}", **more) -> None:
        more.setdefault("method", v1.METHOD_PROCESS)
        context = v1.Context(job="job", instance_id="i")
        push = v1.Push(
            attempt=ref(task),
            processor=processor,
            parameters_json=parameters,
            idempotency_key=f"key-{task}",
            context=context,
            **more,
        )
        self.tell(push=push)

    def ask(self, task: str, ask: v1.CancelAsk) -> None:
        self.tell(cancel=v1.Cancel(attempt=ref(task), ask=ask, reason="mei"))

    def withdraw(self, task: str) -> None:
        self.tell(withdraw=v1.Withdraw(attempt=ref(task)))

    def ack(self, report: v1.Report) -> None:
        if report.sequence and not report.HasField("progress"):
            self.tell(ack=v1.Ack(attempt=report.attempt, sequence=report.sequence))

    def report(self, *, acknowledge: bool = True) -> v1.Report:
        message = self.next()
        assert message.HasField("report"), message
        if acknowledge:
            self.ack(message.report)
        return message.report

    def hears(self, *want: str, acknowledge: bool = True) -> None:
        """The next reports, in words."""
        for words in want:
            assert in_words(self.report(acknowledge=acknowledge)) == words


def in_words(report: v1.Report) -> str:
    kind = report.WhichOneof("what")
    what = getattr(report, kind)
    if kind == "handed_back":
        said = "back " + v1.HandBackReason.Name(what.reason).removeprefix("HAND_BACK_REASON_")
    elif kind == "progress":
        said = f"progress {what.percent:g} {what.message}"
    elif kind == "items":
        said = "items " + " ".join(f"{item.index}:{item.succeeded}:{item.message}" for item in what.outcomes)
    elif kind == "log_lines":
        said = "log " + " ".join(line.text for line in what.lines)
    elif kind == "cancel_stage":
        said = v1.CancelReached.Name(what.reached).removeprefix("CANCEL_REACHED_")
    elif kind == "new_data":
        said = f"data {what.level} {list(what.items_json)} last={what.last}"
    elif kind == "finished":
        outcome = what.WhichOneof("outcome")
        if outcome == "succeeded":
            said = "succeeded " + what.succeeded.result_json
        elif outcome == "failed":
            named = v1.FailureClass.Name(getattr(what.failed, "class")).removeprefix("FAILURE_CLASS_")
            said = f"failed {named} {what.failed.code}"
        else:
            said = "cancelled " + what.cancelled.message
    else:
        said = kind
    return f"{report.attempt.task_id} {report.sequence} {said}"


class Node:
    def __init__(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self.streams: queue.Queue[Stream] = queue.Queue()
        self._server = grpc.server(futures.ThreadPoolExecutor(16))
        handler = grpc.stream_stream_rpc_method_handler(
            self._serve,
            request_deserializer=v1.FromExecutor.FromString,
            response_serializer=v1.ToExecutor.SerializeToString,
        )
        service = grpc.method_handlers_generic_handler("campanile.executor.v1.ExecutorLink", {"Connect": handler})
        self._server.add_generic_rpc_handlers((service,))
        if credentials:
            self.port = self._server.add_secure_port("127.0.0.1:0", credentials)
        else:
            self.port = self._server.add_insecure_port("127.0.0.1:0")
        self.address = f"127.0.0.1:{self.port}"
        self._server.start()
        self.executors: list[campanile.Executor] = []

    def _serve(self, messages, context):
        stream = Stream()
        self.streams.put(stream)

        def read() -> None:
            try:
                for message in messages:
                    if not message.HasField("heartbeat"):
                        stream.said.put(message)
                    elif not stream.silent:
                        ack = v1.HeartbeatAck(number=message.heartbeat.number, lease_ms=LEASE_MS)
                        stream.tell(heartbeat_ack=ack)
            except grpc.RpcError:
                pass
            stream.said.put(None)
            stream.hang_up()

        threading.Thread(target=read, daemon=True).start()
        while (message := stream.to_tell.get()) is not None:
            yield message

    def opened(self) -> Stream:
        stream = self.streams.get(timeout=PATIENCE)
        first = stream.next()
        assert first.HasField("register"), "the first message is not Register"
        stream.register = first.register
        return stream

    def joined(self, *still: tuple[str, int]) -> Stream:
        stream = self.opened()
        stream.welcome(*still)
        return stream

    def runs(self, *processors, **more) -> campanile.Executor:
        more = {"name": "x", "capacity": 2, "nodes": [self.address], **more}
        executor = campanile.Executor("g", processors=processors, **more)
        executor.start()
        self.executors.append(executor)
        return executor

    def stop(self) -> None:
        for executor in self.executors:
            executor.stop(0)
        self._server.stop(0)


@pytest.fixture
def node():
    node = Node()
    yield node
    node.stop()


class Gate:
    """Work that says when it began, and ends when the test lets it or when it is asked to."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.open: queue.Queue[str] = queue.Queue()

    def __call__(self, task: campanile.Task) -> str:
        self.began.append(task.id)
        while True:
            try:
                return self.open.get(timeout=0.02)
            except queue.Empty:
                task.raise_if_cancelled()


@pytest.fixture
def gate():
    return Gate()
