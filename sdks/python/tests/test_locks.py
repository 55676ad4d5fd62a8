from __future__ import annotations

import queue

import pytest

import campanile
from campanile.executor.v1 import executor_pb2 as v1


@campanile.processor("brief")
def brief(task):
    with task.lock("x", wait=0) as lock:
        return lock.token


@campanile.processor("brief-async")
async def brief_async(task):
    async with task.lock("x", wait=0) as lock:
        return lock.token


@campanile.processor("keep")
def keep(task):
    with task.lock("y", "x", wait=5) as lock:
        task.log(f"has {lock.tokens}")
        task.sleep(60)


def asked(stream) -> v1.AskLocks:
    """The next ask; reports before it are acknowledged."""
    while True:
        message = stream.next()
        if message.HasField("ask_locks"):
            return message.ask_locks
        assert message.HasField("report"), message
        stream.ack(message.report)


def left(stream) -> v1.LeaveLocks:
    while True:
        message = stream.next()
        if message.HasField("leave_locks"):
            return message.leave_locks
        assert message.HasField("report"), message
        stream.ack(message.report)


def end(stream) -> str:
    while True:
        message = stream.next()
        if message.HasField("leave_locks"):
            continue
        stream.ack(message.report)
        if message.report.HasField("finished"):
            from conftest import in_words

            return in_words(message.report).split(" ", 2)[2]


def grant(stream, ask, **tokens) -> None:
    locks = [v1.HeldLock(name=name, token=token) for name, token in tokens.items()]
    stream.tell(locks_granted=v1.LocksGranted(attempt=ask.attempt, ask=ask.ask, locks=locks))


@pytest.mark.parametrize("work", [brief, brief_async])
def test_a_lock_is_asked_for_granted_released_and_confirmed(node, work):
    node.runs(work)
    s = node.joined()
    s.push("a", work.info.name)
    ask = asked(s)
    assert (list(ask.names), ask.wait_ms, ask.HasField("lease_ms")) == (["x"], 0, False)
    grant(s, ask, x=7)
    leave = left(s)
    assert (leave.attempt, leave.ask) == (ask.attempt, ask.ask)
    with pytest.raises(queue.Empty):
        s.said.get(timeout=0.2)
    s.tell(locks_left=v1.LocksLeft(attempt=ask.attempt, ask=ask.ask))
    assert end(s) == "succeeded 7"


@pytest.mark.parametrize("work", [brief, brief_async])
def test_a_refusal_is_the_tasks_error(node, work):
    node.runs(work)
    s = node.joined()
    s.push("a", work.info.name)
    ask = asked(s)
    why = v1.Failure(**{"class": v1.FAILURE_CLASS_TRANSIENT}, code="k_sc_ec_300071", message_en="held")
    s.tell(locks_refused=v1.LocksRefused(attempt=ask.attempt, ask=ask.ask, why=why))
    assert end(s) == "failed TRANSIENT k_sc_ec_300071"


def test_a_lost_lock_cancels_the_task_which_fails_as_transient(node):
    node.runs(keep)
    s = node.joined()
    s.push("a", "keep")
    ask = asked(s)
    grant(s, ask, x=7, y=2)
    s.tell(locks_lost=v1.LocksLost(attempt=ask.attempt, ask=ask.ask, names=["y"]))
    assert end(s) == "failed TRANSIENT k_sc_ec_300070"


def test_after_a_break_what_is_held_and_what_waits_is_told_again(node):
    node.runs(keep)
    s = node.joined()
    s.push("a", "keep")
    first = asked(s)
    grant(s, first, x=7, y=2)
    s.push("b", "keep")
    second = asked(s)
    s.hang_up()
    s = node.joined(("a", 2), ("b", 2))
    again = {ask.attempt.task_id: ask for ask in (asked(s), asked(s))}
    assert {held.name: held.token for held in again["a"].held} == {"x": 7, "y": 2}
    assert again["a"].ask == first.ask and again["b"].ask == second.ask and not again["b"].held
    assert again["b"].wait_ms < 5000


def test_with_the_lease_goes_what_is_held(node):
    node.runs(keep)
    s = node.joined()
    s.push("a", "keep")
    grant(s, asked(s), x=7, y=2)
    s.silent = True
    # The stream breaks when the lease has ended twice; it is told on the next.
    assert node.joined(("a", 2)).next() is not None


def test_a_task_that_is_cancelled_waits_for_no_lock(node):
    node.runs(keep)
    s = node.joined()
    s.push("a", "keep")
    ask = asked(s)
    s.ask("a", v1.CANCEL_ASK_ASK)
    assert left(s).ask == ask.ask
    assert end(s).startswith("cancelled")
