"""One stream to a node. A wire neither retries nor looks into what it carries: the session does both."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import grpc

from campanile.executor.v1 import executor_pb2 as v1

METHOD = "/campanile.executor.v1.ExecutorLink/Connect"

# A new stream is a new connection: a node that comes back is not waited for because of one that failed before.
OPTIONS = [("grpc.use_local_subchannel_pool", 1)]


@dataclass(frozen=True)
class TLS:
    """How the stream is secured, all as PEM. Without `ca` the system's authorities are trusted.

    With `certificate` and `key` the executor proves who it is, too.
    """

    ca: bytes | None = None
    certificate: bytes | None = None
    key: bytes | None = None
    server_name: str = ""
    """The name to expect in the node's certificate, where it is not that of its address."""


class Wire:
    def __init__(
        self,
        address: str,
        tls: TLS | None,
        heard: Callable[[Wire, v1.ToExecutor], None],
        broken: Callable[[Wire, str], None],
    ) -> None:
        self._moved = threading.Condition()
        self._waiting: deque[v1.FromExecutor] = deque()
        self._ended = False
        if tls is None:
            self._channel = grpc.insecure_channel(address, options=OPTIONS)
        else:
            named = [("grpc.ssl_target_name_override", tls.server_name)] if tls.server_name else []
            trusted = grpc.ssl_channel_credentials(tls.ca, tls.key, tls.certificate)
            self._channel = grpc.secure_channel(address, trusted, options=OPTIONS + named)
        open_stream = self._channel.stream_stream(
            METHOD,
            request_serializer=v1.FromExecutor.SerializeToString,
            response_deserializer=v1.ToExecutor.FromString,
        )
        self._call = open_stream(self._outgoing())
        reader = threading.Thread(target=self._read, args=(heard, broken), name="campanile-stream", daemon=True)
        reader.start()

    def say(self, message: v1.FromExecutor) -> None:
        """Never waits: what is kept by attempts is bounded, and so is this."""
        with self._moved:
            self._waiting.append(message)
            self._moved.notify()

    def close(self) -> None:
        with self._moved:
            self._ended = True
            self._moved.notify()
        self._call.cancel()

    def _outgoing(self) -> Iterator[v1.FromExecutor]:
        while True:
            with self._moved:
                while not self._waiting and not self._ended:
                    self._moved.wait()
                if self._ended:
                    return
                message = self._waiting.popleft()
            yield message

    def _read(self, heard: Callable[[Wire, v1.ToExecutor], None], broken: Callable[[Wire, str], None]) -> None:
        why = "the node closed it"
        try:
            for message in self._call:
                heard(self, message)
        except grpc.RpcError as error:
            why = str(error.details()) if isinstance(error, grpc.Call) else str(error)
        finally:
            self.close()
            broken(self, why)
            self._channel.close()
