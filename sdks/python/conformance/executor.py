"""An executor that does what the parameters of its tasks say, for stories about processes: NODE NAME CAPACITY.

The SDKs for Rust (tests/executor) and Go have the same one, word for word, and a story is told of all of them.
CAMPANILE_TOKEN is what it shows at the door, and CAMPANILE_CERTS the folder of the certificates with which it comes
over TLS.

What is to last until a story has seen what it came for has the parameter `until`: the path of a file, and it lasts
until that is there. Everything else lasts `ms` milliseconds.
"""

import os
import sys
from pathlib import Path

import campanile

# Between two looks for the file of `until`.
LOOK_EVERY_SECONDS = 0.02


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


def lasts(task):
    """As long as its parameters say; ends early when it is asked to."""
    until = task.parameters.get("until")
    if until is None:
        task.sleep(task.parameters["ms"] / 1000)
    else:
        while not Path(until).exists():
            task.sleep(LOOK_EVERY_SECONDS)


@campanile.processor("sleeps")
def sleeps(task):
    says(task, "begins")
    lasts(task)
    says(task, "ends")
    return task.attempt


@campanile.processor("stubborn")
def stubborn(task):
    says(task, "begins")
    while True:
        task.wait_cancelled(stage=campanile.CancelStage.KILL)


@campanile.processor("locks")
def locks(task):
    """Takes a lock, again if told so, keeps it for a while and says when it has it and when it lets go."""
    asked = task.parameters
    with task.lock(asked["lock"], wait=asked.get("waitMs", 60_000) / 1000) as lock:
        says(task, f"locks:{lock.token}")
        if asked.get("again"):
            with task.lock(asked["lock"], wait=0) as again:
                says(task, f"locks:{again.token}")
        lasts(task)
        says(task, f"leaves:{lock.token}")
        return lock.token


def secured(certs):
    """Reads ca.pem, executor.pem and its key out of a folder; without one the stream is not secured."""
    if not certs:
        return None
    names = ("ca.pem", "executor.pem", "executor-key.pem")
    ca, certificate, key = ((Path(certs) / name).read_bytes() for name in names)
    return campanile.TLS(ca=ca, certificate=certificate, key=key)


node, name, capacity = sys.argv[1:]
processors = [echo, fails, panics, talks, walks, sleeps, stubborn, locks]
campanile.Executor(
    "conformance",
    name=name,
    nodes=[node],
    token=os.environ.get("CAMPANILE_TOKEN", ""),
    tls=secured(os.environ.get("CAMPANILE_CERTS")),
    processors=processors,
    capacity=int(capacity),
).run()
