// Imports what is cut into shards: each executor gets some of the items, and says of each how it went.
//
//	campanile serve --executors 127.0.0.1:4610
//	go run ./examples/sharding 127.0.0.1:4610
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	campanile "campanile.dev/sdk-go"
)

type customers struct{}

// PreProcess makes the items where the job has none: one level of a hundred.
func (customers) PreProcess(_ context.Context, _ *campanile.Task, items campanile.Items, data *campanile.NewData) error {
	for _, err := range items {
		return err // the job has its own
	}
	for id := range 100 {
		if err := data.Add(0, map[string]int{"id": id}); err != nil {
			return err
		}
	}
	return nil
}

func (customers) ShardingProcess(_ context.Context, task *campanile.Task, items campanile.Items) (any, error) {
	imported := 0
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		var customer struct{ ID int }
		err := json.Unmarshal(item.Value, &customer)
		task.Item(item.Index, err) // an item that was reported does not come again
		if err == nil {
			imported++
		}
	}
	return imported, nil
}

func (customers) Notify(_ context.Context, task *campanile.Task, progress campanile.Notice) error {
	task.Log(fmt.Sprintf("%.0f %% of %d", progress.Percent, progress.ItemsTotal))
	return nil
}

func (customers) PostProcess(_ context.Context, _ *campanile.Task, ends campanile.ShardEnds) (any, error) {
	failed := 0
	for end, err := range ends {
		if err != nil {
			return nil, err
		}
		if end.Code != 301 {
			failed++
		}
	}
	return map[string]int{"failed shards": failed}, nil
}

func main() {
	executor := campanile.Executor{Group: "examples", Name: "sharding-go", Nodes: os.Args[1:]}
	executor.Host(campanile.Info{Name: "import"}, customers{})
	if err := executor.RunUntilSignal(); err != nil {
		log.Fatal(err)
	}
}
