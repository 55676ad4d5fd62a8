"""Two of these never book the same account at once, wherever they run.

campanile serve --executors 127.0.0.1:4610
python examples/locking.py 127.0.0.1:4610
"""

import sys

import campanile


@campanile.processor("book")
def book(task):
    account = task.parameters["account"]
    with task.lock(f"accounts/{account}", wait=60) as lock:
        task.log(f"account {account} is ours with token {lock.token}")
        # What is written shows the token, for the time when two believe that it is theirs:
        #   UPDATE accounts SET balance = :new, token = :token WHERE id = :account AND token <= :token
        task.sleep(1)
        return {"account": account, "token": lock.token}


campanile.Executor("examples", name="locking-python", nodes=sys.argv[1:], processors=[book]).run()
