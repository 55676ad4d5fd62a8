"""An executor that does what the parameters of its tasks say, for stories about processes: NODE NAME CAPACITY.

The SDKs for Rust (tests/executor) and Go have the same one, word for word, and a story is told of all of them.
"""

import os
import sys

import campanile


def says(task, what):
    """Appends one line to the diary that CAMPANILE_DIARY names."""
    if diary := os.environ.get("CAMPANILE_DIARY"):
        with open(diary, "a") as file:
            file.write(f"{what} {task.executor} {task.id} {task.attempt} {task.idempotency_key}\n")


@campanile.processor("echo")
def echo(task):
    task.log("an echo")
    return {
        "parameters": task.parameters,
        "attempt": task.attempt,
        "key": task.idempotency_key,
        "job": task.job,
        "origin": task.origin,
    }


@campanile.processor("fails")
def fails(task):
    says(task, "begins")
    classes = {"business": campanile.Business, "system": campanile.System}
    raise classes.get(task.parameters.get("class"), campanile.Transient)("said_no", "it was told to")


@campanile.processor("panics")
def panics(task):
    raise RuntimeError("it was told to")


@campanile.processor("talks")
def talks(task):
    for line in range(task.parameters["lines"]):
        task.log(f"line {line}", stream="stdout", wait=True)


@campanile.processor("walks")
async def walks(task):
    steps = task.parameters["steps"]
    for step in range(1, steps + 1):
        task.progress(100 * step / steps, f"step {step}")
    return steps


@campanile.processor("sleeps")
def sleeps(task):
    says(task, "begins")
    task.sleep(task.parameters["ms"] / 1000)
    says(task, "ends")
    return task.attempt


@campanile.processor("stubborn")
def stubborn(task):
    says(task, "begins")
    while True:
        task.wait_cancelled(stage=campanile.CancelStage.KILL)


node, name, capacity = sys.argv[1:]
processors = [echo, fails, panics, talks, walks, sleeps, stubborn]
campanile.Executor("conformance", name=name, nodes=[node], processors=processors, capacity=int(capacity)).run()
