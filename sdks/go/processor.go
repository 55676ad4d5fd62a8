package campanile

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
)

// Processor is work of one kind. One value serves many tasks at once. A panic fails the task in which it happens, as a
// business failure, and nothing else.
//
// The context is cancelled when somebody asks for the end of the attempt. The result, at most 64 KiB as JSON, is kept
// and handed to the jobs that run after this one.
//
// The same task may come again as a later attempt, after a failure as well as after the loss of an executor that had
// done it: Task.IdempotencyKey is the same each time.
type Processor interface {
	Process(ctx context.Context, task *Task) (result any, err error)
}

// Func is a Processor out of a function.
type Func func(ctx context.Context, task *Task) (any, error)

// Process calls the function.
func (f Func) Process(ctx context.Context, task *Task) (any, error) { return f(ctx, task) }

// StillNeeder may be implemented by a processor of either kind: whether a run that waits is still worth doing. An error,
// a panic or no answer within two seconds counts as yes.
type StillNeeder interface {
	StillNeeded(ctx context.Context, question Question) (bool, error)
}

// Question is what StillNeeded is asked about.
type Question struct {
	Parameters map[string]any
	Job        string
	InstanceID string
	Planned    time.Time
	Due        time.Time
}

// Words are one text in both languages of the console. Where one is empty the other is shown.
type Words struct{ En, Zh string }

// Info is what people see of a processor. Only the name is required.
type Info struct {
	// Name is unique within the executor group.
	Name        string
	Title       Words
	Description Words
	// Parameters is a JSON Schema of an object, from which the console makes its form. Beside the standard words it may
	// say "title:zh", "description:zh" and "x-order", and "format" one of command, multiline, duration, connection.
	Parameters json.RawMessage
	// StopWithoutLease: what runs is stopped when the executor loses its lease, rather than going on.
	StopWithoutLease bool
}

// hosted is a processor of either kind with what was said of it.
type hosted struct {
	info    Info
	methods map[v1.Method]method
	asks    StillNeeder
	kind    v1.ProcessorKind
}

// method runs one attempt.
type method func(ctx context.Context, task *Task, feed *feed) (any, error)

func host(info Info, processor any) (*hosted, error) {
	if info.Name == "" {
		return nil, fmt.Errorf("campanile: a processor needs a name")
	}
	if len(info.Parameters) == 0 {
		info.Parameters = json.RawMessage(`{"type":"object"}`)
	}
	var schema map[string]any
	if err := json.Unmarshal(info.Parameters, &schema); err != nil || schema == nil {
		return nil, fmt.Errorf("campanile: the parameter schema of processor %s is not a JSON object", info.Name)
	}
	h := &hosted{info: info, methods: map[v1.Method]method{}}
	h.asks, _ = processor.(StillNeeder)
	switch processor := processor.(type) {
	case ShardingProcessor:
		h.kind = v1.ProcessorKind_PROCESSOR_KIND_SHARDING
		h.shardingMethods(processor)
	case Processor:
		h.kind = v1.ProcessorKind_PROCESSOR_KIND_UNICAST
		h.methods[v1.Method_METHOD_PROCESS] = func(ctx context.Context, task *Task, _ *feed) (any, error) {
			return processor.Process(ctx, task)
		}
	default:
		return nil, fmt.Errorf("campanile: processor %s has neither Process nor ShardingProcess", info.Name)
	}
	return h, nil
}

func (h *hosted) registered() *v1.Processor {
	title := h.info.Title
	if title.En == "" {
		title.En = h.info.Name
	}
	if title.Zh == "" {
		title.Zh = title.En
	}
	registered := &v1.Processor{
		Name: h.info.Name, TitleEn: title.En, TitleZh: title.Zh,
		DescriptionEn: h.info.Description.En, DescriptionZh: h.info.Description.Zh,
		ParameterSchemaJson: string(h.info.Parameters), Kind: h.kind,
		StopWithoutLease: h.info.StopWithoutLease, AnswersStillNeeded: h.asks != nil,
	}
	for method := v1.Method_METHOD_PROCESS; method <= v1.Method_METHOD_POST_PROCESS; method++ {
		if h.methods[method] != nil {
			registered.Methods = append(registered.Methods, method)
		}
	}
	return registered
}
