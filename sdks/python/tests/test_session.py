from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
import time

import pytest
from nacl.public import PublicKey, SealedBox

import campanile
from campanile._outbox import MAX_LINE_BYTES, Outbox, as_line
from campanile.executor.v1 import executor_pb2 as v1
from conftest import PATIENCE, Node, in_words, ref


@campanile.processor("greet", title=("Greet", "问候"))
def greet(task):
    task.log("hello, " + task.parameters["name"])
    return {"greeted": task.parameters["name"]}


def gated(gate, name="gate", **more):
    return campanile.processor(name, **more)(gate)


def test_a_run_is_told_step_by_step_and_the_executor_leaves_with_goodbye(node):
    executor = node.runs(greet, labels={"zone": "a"})
    s = node.joined()
    r = s.register
    assert (r.group, r.name, len(r.boot_id), len(r.public_key), r.labels["zone"]) == ("g", "x", 32, 0, "a")
    assert (r.capacity.running, r.capacity.queued, len(r.still_held)) == (2, 2, 0)
    assert (r.processors[0].name, r.processors[0].title_en, r.processors[0].title_zh) == ("greet", "Greet", "问候")
    s.push("a", "greet", '{"name":"mei"}')
    s.hears("a 1 accepted", "a 2 started", "a 3 log hello, mei", 'a 4 succeeded {"greeted":"mei"}')
    executor.stop()
    assert s.next().HasField("draining")
    assert s.next().HasField("goodbye")
    s.hang_up()
    assert executor.wait(PATIENCE) == campanile.Left(0, 0)


def raising(error):
    def work(_task):
        raise error

    return work


@pytest.mark.parametrize(
    ("work", "want"),
    [
        (raising(campanile.Transient("net", "away")), "failed TRANSIENT net"),
        (raising(campanile.Business("bad", "no")), "failed BUSINESS bad"),
        (raising(campanile.System("disk", "full")), "failed SYSTEM disk"),
        (raising(campanile.Cancelled("oh")), "failed BUSINESS k_sc_ec_300030"),
        (lambda task: "x" * 65536, "failed BUSINESS k_sc_ec_300028"),
        (lambda task: object(), "failed BUSINESS result_not_json"),
        (lambda task: float("nan"), "failed BUSINESS result_not_json"),
        (lambda task: None, "succeeded null"),
        (lambda task: "时", 'succeeded "时"'),
    ],
)
def test_each_kind_of_end_has_its_class_and_code(node, work, want):
    node.runs(campanile.processor("work")(work))
    s = node.joined()
    s.push("a", "work")
    s.hears("a 1 accepted", "a 2 started", "a 3 " + want)


@pytest.mark.parametrize(
    ("error", "want"),
    [
        (ValueError("oh"), "failed UNSPECIFIED ValueError"),
        (MemoryError(), "failed SYSTEM k_sc_ec_300027"),
        (OSError(28, "No space left on device"), "failed SYSTEM k_sc_ec_300027"),
        (SystemExit(3), "failed UNSPECIFIED SystemExit"),
    ],
)
def test_an_exception_fails_its_task_alone_and_leaves_its_trace(node, error, want):
    node.runs(campanile.processor("work")(raising(error)), greet)
    s = node.joined()
    s.push("a", "work")
    s.hears("a 1 accepted", "a 2 started")
    text = in_words(s.report())
    assert text.startswith("a 3 log Traceback") and type(error).__name__ in text
    s.hears("a 4 " + want)
    s.push("b", "greet", "[1]")
    s.hears("b 1 accepted", "b 2 started", "b 3 failed BUSINESS k_sc_ec_300010")


def test_an_attempt_is_run_once_however_often_it_is_pushed(node, gate):
    node.runs(gated(gate))
    s = node.joined()
    s.push("a", "gate")
    s.hears("a 1 accepted", "a 2 started", acknowledge=False)
    s.push("a", "gate")
    s.hears("a 1 accepted", "a 2 started")
    s.push("a", "gate")
    s.hears("a 1 accepted", acknowledge=False)
    gate.open.put("done")
    s.hears('a 3 succeeded "done"')
    s.ask("a", v1.CANCEL_ASK_ASK)
    s.hears("a 0 GONE")
    s.push("a", "gate")
    s.hears("a 0 back ALREADY_ENDED")
    assert gate.began == ["a"]


def test_an_old_push_of_what_was_handed_back_is_refused_and_a_new_one_taken(node, gate):
    node.runs(gated(gate), capacity=1)
    s = node.joined()
    s.push("a", "gate")
    s.hears("a 1 accepted", "a 2 started")
    s.push("b", "gate")
    s.hears("b 1 accepted")
    s.withdraw("b")
    s.push("b", "gate")
    s.hears("b 2 back WITHDRAWN")
    s.push("b", "gate")
    s.withdraw("c")
    s.hears("c 0 back UNKNOWN")
    s.push("b", "gate", sequence_after=2)
    s.hears("b 3 accepted")
    s.push("d", "gate")
    s.hears("d 1 back NO_ROOM")
    s.push("e", "nobody")
    s.hears("e 1 back UNKNOWN_PROCESSOR")


def test_work_goes_on_without_a_stream_and_its_reports_are_handed_in_later(node, gate):
    node.runs(gated(gate))
    s = node.joined()
    s.push("a", "gate")
    s.hears("a 1 accepted", "a 2 started", acknowledge=False)
    s.hang_up()
    gate.open.put("done")
    s = node.joined(("a", 1))
    assert [held.attempt.task_id for held in s.register.still_held] == ["a"]
    s.hears("a 2 started", 'a 3 succeeded "done"', acknowledge=False)
    s.hang_up()
    s = node.joined()
    held = s.register.still_held
    assert [(one.state, one.last_sequence) for one in held] == [(v1.HELD_STATE_ENDED, 3)]
    s.hears("a 2 started", 'a 3 succeeded "done"', acknowledge=False)
    s.tell(forget=v1.Forget(attempt=ref("a")))
    s.push("a", "gate")
    s.hears("a 0 back ALREADY_ENDED")


def test_what_is_no_longer_ours_is_stopped_or_never_begins(node, gate):
    node.runs(gated(gate), capacity=1)
    s = node.joined()
    s.push("a", "gate")
    s.push("b", "gate")
    s.hears("a 1 accepted", "a 2 started", "b 1 accepted")
    s.hang_up()
    s = node.joined()
    assert len(s.register.still_held) == 2
    s.hears("a 3 failed TRANSIENT k_sc_ec_300022")
    s.withdraw("b")
    s.hears("b 0 back UNKNOWN")


def test_nothing_starts_without_a_lease_and_what_asked_for_it_is_stopped(node, gate):
    goes_on = type(gate)()
    node.runs(gated(gate, "stops", stop_without_lease=True), gated(goes_on, "goes-on"), capacity=3)
    s = node.joined()
    s.push("a", "stops")
    s.push("b", "goes-on")
    s.hears("a 1 accepted", "a 2 started", "b 1 accepted", "b 2 started")
    s.silent = True
    s.hears("a 3 failed TRANSIENT k_sc_ec_300022")
    s.push("c", "goes-on")
    s.hears("c 1 accepted")
    s.silent = False
    s.hears("c 2 started")


def test_a_cancellation_goes_stage_by_stage_and_kill_ends_what_would_not(node):
    @campanile.processor("stubborn")
    def stubborn(_task):
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.01)

    node.runs(stubborn, capacity=1)
    s = node.joined()
    s.push("a", "stubborn")
    s.push("b", "stubborn")
    s.hears("a 1 accepted", "a 2 started", "b 1 accepted")
    s.ask("b", v1.CANCEL_ASK_ASK)
    s.hears("b 2 ACKNOWLEDGED", "b 3 cancelled before it was started: mei")
    s.ask("a", v1.CANCEL_ASK_ASK)
    s.ask("a", v1.CANCEL_ASK_ASK)
    s.ask("a", v1.CANCEL_ASK_TERMINATE)
    s.ask("a", v1.CANCEL_ASK_KILL)
    s.hears("a 3 ACKNOWLEDGED", "a 4 TERMINATED", "a 5 KILLED", "a 6 cancelled killed")


def test_async_work_is_cancelled_as_asyncio_does_and_may_clean_up(node):
    @campanile.processor("waits")
    async def waits(task):
        task.log("waiting")
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            await asyncio.sleep(0.01)
            task.log("cleaned up")

    @campanile.processor("adds")
    async def adds(task):
        await asyncio.sleep(0)
        return task.parameters["a"] + 1

    node.runs(waits, adds)
    s = node.joined()
    s.push("a", "waits")
    s.hears("a 1 accepted", "a 2 started", "a 3 log waiting")
    s.ask("a", v1.CANCEL_ASK_ASK)
    s.hears("a 4 ACKNOWLEDGED", "a 5 log cleaned up", "a 6 cancelled asked to end")
    s.push("b", "adds", '{"a":1}')
    s.hears("b 1 accepted", "b 2 started", "b 3 succeeded 2")
    s.push("c", "adds")
    s.hears("c 1 accepted", "c 2 started")
    assert "KeyError: 'a'" in in_words(s.report())
    s.hears("c 4 failed UNSPECIFIED KeyError")


def test_a_drain_hands_back_the_queue_and_finishes_what_runs(node, gate):
    node.runs(gated(gate), capacity=1)
    s = node.joined()
    s.push("a", "gate")
    s.push("b", "gate")
    s.hears("a 1 accepted", "a 2 started", "b 1 accepted")
    s.tell(drain=v1.Drain(reason="tea"))
    assert s.next().HasField("draining")
    s.hears("b 2 back DRAINING")
    s.push("c", "gate")
    s.hears("c 1 back DRAINING")
    gate.open.put("done")
    s.hears('a 3 succeeded "done"')
    s.tell(resume=v1.Resume())
    s.push("d", "gate")
    s.hears("d 1 accepted", "d 2 started")


def test_an_executor_whose_time_to_leave_is_over_stops_what_runs_and_says_so(node, gate):
    executor = node.runs(gated(gate))
    s = node.joined()
    s.push("a", "gate")
    s.hears("a 1 accepted", "a 2 started")
    executor.stop(0)
    assert s.next().HasField("draining")
    s.hears("a 3 failed TRANSIENT k_sc_ec_300021")
    assert s.next().HasField("goodbye")
    s.hang_up()
    assert executor.wait(PATIENCE) == campanile.Left(0, 0)


def test_a_refusal_for_good_ends_the_run(node):
    executor = node.runs(greet)
    node.opened().tell(refused=v1.Refused(code="k_sc_ec_400005", message_en="no permission", retry_after_ms=10))
    node.opened().tell(refused=v1.Refused(code="k_sc_ec_400005", message_en="no permission"))
    with pytest.raises(campanile.Refused, match="k_sc_ec_400005"):
        executor.wait(PATIENCE)


def test_when_its_node_is_away_an_executor_turns_to_the_next(node):
    gone = Node()
    gone.stop()
    node.runs(greet, nodes=[gone.address, node.address])
    s = node.joined()
    s.push("a", "greet", '{"name":"mei"}')
    s.hears("a 1 accepted", "a 2 started")


def test_secrets_are_opened_here_filled_in_and_hidden(node):
    @campanile.processor("use")
    def use(task):
        first, second = task.parameters["list"]
        task.log("using " + first)
        return [len(first), second]

    node.runs(use, secret_key="42" * 32)
    s = node.joined()
    sealed = SealedBox(PublicKey(s.register.public_key)).encrypt(b"swordfish")
    secret = [v1.SealedSecret(name="word", ciphertext=sealed)]
    s.push("a", "use", '{"list":["${secret:word}!",12345678901234567890]}', secrets=secret)
    s.hears("a 1 accepted", "a 2 started", "a 3 log using ***!", "a 4 succeeded [10,12345678901234567890]")
    s.push("b", "use", '{"list":["${secret:other}"]}', secrets=secret)
    s.hears("b 1 accepted", "b 2 started", "b 3 failed BUSINESS k_sc_ec_300040")
    s.push("c", "use", '{"list":["${secret:word}"]}', secrets=[v1.SealedSecret(name="word", ciphertext=b"nonsense")])
    s.hears("c 1 accepted", "c 2 started", "c 3 failed BUSINESS k_sc_ec_300041")


def test_a_run_that_waits_is_asked_about_and_doubt_means_yes(node):
    def needed(question):
        if question.parameters["say"] == "raise":
            raise ValueError
        return question.parameters["say"] != "no"

    node.runs(campanile.processor("asks", still_needed=needed)(lambda task: None), greet)
    s = node.joined()
    assert [one.answers_still_needed for one in s.register.processors] == [True, False]
    for parameters, want in {'{"say":"no"}': False, '{"say":"yes"}': True, '{"say":"raise"}': True, "oh": True}.items():
        s.tell(still_needed=v1.StillNeeded(question_id=parameters, processor="asks", parameters_json=parameters))
        answer = s.next().still_needed_answer
        assert (answer.question_id, answer.needed) == (parameters, want)


def test_a_log_far_ahead_of_the_link_waits_or_loses_lines_and_counts_them(node):
    @campanile.processor("much")
    def much(task):
        for _ in range(50):
            task.log("x" * 60 * 1024, stream="stdout", wait=True)

    node.runs(much)
    s = node.joined()
    s.push("a", "much")
    s.hears("a 1 accepted", "a 2 started")
    lines = 0
    while not (report := s.report()).HasField("finished"):
        lines += len(report.log_lines.lines)
        assert report.log_lines.dropped == 0, "what waits loses nothing"
    assert lines == 50

    outbox = Outbox(False, lambda pressing: None)
    for _ in range(20):
        outbox.line(v1.LogLine(text="x" * 64 * 1024))
    kept = dropped = 0
    while taken := outbox.take_lines(256 * 1024):
        assert dropped == 0, "the count comes with the last of them"
        kept += len(taken[1].lines)
        dropped += taken[1].dropped
    assert (kept, dropped) == (16, 4)


def test_a_line_is_cut_and_made_valid():
    assert as_line(b"a\xff\xfeb") == ("a\ufffd\ufffdb", 0)
    assert as_line(b"end\r") == ("end", 0)
    text, lost = as_line("时".encode() * MAX_LINE_BYTES)
    assert lost == 3 * MAX_LINE_BYTES - MAX_LINE_BYTES // 3 * 3
    assert "\ufffd" not in text and text.endswith("字节]")


def test_progress_is_kept_within_its_bounds_and_only_the_latest_is_said(node):
    @campanile.processor("walk")
    def walk(task):
        task.progress(-3, "begun")
        task.progress(250, "over")

    node.runs(walk)
    s = node.joined()
    s.push("a", "walk")
    s.hears("a 1 accepted", "a 2 started", "a 3 progress 100 over", "a 4 succeeded null")


def test_what_is_logged_inside_a_processor_goes_to_its_task(node):
    logger = logging.getLogger("test.of.campanile")
    logger.addHandler(campanile.TaskLogHandler())

    @campanile.processor("logs")
    def logs(task):
        logger.warning("by %s", "name")
        assert campanile.current_task() is task

    node.runs(logs)
    s = node.joined()
    s.push("a", "logs")
    s.hears("a 1 accepted", "a 2 started", "a 3 log by name", "a 4 succeeded null")
    logger.warning("nobody's")


def test_what_could_not_work_is_refused_before_it_runs():
    for want, change in {
        "a group": {"group": ""},
        "the address": {"nodes": []},
        "at least one processor": {"processors": []},
        "capacity": {"capacity": -1},
        "two processors": {"processors": [greet, greet]},
        "no processor": {"processors": [print]},
    }.items():
        given = {"group": "g", "nodes": ["x"], "processors": [greet], **change}
        with pytest.raises((ValueError, TypeError), match=want):
            campanile.Executor(given.pop("group"), **given)


def test_the_process_ends_with_a_signal_and_hands_back(node, tmp_path):
    script = tmp_path / "executor.py"
    script.write_text(
        "import campanile\n"
        "@campanile.processor('p')\n"
        "def p(task): task.sleep(60)\n"
        f"print(campanile.Executor('g', name='x', nodes=['{node.address}'], processors=[p], time_to_leave=0.1).run())\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment)
    s = node.joined()
    s.push("a", "p")
    s.hears("a 1 accepted", "a 2 started")
    process.terminate()
    assert s.next().HasField("draining")
    s.hears("a 3 failed TRANSIENT k_sc_ec_300021")
    assert s.next().HasField("goodbye")
    s.hang_up()
    said, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "Left(unfinished=0, unreported=0)\n")
