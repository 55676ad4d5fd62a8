"""The least executor: one processor, one node.

campanile serve --executors 127.0.0.1:4610
python examples/hello.py 127.0.0.1:4610
"""

import sys

import campanile


@campanile.processor("greet")
def greet(task):
    name = task.parameters.get("name", "world")
    task.log(f"hello, {name}")
    return {"greeted": name}


campanile.Executor("examples", name="hello-python", nodes=sys.argv[1:], processors=[greet]).run()
