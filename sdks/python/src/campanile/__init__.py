"""What an author of executors depends on: write a processor, host it, run it.

    import campanile

    @campanile.processor("greet")
    def greet(task):
        task.log("hello, " + task.parameters["name"])
        return {"greeted": task.parameters["name"]}

    campanile.Executor("billing", nodes=["127.0.0.1:4610"], processors=[greet]).run()

A processor is given a `Task` and returns a result, which is kept as JSON, or raises. `Transient`, `Business` and
`System` say whether another try is worth it; of any other exception the job's own rules decide. Everything else is the
executor's: the lease, credit, acknowledgements, reconnection, that an attempt is never run twice, and an orderly end.

The package keeps no state on disk: after a restart of its process an executor holds nothing, and the node decides what
becomes of its attempts.
"""

from campanile._executor import Executor
from campanile._failure import Business, Cancelled, Failure, Killed, Refused, System, Transient
from campanile._locks import Lock
from campanile._processor import Info, Processor, Question, ShardingProcessor, processor
from campanile._secrets import read_secret_key
from campanile._session import Left
from campanile._sharding import Item, Notice, ShardEnd
from campanile._task import CancelStage, Shard, Task, TaskLogHandler, Upstream, current_task
from campanile._wire import TLS

__all__ = [
    "TLS",
    "Business",
    "CancelStage",
    "Cancelled",
    "Executor",
    "Failure",
    "Info",
    "Item",
    "Killed",
    "Left",
    "Lock",
    "Notice",
    "Processor",
    "Question",
    "Refused",
    "Shard",
    "ShardEnd",
    "ShardingProcessor",
    "System",
    "Task",
    "TaskLogHandler",
    "Transient",
    "Upstream",
    "current_task",
    "processor",
    "read_secret_key",
]
