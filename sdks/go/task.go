package campanile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
)

// CancelStage is how far the node has gone to end an attempt.
type CancelStage int

const (
	// NotCancelled: nobody has asked.
	NotCancelled CancelStage = iota
	// Ask: end in your own way. The processor's context is cancelled.
	Ask
	// Terminate: TERM to whatever was started.
	Terminate
	// Kill: KILL to whatever was started. A function that goes on all the same keeps its slot until it returns.
	Kill
)

// ending is how far the asking has gone, and who waits for it.
type ending struct {
	mutex   sync.Mutex
	stage   CancelStage
	reached [Kill + 1]chan struct{}
	cancel  context.CancelFunc
}

func newEnding(cancel context.CancelFunc) *ending {
	e := &ending{cancel: cancel}
	for stage := range e.reached {
		e.reached[stage] = make(chan struct{})
	}
	return e
}

func (e *ending) at() CancelStage {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return e.stage
}

// reach goes on to stage, never back. True when that was news.
func (e *ending) reach(stage CancelStage) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if stage <= e.stage {
		return false
	}
	for passed := e.stage + 1; passed <= stage; passed++ {
		close(e.reached[passed])
	}
	e.stage = stage
	e.cancel()
	return true
}

// Upstream is what a job before this one gave.
type Upstream struct {
	Job        string
	InstanceID string
	Result     json.RawMessage
}

// Task is one attempt at one task, as its processor sees it. Its methods may be called from any goroutine.
type Task struct {
	push       *v1.Push
	context    *v1.Context
	parameters map[string]any
	raw        json.RawMessage
	outbox     *outbox
	ending     *ending
	secrets    *strings.Replacer
	executor   string
	bootID     string
	locks      *lockDoor
}

// ID is the task's own; each of its attempts has it.
func (t *Task) ID() string { return t.push.GetAttempt().GetTaskId() }

// Attempt counts from 1.
func (t *Task) Attempt() int { return int(t.push.GetAttempt().GetAttempt()) }

// IdempotencyKey is the same for each attempt of the task: what the processor writes elsewhere can be made to happen
// once by it.
func (t *Task) IdempotencyKey() string { return t.push.IdempotencyKey }

// Processor is the name that it was pushed for.
func (t *Task) Processor() string { return t.push.Processor }

// Job is the job's name.
func (t *Task) Job() string { return t.context.GetJob() }

// JobVersion is the version of the job that made the instance.
func (t *Task) JobVersion() int { return int(t.context.GetJobVersion()) }

// InstanceID is the firing that the task belongs to.
func (t *Task) InstanceID() string { return t.context.GetInstanceId() }

// Origin is schedule, added, manual, api, backfill or after.
func (t *Task) Origin() string { return t.context.GetOrigin() }

// Planned is the time that the schedule names.
func (t *Task) Planned() time.Time { return time.UnixMilli(t.context.GetPlannedMs()) }

// Due is when it was to run, after rolls, moves and spread.
func (t *Task) Due() time.Time { return time.UnixMilli(t.context.GetDueMs()) }

// Deadline is when its time to run is over, if it has a limit. The node watches it: the processor's context does not
// end by itself.
func (t *Task) Deadline() (deadline time.Time, limited bool) {
	if t.context == nil || t.context.DeadlineMs == nil {
		return time.Time{}, false
	}
	return time.UnixMilli(*t.context.DeadlineMs), true
}

// Tenant is the job's.
func (t *Task) Tenant() string { return t.context.GetTenant() }

// Upstream is what the jobs before this one gave, for jobs that run after others.
func (t *Task) Upstream() []Upstream {
	upstream := make([]Upstream, 0, len(t.context.GetUpstream()))
	for _, one := range t.context.GetUpstream() {
		upstream = append(upstream, Upstream{one.Job, one.InstanceId, json.RawMessage(one.ResultJson)})
	}
	return upstream
}

// Executor is the name of the executor; BootID another one after each start of its process.
func (t *Task) Executor() string { return t.executor }

// BootID is another one after each start of the executor's process.
func (t *Task) BootID() string { return t.bootID }

// Parameters is a JSON object; its templates and secrets are filled in.
func (t *Task) Parameters() map[string]any { return t.parameters }

// Decode puts the parameters into a struct. A field that does not exist or does not fit is a business failure.
func (t *Task) Decode(into any) error {
	decoder := json.NewDecoder(bytes.NewReader(t.raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		field, problem := ".", strings.TrimPrefix(err.Error(), "json: ")
		if wrong, is := err.(*json.UnmarshalTypeError); is && wrong.Field != "" {
			field, problem = wrong.Field, fmt.Sprintf("a %s was given, a %s is expected", wrong.Value, wrong.Type)
		}
		return parametersRefused(field, problem).Because(err)
	}
	return nil
}

// Log writes lines to the task's log. It never waits: a log that is far ahead of the link loses lines, and says how
// many.
func (t *Task) Log(text string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		t.outbox.line(t.stamped(v1.LogStream_LOG_STREAM_LOG, []byte(line), 0))
	}
}

// Logf is Log with a format.
func (t *Task) Logf(format string, arguments ...any) { t.Log(fmt.Sprintf(format, arguments...)) }

// Stdout is for the output of a program that the processor starts. What is written is cut into lines and waits while
// the link is behind. Close it to say a last line without an end.
func (t *Task) Stdout() io.WriteCloser {
	return &lineWriter{task: t, stream: v1.LogStream_LOG_STREAM_STDOUT}
}

// Stderr is as Stdout, for the other output.
func (t *Task) Stderr() io.WriteCloser {
	return &lineWriter{task: t, stream: v1.LogStream_LOG_STREAM_STDERR}
}

func (t *Task) stamped(stream v1.LogStream, text []byte, cut int) *v1.LogLine {
	line, cutBytes := asLine([]byte(t.masked(string(text))), cut)
	return &v1.LogLine{AtMs: time.Now().UnixMilli(), Stream: stream, Text: line, CutBytes: cutBytes}
}

// masked hides the values of the attempt's secrets.
func (t *Task) masked(text string) string {
	if t.secrets == nil {
		return text
	}
	return t.secrets.Replace(text)
}

// Progress says how far it is, 0 to 100, and what it is at. Only the latest is kept. A percent that is not a number
// leaves it as it was.
func (t *Task) Progress(percent float64, message string) {
	if math.IsNaN(percent) || math.IsInf(percent, 0) {
		t.outbox.setProgress(nil, t.masked(message))
		return
	}
	percent = max(0, min(100, percent))
	t.outbox.setProgress(&percent, t.masked(message))
}

// Item is the outcome of one item of a shard, by its place in the level: nil is success. An item that was reported is
// not handed out again with the next attempt.
func (t *Task) Item(index uint64, outcome error) {
	if outcome != nil {
		t.outbox.item(index, false, t.masked(outcome.Error()))
		return
	}
	t.outbox.item(index, true, "")
}

// CancelStage is how far the cancellation has come.
func (t *Task) CancelStage() CancelStage { return t.ending.at() }

// Reached is closed once the cancellation has gone as far as stage, which is Ask, Terminate or Kill.
func (t *Task) Reached(stage CancelStage) <-chan struct{} { return t.ending.reached[stage] }

// Shard is which piece of the data this is; nil for a processor without shards.
func (t *Task) Shard() *Shard {
	shard := t.push.Shard
	if shard == nil {
		return nil
	}
	return &Shard{
		Level: int(shard.Level), LevelCount: int(shard.LevelCount), Index: int(shard.GetIndex()), Count: int(shard.Count),
		Round: int(shard.Round), ItemCount: shard.ItemCount,
	}
}
