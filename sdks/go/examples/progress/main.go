// Says how far it is, and ends when it is asked to.
//
//	campanile serve --executors 127.0.0.1:4610
//	go run ./examples/progress 127.0.0.1:4610
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	campanile "campanile.dev/sdk-go"
)

func copyRows(ctx context.Context, task *campanile.Task) (any, error) {
	var parameters struct{ Rows int }
	if err := task.Decode(&parameters); err != nil {
		return nil, err
	}
	if parameters.Rows < 1 {
		return nil, campanile.Business("no_rows", "there is nothing to copy").Zh("没有可复制的行")
	}
	for row := range parameters.Rows {
		select {
		case <-time.After(10 * time.Millisecond): // the copying of one row
		case <-ctx.Done():
			task.Logf("asked to end after %d rows", row)
			return nil, ctx.Err()
		}
		task.Progress(100*float64(row+1)/float64(parameters.Rows), fmt.Sprintf("row %d", row+1))
	}
	return map[string]int{"copied": parameters.Rows}, nil
}

func main() {
	executor := campanile.Executor{Group: "examples", Name: "progress-go", Nodes: os.Args[1:]}
	executor.Host(campanile.Info{
		Name:  "copy",
		Title: campanile.Words{En: "Copy rows", Zh: "复制行"},
		Parameters: []byte(`{"type": "object", "required": ["rows"], "properties": {
			"rows": {"type": "integer", "minimum": 1, "default": 500, "title": "Rows", "title:zh": "行数"}}}`),
	}, campanile.Func(copyRows))
	if err := executor.RunUntilSignal(); err != nil {
		log.Fatal(err)
	}
}
