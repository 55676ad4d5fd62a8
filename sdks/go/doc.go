// Package campanile is what an author of executors depends on: write a processor, host it, run it.
//
//	func greet(ctx context.Context, task *campanile.Task) (any, error) {
//		name, _ := task.Parameters()["name"].(string)
//		task.Log("hello, " + name)
//		return map[string]string{"greeted": name}, nil
//	}
//
//	executor := campanile.Executor{Group: "billing", Nodes: []string{"127.0.0.1:4610"}}
//	executor.Func("greet", greet)
//	err := executor.Run(ctx)
//
// A processor is given a [Task] and returns a result, which is kept as JSON, or an error. [Transient], [Business] and
// [System] say whether another try is worth it; of any other error the job's own rules decide. Everything else is the
// executor's: the lease, credit, acknowledgements, reconnection, that an attempt is never run twice, and an orderly end.
//
// The package keeps no state on disk: after a restart of its process an executor holds nothing, and the node decides
// what becomes of its attempts.
package campanile
