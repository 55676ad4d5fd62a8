"""Says how far it is, and ends when it is asked to.

campanile serve --executors 127.0.0.1:4610
python examples/progress.py 127.0.0.1:4610
"""

import sys

import campanile

ROWS = {"type": "integer", "minimum": 1, "default": 500, "title": "Rows", "title:zh": "行数"}


@campanile.processor(
    "copy",
    title=("Copy rows", "复制行"),
    parameters={"type": "object", "required": ["rows"], "properties": {"rows": ROWS}},
)
def copy_rows(task):
    rows = task.parameters.get("rows", 0)
    if rows < 1:
        raise campanile.Business("no_rows", "there is nothing to copy", zh="没有可复制的行")
    for row in range(rows):
        task.sleep(0.01)  # the copying of one row; raises Cancelled when it is asked to end
        task.progress(100 * (row + 1) / rows, f"row {row + 1}")
    return {"copied": rows}


campanile.Executor("examples", name="progress-python", nodes=sys.argv[1:], processors=[copy_rows]).run()
