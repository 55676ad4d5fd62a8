// Two of these never book the same account at once, wherever they run.
//
//	campanile serve --executors 127.0.0.1:4610
//	go run ./examples/locking 127.0.0.1:4610
package main

import (
	"context"
	"log"
	"os"
	"time"

	campanile "campanile.dev/sdk-go"
)

func book(ctx context.Context, task *campanile.Task) (any, error) {
	var parameters struct{ Account string }
	if err := task.Decode(&parameters); err != nil {
		return nil, err
	}
	lock, err := task.Lock(ctx, "accounts/"+parameters.Account, campanile.LockWait(time.Minute))
	if err != nil {
		return nil, err
	}
	task.Logf("account %s is ours with token %d", parameters.Account, lock.Token())
	// What is written shows the token, for the time when two believe that it is theirs:
	//   UPDATE accounts SET balance = :new, token = :token WHERE id = :account AND token <= :token
	select {
	case <-time.After(time.Second):
	case <-ctx.Done(): // also when the lock is lost
		return nil, ctx.Err()
	}
	return map[string]uint64{"token": lock.Token()}, lock.Release()
}

func main() {
	executor := campanile.Executor{Group: "examples", Name: "locking-go", Nodes: os.Args[1:]}
	executor.Func("book", book)
	if err := executor.RunUntilSignal(); err != nil {
		log.Fatal(err)
	}
}
