// The least executor: one processor, one node.
//
//	campanile serve --executors 127.0.0.1:4610
//	go run ./examples/hello 127.0.0.1:4610
package main

import (
	"context"
	"log"
	"os"

	campanile "campanile.dev/sdk-go"
)

func main() {
	executor := campanile.Executor{Group: "examples", Name: "hello-go", Nodes: os.Args[1:]}
	executor.Func("greet", func(_ context.Context, task *campanile.Task) (any, error) {
		name, _ := task.Parameters()["name"].(string)
		task.Log("hello, " + name)
		return map[string]string{"greeted": name}, nil
	})
	if err := executor.RunUntilSignal(); err != nil {
		log.Fatal(err)
	}
}
