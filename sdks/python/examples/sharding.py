"""Imports what is cut into shards: each executor gets some of the items, and says of each how it went.

campanile serve --executors 127.0.0.1:4610
python examples/sharding.py 127.0.0.1:4610
"""

import sys

import campanile


class Customers(campanile.ShardingProcessor):
    info = campanile.Info("import")

    def pre_process(self, task, items):
        """Makes the items where the job has none: one level of a hundred."""
        if next(iter(items), None) is not None:
            return None
        return ((0, {"id": number}) for number in range(100))

    def sharding_process(self, task, items):
        imported = 0
        for item in items:
            known = "id" in item.value
            task.item(item.index, None if known else "it has no id")  # what was reported does not come again
            imported += known
        return imported

    def notify(self, task, notice):
        task.log(f"{notice.percent:.0f} % of {notice.items_total}")

    def post_process(self, task, ends):
        return {"failed shards": sum(end.code != 301 for end in ends)}


campanile.Executor("examples", name="sharding-python", nodes=sys.argv[1:], processors=[Customers()]).run()
