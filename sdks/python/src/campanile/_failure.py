"""How an attempt fails: a class that says what to do next, a stable code, and a sentence in both languages."""

from __future__ import annotations

import errno
from collections.abc import Callable

from campanile.executor.v1 import executor_pb2 as v1

MAX_FAILURE_BYTES = 8 * 1024


class Failure(Exception):
    """Why an attempt did not succeed. Raise one of its subclasses; any code may be used, it is shown as it stands."""

    failure_class = v1.FAILURE_CLASS_UNSPECIFIED

    def __init__(self, code: str, message: str, *, zh: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.zh = zh


class Transient(Failure):
    """Network, lock, time-out: worth another try."""

    failure_class = v1.FAILURE_CLASS_TRANSIENT


class Business(Failure):
    """Bad parameters, no permission: would fail again in the same way."""

    failure_class = v1.FAILURE_CLASS_BUSINESS


class System(Failure):
    """Out of memory, disk full: retried sooner, and an alarm at once."""

    failure_class = v1.FAILURE_CLASS_SYSTEM


class Cancelled(Exception):
    """What a processor raises when it ended because it was asked to."""


class Killed(BaseException):
    """Raised inside a processor that went on after it was asked to end, at the last stage of a cancellation."""


class Refused(Exception):
    """A node's word that it will not have this executor, however often it tries."""

    def __init__(self, code: str, message: str, zh: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.zh = zh


def parameters_refused(field: str, problem: str) -> Failure:
    return Business(
        "k_sc_ec_300010", f"parameter {field} is not right: {problem}", zh=f"参数 {field} 不正确：{problem}"
    )


def secret_missing(name: str) -> Failure:
    return Business(
        "k_sc_ec_300040",
        f"there is no secret {name} for this executor's group",
        zh=f"该执行器组没有名为 {name} 的密钥值",
    )


def secret_closed(name: str) -> Failure:
    return Business(
        "k_sc_ec_300041",
        f"secret {name} cannot be opened here: it is sealed to another key than this executor's",
        zh=f"此处无法打开密钥值 {name}：它加密到的不是该执行器的密钥",
    )


def executor_left() -> Failure:
    return Transient("k_sc_ec_300021", "the executor shut down before the task ended", zh="任务结束前 Executor 已关闭")


def lease_lost() -> Failure:
    return Transient(
        "k_sc_ec_300022", "the executor lost its lease and stopped the task", zh="Executor 失去租约，任务已停止"
    )


def result_too_large(size: int, limit: int) -> Failure:
    return Business(
        "k_sc_ec_300028",
        f"the result has {size} bytes, at most {limit} are kept",
        zh=f"结果为 {size} 字节，最多保留 {limit} 字节",
    )


def cancelled_unasked() -> Failure:
    return Business(
        "k_sc_ec_300030",
        "the processor ended as cancelled although nobody asked",
        zh="Processor 在无人请求时自行取消",
    )


def incomplete() -> Failure:
    return Transient("k_sc_ec_300050", "the stream broke before all of the data was here", zh="数据到齐之前连接中断")


def lock_lost() -> Failure:
    return Transient("k_sc_ec_300070", "a lock that the task held was lost", zh="任务持有的锁已丢失")


def locks_unavailable(problem: str, zh: str) -> Failure:
    return Transient("k_sc_ec_300074", f"no locks are given out now: {problem}", zh=f"暂时无法分配锁：{zh}")


def lock_not_held(lock: str) -> Failure:
    return Transient("k_sc_ec_300075", f"lock {lock} is not held any more", zh=f"锁 {lock} 已不再持有")


def as_failure(error: BaseException) -> Failure:
    """An exception of any kind in the form of a failure; what it means is left to the rules of the job."""
    if isinstance(error, Failure):
        return error
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    exhausted = isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE)
    )
    if exhausted:
        return System(
            "k_sc_ec_300027",
            f"out of memory, disk or another resource: {message}",
            zh=f"内存、磁盘或其他资源耗尽：{message}",
        )
    return Failure(type(error).__name__, message)


def cut(text: str, max_bytes: int) -> str:
    """At most `max_bytes` of text, whole characters, and nothing that is not text."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= max_bytes:
        return raw.decode()
    return raw[:max_bytes].decode("utf-8", "ignore") + " …"


def finished(failure: Failure, masked: Callable[[str], str]) -> v1.Finished:
    return v1.Finished(
        failed=v1.Failure(
            **{"class": failure.failure_class},
            code=cut(failure.code, 256),
            message_en=cut(masked(failure.message), MAX_FAILURE_BYTES),
            message_zh=cut(masked(failure.zh), MAX_FAILURE_BYTES),
        )
    )
