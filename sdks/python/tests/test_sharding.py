from __future__ import annotations

import json

import campanile
from campanile.executor.v1 import executor_pb2 as v1
from conftest import ref


class Adding(campanile.ShardingProcessor):
    """A sharding processor with every method."""

    info = campanile.Info("add")

    def __init__(self):
        self.notices = []

    def pre_process(self, task, items):
        first = next(iter(items)).value
        if first == "keep":
            return None
        return self.replaced(first)

    def replaced(self, first):
        if first == "large":
            for _ in range(40):
                yield 0, "x" * 100 * 1024
            return
        for level in range(2):
            yield level, {"was": first}
        yield 0, "too late"

    def sharding_process(self, task, items):
        total = 0
        try:
            for item in items:
                if isinstance(item.value, int):
                    task.item(item.index)
                    total += item.value
                else:
                    task.item(item.index, f"{item.value} is no number")
        except campanile.Transient:
            return "swallowed: it must fail all the same"
        return [task.shard.level, task.shard.index, total]

    def notify(self, task, notice):
        self.notices.append(notice)

    def post_process(self, task, ends):
        return [f"{end.level} {end.shard} {end.code} {end.result} {end.failure}" for end in ends]


class AsyncAdding(campanile.ShardingProcessor):
    info = campanile.Info("add")

    async def pre_process(self, task, items):
        async for item in items:
            yield 0, item.value + 1

    async def sharding_process(self, task, items):
        return sum([item.value async for item in items])


SHARD = v1.Shard(level=1, level_count=2, index=2, count=3, round=1, item_count=3)


def data(stream, task, *values, last):
    items = [v1.DataItem(index=10 + at, value_json=json.dumps(value)) for at, value in enumerate(values)]
    stream.tell(shard_data=v1.ShardData(attempt=ref(task), items=items, last=last))


def of(method, *, more):
    return {"method": method, "more_follows": more, "shard": SHARD}


def test_a_shard_is_read_as_it_comes_and_its_items_are_reported(node):
    node.runs(Adding())
    s = node.joined()
    assert s.register.processors[0].kind == v1.PROCESSOR_KIND_SHARDING
    assert list(s.register.processors[0].methods) == [2, 3, 4, 5]
    s.push("a", "add", **of(v1.METHOD_SHARDING_PROCESS, more=True))
    s.hears("a 1 accepted")
    data(s, "a", 1, "x", last=False)
    s.hears("a 2 started")
    data(s, "a", 5, last=True)
    items = []
    # In how many reports they come is a matter of time.
    while not (report := s.report()).HasField("finished"):
        items += [(item.index, item.succeeded, item.message) for item in report.items.outcomes]
    assert items == [(10, True, ""), (11, False, "x is no number"), (10, True, "")]
    assert report.finished.succeeded.result_json == "[1,2,6]"
    s.push("b", "add")
    s.hears("b 1 back UNKNOWN_PROCESSOR")


def test_data_that_does_not_come_whole_is_handed_back_or_fails_the_attempt(node):
    node.runs(Adding())
    s = node.joined()
    s.push("a", "add", **of(v1.METHOD_SHARDING_PROCESS, more=True))
    s.push("b", "add", **of(v1.METHOD_SHARDING_PROCESS, more=True))
    s.hears("a 1 accepted", "b 1 accepted")
    data(s, "a", last=False)
    s.hears("a 2 started")
    s.hang_up()
    s = node.joined(("a", 2))
    assert [held.attempt.task_id for held in s.register.still_held] == ["a"]
    s.hears("a 3 failed TRANSIENT k_sc_ec_300050")


def test_pre_process_replaces_the_data_in_order_or_keeps_it(node):
    node.runs(Adding())
    s = node.joined()
    s.push("a", "add", **of(v1.METHOD_PRE_PROCESS, more=True))
    data(s, "a", "keep", last=True)
    s.hears("a 1 accepted", "a 2 started", "a 3 succeeded null")
    s.push("b", "add", **of(v1.METHOD_PRE_PROCESS, more=True))
    data(s, "b", 7, last=True)
    s.hears("b 1 accepted", "b 2 started", "b 3 data 0 ['{\"was\":7}'] last=False")
    s.hears("b 4 failed BUSINESS k_sc_ec_300053")


def test_new_data_waits_while_much_is_under_way(node):
    node.runs(Adding())
    s = node.joined()
    s.push("a", "add", **of(v1.METHOD_PRE_PROCESS, more=True))
    data(s, "a", "large", last=True)
    s.hears("a 1 accepted", "a 2 started")
    count, waiting = 0, []
    while not (report := s.report(acknowledge=False)).HasField("finished"):
        count += len(report.new_data.items_json)
        waiting.append(report)
        if len(waiting) == 3 or report.new_data.last:
            # Three pieces of half a MiB are more than may be under way: nothing comes until they are taken.
            assert report.new_data.last or s.said.empty()
            for one in waiting:
                s.ack(one)
            waiting = []
    assert count == 40


def test_notices_and_ends_of_shards_are_handed_on(node):
    adding = Adding()
    node.runs(adding)
    s = node.joined()
    s.push("n", "add", **of(v1.METHOD_NOTIFY, more=False), notice=v1.Notice(items_done=1, items_total=4, percent=25))
    s.hears("n 1 accepted", "n 2 started", "n 3 succeeded null")
    assert adding.notices == [campanile.Notice(1, 4, 25.0)]
    s.push("p", "add", **of(v1.METHOD_POST_PROCESS, more=True))
    ends = [v1.ShardEnd(code=301, result_json="6")]
    s.tell(shard_ends=v1.ShardEnds(attempt=ref("p"), ends=ends))
    error = v1.Failure(code="bad", message_en="no", **{"class": v1.FAILURE_CLASS_BUSINESS})
    ends = [v1.ShardEnd(level=1, shard=2, code=302, error=error)]
    s.tell(shard_ends=v1.ShardEnds(attempt=ref("p"), ends=ends, last=True))
    s.hears("p 1 accepted", "p 2 started", 'p 3 succeeded ["0 0 301 6 None","1 2 302 None bad: no"]')


def test_the_methods_may_be_async(node):
    node.runs(AsyncAdding())
    s = node.joined()
    assert list(s.register.processors[0].methods) == [2, 3]
    s.push("a", "add", **of(v1.METHOD_PRE_PROCESS, more=True))
    data(s, "a", 1, 2, last=True)
    s.hears("a 1 accepted", "a 2 started", "a 3 data 0 ['2', '3'] last=True", "a 4 succeeded null")
    s.push("b", "add", **of(v1.METHOD_SHARDING_PROCESS, more=True))
    data(s, "b", 3, 4, last=True)
    s.hears("b 1 accepted", "b 2 started", "b 3 succeeded 7")
