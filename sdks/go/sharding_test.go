package campanile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "campanile.dev/sdk-go/executorv1"
)

// adding is a sharding processor with every method.
type adding struct{ notices chan Notice }

func (adding) PreProcess(_ context.Context, _ *Task, items Items, data *NewData) error {
	for item, err := range items {
		if err != nil {
			return err
		}
		if string(item.Value) == `"keep"` {
			return nil
		}
		for level := range 2 {
			if err := data.Add(level, map[string]any{"was": item.Value}); err != nil {
				return err
			}
		}
		return data.Add(0, "too late")
	}
	return nil
}

func (adding) ShardingProcess(_ context.Context, task *Task, items Items) (any, error) {
	sum := 0
	for item, err := range items {
		if err != nil {
			return "swallowed", nil //nolint:nilerr // it must fail all the same
		}
		var n int
		if err := json.Unmarshal(item.Value, &n); err != nil {
			task.Item(item.Index, err)
			continue
		}
		task.Item(item.Index, nil)
		sum += n
	}
	return []int{task.Shard().Level, task.Shard().Index, sum}, nil
}

func (a adding) Notify(_ context.Context, _ *Task, progress Notice) error {
	a.notices <- progress
	return nil
}

func (adding) PostProcess(_ context.Context, _ *Task, ends ShardEnds) (any, error) {
	var each []string
	for end, err := range ends {
		if err != nil {
			return nil, err
		}
		each = append(each, fmt.Sprintf("%d %d %d %s %v", end.Level, end.Shard, end.Code, end.Result, end.Failure))
	}
	return each, nil
}

func (s *stream) data(task string, last bool, values ...string) {
	s.t.Helper()
	data := &v1.ShardData{Attempt: ref(task), Last: last}
	for at, value := range values {
		data.Items = append(data.Items, &v1.DataItem{Index: uint64(10 + at), ValueJson: value})
	}
	s.tell(&v1.ToExecutor_ShardData{ShardData: data})
}

func shardOf(method v1.Method, more bool) func(*v1.Push) {
	return func(p *v1.Push) {
		p.Method, p.MoreFollows = method, more
		index := uint32(2)
		p.Shard = &v1.Shard{Level: 1, LevelCount: 2, Index: &index, Count: 3, Round: 1, ItemCount: 3}
	}
}

func TestAShardIsReadAsItComesAndItsItemsAreReported(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) { e.Host(Info{Name: "add"}, adding{}) })
	s := node.joined()
	if offered := s.register.Processors[0]; offered.Kind != v1.ProcessorKind_PROCESSOR_KIND_SHARDING ||
		!slices.Equal(offered.Methods, []v1.Method{2, 3, 4, 5}) {
		t.Fatal(offered)
	}
	s.push("a", "add", "{}", shardOf(v1.Method_METHOD_SHARDING_PROCESS, true))
	s.hears(true, "a 1 accepted")
	s.data("a", false, "1", `"x"`)
	s.hears(true, "a 2 started")
	s.data("a", true, "5")
	// In how many reports they come is a matter of time.
	var items []string
	report := s.next().GetReport()
	for ; report.GetFinished() == nil; report = s.next().GetReport() {
		for _, item := range report.GetItems().GetOutcomes() {
			items = append(items, fmt.Sprintf("%d %v %s", item.Index, item.Succeeded, item.Message))
		}
		s.ack("a", report.Sequence)
	}
	want := []string{"10 true ", "11 false json: cannot unmarshal string into Go value of type int", "10 true "}
	if result := report.GetFinished().GetSucceeded().GetResultJson(); !slices.Equal(items, want) || result != "[1,2,6]" {
		t.Fatal(items, result)
	}
	s.ack("a", report.Sequence)
	s.push("b", "add", "{}")
	s.hears(true, "b 1 back UNKNOWN_PROCESSOR")
}

func TestDataThatDoesNotComeWholeIsHandedBackOrFailsTheAttempt(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) { e.Host(Info{Name: "add"}, adding{}) })
	s := node.joined()
	s.push("a", "add", "{}", shardOf(v1.Method_METHOD_SHARDING_PROCESS, true))
	s.push("b", "add", "{}", shardOf(v1.Method_METHOD_SHARDING_PROCESS, true))
	s.hears(true, "a 1 accepted", "b 1 accepted")
	s.data("a", false)
	s.hears(true, "a 2 started")
	close(s.hangUp)
	s = node.joined(&v1.StillYours{Attempt: ref("a"), StoredSequence: 2})
	if held := s.register.StillHeld; len(held) != 1 || held[0].Attempt.TaskId != "a" {
		t.Fatal(held)
	}
	s.hears(true, "a 3 failed TRANSIENT k_sc_ec_300050")
}

func TestPreProcessReplacesTheDataInOrderOrKeepsIt(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) { e.Host(Info{Name: "add"}, adding{}) })
	s := node.joined()
	s.push("a", "add", "{}", shardOf(v1.Method_METHOD_PRE_PROCESS, true))
	s.data("a", true, `"keep"`)
	s.hears(true, "a 1 accepted", "a 2 started", "a 3 succeeded null")
	s.push("b", "add", "{}", shardOf(v1.Method_METHOD_PRE_PROCESS, true))
	s.data("b", true, "7")
	s.hears(true, "b 1 accepted", "b 2 started", `b 3 data 0 [{"was":7}] last=false`, "b 4 failed BUSINESS k_sc_ec_300053")
}

func TestNewDataWaitsWhileMuchIsUnderWay(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) { e.Host(Info{Name: "much"}, muchData{}) })
	s := node.joined()
	s.push("a", "much", "{}", shardOf(v1.Method_METHOD_PRE_PROCESS, false))
	s.hears(true, "a 1 accepted", "a 2 started")
	items, underWay := 0, 0
	for {
		report := s.next().GetReport()
		if report.GetFinished() != nil {
			break
		}
		items += len(report.GetNewData().GetItemsJson())
		underWay++
		if underWay > 1 && !report.GetNewData().GetLast() {
			// Two pieces of half a MiB are as much as may be under way.
			s.ack("a", report.Sequence-1)
		}
		if report.GetNewData().GetLast() {
			s.ack("a", report.Sequence)
		}
	}
	if items != 40 {
		t.Fatal(items)
	}
}

type muchData struct{}

func (muchData) ShardingProcess(context.Context, *Task, Items) (any, error) {
	return nil, errors.New("not here")
}

func (muchData) PreProcess(_ context.Context, _ *Task, _ Items, data *NewData) error {
	for range 40 {
		if err := data.Add(0, strings.Repeat("x", 100*1024)); err != nil {
			return err
		}
	}
	return nil
}

func TestNoticesAndEndsOfShardsAreHandedOn(t *testing.T) {
	node, notices := newNode(t), make(chan Notice, 1)
	node.started(func(e *Executor) { e.Host(Info{Name: "add"}, adding{notices}) })
	s := node.joined()
	s.push("n", "add", "{}", shardOf(v1.Method_METHOD_NOTIFY, false), func(p *v1.Push) {
		p.Notice = &v1.Notice{ItemsDone: 1, ItemsTotal: 4, Percent: 25}
	})
	s.hears(true, "n 1 accepted", "n 2 started", "n 3 succeeded null")
	if got := <-notices; got != (Notice{1, 4, 25}) {
		t.Fatal(got)
	}
	s.push("p", "add", "{}", shardOf(v1.Method_METHOD_POST_PROCESS, true))
	result := "6"
	s.tell(&v1.ToExecutor_ShardEnds{ShardEnds: &v1.ShardEnds{Attempt: ref("p"), Ends: []*v1.ShardEnd{{Code: 301, ResultJson: &result}}}})
	s.tell(&v1.ToExecutor_ShardEnds{ShardEnds: &v1.ShardEnds{Attempt: ref("p"), Last: true, Ends: []*v1.ShardEnd{
		{Level: 1, Shard: 2, Code: 302, Error: &v1.Failure{Class: v1.FailureClass_FAILURE_CLASS_BUSINESS, Code: "bad", MessageEn: "no"}},
	}}})
	s.hears(true, "p 1 accepted", "p 2 started", `p 3 succeeded ["0 0 301 6 <nil>","1 2 302  bad: no"]`)
}
