package campanile

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
	"golang.org/x/crypto/nacl/box"
)

func greet(_ context.Context, task *Task) (any, error) {
	name, _ := task.Parameters()["name"].(string)
	task.Log("hello, " + name)
	return map[string]string{"greeted": name}, nil
}

// gated is a processor that says when it began and ends when the test lets it, or when it is asked to.
type gated struct{ began, open chan string }

func newGated() *gated { return &gated{make(chan string, 64), make(chan string, 64)} }

func (g *gated) Process(ctx context.Context, task *Task) (any, error) {
	g.began <- task.ID()
	select {
	case word := <-g.open:
		return word, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func TestARunIsToldStepByStepAndTheExecutorLeavesWithGoodbye(t *testing.T) {
	node := newNode(t)
	run := node.started(func(e *Executor) { e.Func("greet", greet); e.Labels = map[string]string{"zone": "a"} })
	s := node.joined()
	if r := s.register; r.Group != "g" || r.Name != "x" || len(r.BootId) != 32 || len(r.PublicKey) != 0 || r.Labels["zone"] != "a" ||
		r.Capacity.Running != 2 || r.Capacity.Queued != 2 || r.Processors[0].Name != "greet" || len(r.StillHeld) != 0 {
		t.Fatalf("registered as %v", r)
	}
	s.push("a", "greet", `{"name":"mei"}`)
	s.hears(true, "a 1 accepted", "a 2 started", "a 3 log hello, mei", `a 4 succeeded {"greeted":"mei"}`)
	run.leave()
	if s.next().GetDraining() == nil || s.next().GetGoodbye() == nil {
		t.Fatal("it does not say Draining and Goodbye")
	}
	close(s.hangUp)
	if err := run.said(); err != nil {
		t.Fatal(err)
	}
}

func TestEachKindOfEndHasItsClassAndCode(t *testing.T) {
	ends := []struct {
		name, want string
		process    Func
	}{
		{"transient", "failed TRANSIENT net", func(context.Context, *Task) (any, error) { return nil, Transient("net", "away") }},
		{"business", "failed BUSINESS bad", func(context.Context, *Task) (any, error) { return nil, fmt.Errorf("on: %w", Business("bad", "no")) }},
		{"system", "failed SYSTEM disk", func(context.Context, *Task) (any, error) { return nil, System("disk", "full") }},
		{"plain", "failed UNSPECIFIED error", func(context.Context, *Task) (any, error) { return nil, errors.New("oh") }},
		{"unasked", "failed BUSINESS k_sc_ec_300030", func(context.Context, *Task) (any, error) { return nil, ErrCancelled }},
		{"exit", "failed BUSINESS k_sc_ec_300018", func(context.Context, *Task) (any, error) { runtime.Goexit(); return nil, nil }},
		{"large", "failed BUSINESS k_sc_ec_300028", func(context.Context, *Task) (any, error) { return strings.Repeat("x", 65536), nil }},
		{"none", "succeeded null", func(context.Context, *Task) (any, error) { return nil, nil }},
		{"fields", "failed BUSINESS k_sc_ec_300010", func(_ context.Context, task *Task) (any, error) {
			return nil, task.Decode(&struct{ Name int }{})
		}},
	}
	node := newNode(t)
	node.started(func(e *Executor) {
		for _, end := range ends {
			e.Func(end.name, end.process)
		}
		e.Func("panic", func(context.Context, *Task) (any, error) { panic("oh no") })
	})
	s := node.joined()
	for _, end := range ends {
		s.push(end.name, end.name, `{"name":"mei"}`)
		s.hears(true, end.name+" 1 accepted", end.name+" 2 started", end.name+" 3 "+end.want)
	}
	s.push("p", "panic", "{}")
	s.hears(true, "p 1 accepted", "p 2 started")
	if text := inWords(s.next().GetReport()); !strings.HasPrefix(text, "p 3 log panic: oh no") {
		t.Fatal(text)
	}
	s.hears(true, "p 4 failed BUSINESS k_sc_ec_300018")
	s.push("j", "plain", "[1]")
	s.hears(true, "j 1 accepted", "j 2 started", "j 3 failed BUSINESS k_sc_ec_300010")
}

func TestAnAttemptIsRunOnceHoweverOftenItIsPushed(t *testing.T) {
	node, gate := newNode(t), newGated()
	node.started(func(e *Executor) { e.Host(Info{Name: "gate"}, gate) })
	s := node.joined()
	s.push("a", "gate", "{}")
	s.hears(false, "a 1 accepted", "a 2 started")
	s.push("a", "gate", "{}")
	s.hears(true, "a 1 accepted", "a 2 started")
	s.push("a", "gate", "{}")
	s.hears(false, "a 1 accepted")
	gate.open <- "done"
	s.hears(true, `a 3 succeeded "done"`)
	s.ask("a", v1.CancelAsk_CANCEL_ASK_ASK)
	s.hears(false, "a 0 GONE")
	s.push("a", "gate", "{}")
	s.hears(false, "a 0 back ALREADY_ENDED")
	if len(gate.began) != 1 {
		t.Fatalf("it began %d times", len(gate.began))
	}
}

func TestAnOldPushOfWhatWasHandedBackIsRefusedAndANewOneTaken(t *testing.T) {
	node, gate := newNode(t), newGated()
	node.started(func(e *Executor) { e.Host(Info{Name: "gate"}, gate); e.Capacity = 1 })
	s := node.joined()
	s.push("a", "gate", "{}")
	s.hears(true, "a 1 accepted", "a 2 started")
	s.push("b", "gate", "{}")
	s.hears(true, "b 1 accepted")
	s.tell(&v1.ToExecutor_Withdraw{Withdraw: &v1.Withdraw{Attempt: ref("b")}})
	s.push("b", "gate", "{}")
	s.hears(true, "b 2 back WITHDRAWN")
	s.push("b", "gate", "{}")
	s.tell(&v1.ToExecutor_Withdraw{Withdraw: &v1.Withdraw{Attempt: ref("c")}})
	s.hears(false, "c 0 back UNKNOWN")
	s.push("b", "gate", "{}", func(p *v1.Push) { p.SequenceAfter = 2 })
	s.hears(true, "b 3 accepted")
	s.push("d", "gate", "{}")
	s.hears(true, "d 1 back NO_ROOM")
	s.push("e", "nobody", "{}")
	s.hears(true, "e 1 back UNKNOWN_PROCESSOR")
}

func TestWorkGoesOnWithoutAStreamAndItsReportsAreHandedInLater(t *testing.T) {
	node, gate := newNode(t), newGated()
	node.started(func(e *Executor) { e.Host(Info{Name: "gate"}, gate) })
	s := node.joined()
	s.push("a", "gate", "{}")
	s.hears(false, "a 1 accepted", "a 2 started")
	close(s.hangUp)
	gate.open <- "done"
	s = node.joined(&v1.StillYours{Attempt: ref("a"), StoredSequence: 1})
	if held := s.register.StillHeld; len(held) != 1 || held[0].Attempt.TaskId != "a" || held[0].State == v1.HeldState_HELD_STATE_QUEUED {
		t.Fatal(held)
	}
	s.hears(false, "a 2 started", `a 3 succeeded "done"`)
	close(s.hangUp)
	s = node.joined()
	if held := s.register.StillHeld; len(held) != 1 || held[0].State != v1.HeldState_HELD_STATE_ENDED || held[0].LastSequence != 3 {
		t.Fatal(held)
	}
	s.hears(false, "a 2 started", `a 3 succeeded "done"`)
	s.tell(&v1.ToExecutor_Forget{Forget: &v1.Forget{Attempt: ref("a")}})
	s.push("a", "gate", "{}")
	s.hears(false, "a 0 back ALREADY_ENDED")
}

func TestWhatIsNoLongerOursIsStoppedOrNeverBegins(t *testing.T) {
	node, gate := newNode(t), newGated()
	node.started(func(e *Executor) { e.Host(Info{Name: "gate"}, gate); e.Capacity = 1 })
	s := node.joined()
	s.push("a", "gate", "{}")
	s.push("b", "gate", "{}")
	s.hears(true, "a 1 accepted", "a 2 started", "b 1 accepted")
	close(s.hangUp)
	s = node.joined()
	if len(s.register.StillHeld) != 2 {
		t.Fatal(s.register.StillHeld)
	}
	s.hears(true, "a 3 failed TRANSIENT k_sc_ec_300022")
	s.tell(&v1.ToExecutor_Withdraw{Withdraw: &v1.Withdraw{Attempt: ref("b")}})
	s.hears(false, "b 0 back UNKNOWN")
}

func TestNothingStartsWithoutALeaseAndWhatAskedForItIsStopped(t *testing.T) {
	node, gate, goesOn := newNode(t), newGated(), newGated()
	node.started(func(e *Executor) {
		e.Host(Info{Name: "stops", StopWithoutLease: true}, gate)
		e.Host(Info{Name: "goes-on"}, goesOn)
		e.Capacity = 3
	})
	s := node.joined()
	s.push("a", "stops", "{}")
	s.push("b", "goes-on", "{}")
	s.hears(true, "a 1 accepted", "a 2 started", "b 1 accepted", "b 2 started")
	s.ignoreHeartbeats(true)
	s.hears(true, "a 3 failed TRANSIENT k_sc_ec_300022")
	s.push("c", "goes-on", "{}")
	s.hears(true, "c 1 accepted")
	s.ignoreHeartbeats(false)
	s.hears(true, "c 2 started")
	goesOn.open <- "b"
	goesOn.open <- "c"
}

func TestACancellationGoesStageByStage(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) {
		e.Capacity = 1
		e.Func("stubborn", func(_ context.Context, task *Task) (any, error) {
			<-task.Reached(Kill)
			return nil, ErrCancelled
		})
	})
	s := node.joined()
	s.push("a", "stubborn", "{}")
	s.push("b", "stubborn", "{}")
	s.hears(true, "a 1 accepted", "a 2 started", "b 1 accepted")
	s.ask("b", v1.CancelAsk_CANCEL_ASK_ASK)
	s.hears(true, "b 2 ACKNOWLEDGED", "b 3 cancelled before it was started: mei")
	s.ask("a", v1.CancelAsk_CANCEL_ASK_ASK)
	s.ask("a", v1.CancelAsk_CANCEL_ASK_ASK)
	s.ask("a", v1.CancelAsk_CANCEL_ASK_TERMINATE)
	s.ask("a", v1.CancelAsk_CANCEL_ASK_KILL)
	s.hears(true, "a 3 ACKNOWLEDGED", "a 4 TERMINATED", "a 5 KILLED", "a 6 cancelled cancelled")
}

func TestADrainHandsBackTheQueueAndFinishesWhatRuns(t *testing.T) {
	node, gate := newNode(t), newGated()
	node.started(func(e *Executor) { e.Host(Info{Name: "gate"}, gate); e.Capacity = 1 })
	s := node.joined()
	s.push("a", "gate", "{}")
	s.push("b", "gate", "{}")
	s.hears(true, "a 1 accepted", "a 2 started", "b 1 accepted")
	s.tell(&v1.ToExecutor_Drain{Drain: &v1.Drain{Reason: "tea"}})
	if s.next().GetDraining() == nil {
		t.Fatal("it does not say Draining")
	}
	s.hears(true, "b 2 back DRAINING")
	s.push("c", "gate", "{}")
	s.hears(true, "c 1 back DRAINING")
	gate.open <- "done"
	s.hears(true, `a 3 succeeded "done"`)
	s.tell(&v1.ToExecutor_Resume{Resume: &v1.Resume{}})
	s.push("d", "gate", "{}")
	s.hears(true, "d 1 accepted", "d 2 started")
	gate.open <- "done"
	s.hears(true, `d 3 succeeded "done"`)
}

func TestAnExecutorWhoseTimeToLeaveIsOverStopsWhatRunsAndSaysSo(t *testing.T) {
	node, gate := newNode(t), newGated()
	run := node.started(func(e *Executor) { e.Host(Info{Name: "gate"}, gate); e.TimeToLeave = time.Millisecond })
	s := node.joined()
	s.push("a", "gate", "{}")
	s.hears(true, "a 1 accepted", "a 2 started")
	run.leave()
	if s.next().GetDraining() == nil {
		t.Fatal("it does not say Draining")
	}
	s.hears(true, "a 3 failed TRANSIENT k_sc_ec_300021")
	if s.next().GetGoodbye() == nil {
		t.Fatal("it does not say Goodbye")
	}
	if err := run.said(); err != nil {
		t.Fatal(err)
	}
}

func TestARefusalForGoodEndsTheRun(t *testing.T) {
	node := newNode(t)
	run := node.started(func(e *Executor) { e.Func("greet", greet) })
	s := node.opened()
	s.tell(&v1.ToExecutor_Refused{Refused: &v1.Refused{Code: "k_sc_ec_400005", MessageEn: "no permission", RetryAfterMs: 10}})
	s = node.opened()
	s.tell(&v1.ToExecutor_Refused{Refused: &v1.Refused{Code: "k_sc_ec_400005", MessageEn: "no permission"}})
	var refused *Refused
	if err := run.said(); !errors.As(err, &refused) || refused.Code != "k_sc_ec_400005" {
		t.Fatal(err)
	}
}

func TestWhenItsNodeIsAwayAnExecutorTurnsToTheNext(t *testing.T) {
	gone, node := newNode(t), newNode(t)
	gone.server.Stop()
	node.started(func(e *Executor) { e.Func("greet", greet); e.Nodes = []string{gone.address, node.address} })
	s := node.joined()
	s.push("a", "greet", `{"name":"mei"}`)
	s.hears(true, "a 1 accepted", "a 2 started")
}

func TestSecretsAreOpenedHereFilledInAndHidden(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) {
		e.SecretKey = strings.Repeat("42", 32)
		e.Func("use", func(_ context.Context, task *Task) (any, error) {
			list := task.Parameters()["list"].([]any)
			task.Log("using " + list[0].(string))
			return []any{len(list[0].(string)), list[1]}, nil
		})
	})
	s := node.joined()
	var public [32]byte
	copy(public[:], s.register.PublicKey)
	sealed, err := box.SealAnonymous(nil, []byte("swordfish"), &public, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	with := func(p *v1.Push) { p.Secrets = []*v1.SealedSecret{{Name: "word", Ciphertext: sealed}} }
	s.push("a", "use", `{"list":["${secret:word}!",12345678901234567890]}`, with)
	s.hears(true, "a 1 accepted", "a 2 started", "a 3 log using ***!", "a 4 succeeded [10,12345678901234567000]")
	s.push("b", "use", `{"list":["${secret:other}"]}`, with)
	s.hears(true, "b 1 accepted", "b 2 started", "b 3 failed BUSINESS k_sc_ec_300040")
	s.push("c", "use", `{"list":["${secret:word}"]}`, func(p *v1.Push) {
		p.Secrets = []*v1.SealedSecret{{Name: "word", Ciphertext: []byte("nonsense")}}
	})
	s.hears(true, "c 1 accepted", "c 2 started", "c 3 failed BUSINESS k_sc_ec_300041")
}

func TestARunThatWaitsIsAskedAboutAndDoubtMeansYes(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) { e.Host(Info{Name: "asks"}, asking{}); e.Func("greet", greet) })
	s := node.joined()
	if !s.register.Processors[0].AnswersStillNeeded || s.register.Processors[1].AnswersStillNeeded {
		t.Fatal(s.register.Processors)
	}
	for parameters, want := range map[string]bool{`{"say":"no"}`: false, `{"say":"yes"}`: true, `{"say":"panic"}`: true, `nonsense`: true} {
		s.tell(&v1.ToExecutor_StillNeeded{StillNeeded: &v1.StillNeeded{QuestionId: parameters, Processor: "asks", ParametersJson: parameters}})
		if answer := s.next().GetStillNeededAnswer(); answer.GetQuestionId() != parameters || answer.Needed != want {
			t.Fatal(parameters, answer)
		}
	}
}

type asking struct{ Func }

func (asking) StillNeeded(_ context.Context, question Question) (bool, error) {
	if question.Parameters["say"] == "panic" {
		panic("oh")
	}
	return question.Parameters["say"] != "no", nil
}

func TestALogFarAheadOfTheLinkWaitsOrLosesLinesAndCountsThem(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) {
		e.Func("much", func(_ context.Context, task *Task) (any, error) {
			out := task.Stdout()
			for range 50 {
				fmt.Fprintln(out, strings.Repeat("x", 60*1024))
			}
			fmt.Fprint(out, "no end")
			return nil, out.Close()
		})
	})
	s := node.joined()
	s.push("a", "much", "{}")
	s.hears(true, "a 1 accepted", "a 2 started")
	lines := 0
	for {
		report := s.next().GetReport()
		s.ack("a", report.Sequence)
		if report.GetFinished() != nil {
			break
		}
		lines += len(report.GetLogLines().GetLines())
		if report.GetLogLines().GetDropped() != 0 {
			t.Fatal("a writer that waits lost lines")
		}
	}
	if lines != 51 {
		t.Fatal(lines)
	}

	o := newOutbox(false, func(bool) {})
	for range 20 {
		o.line(&v1.LogLine{Text: strings.Repeat("x", 64*1024)})
	}
	kept, dropped := 0, uint64(0)
	for taken := o.takeLines(256 * 1024); taken != nil; taken = o.takeLines(256 * 1024) {
		if dropped != 0 {
			t.Fatal("the count does not come with the last of them")
		}
		kept += len(taken.Lines)
		dropped += taken.Dropped
	}
	if kept != 16 || dropped != 4 {
		t.Fatal(kept, dropped)
	}
}

func TestALineIsCutAndMadeValid(t *testing.T) {
	for text, want := range map[string]string{"a\xff\xfeb": "a\uFFFDb", "end\r": "end", "时": "时"} {
		if got, cut := asLine([]byte(text), 0); got != want || cut != 0 {
			t.Errorf("%q became %q, %d cut", text, got, cut)
		}
	}
	long, cut := asLine([]byte(strings.Repeat("时", maxLineBytes)), 0)
	if int(cut) != 3*maxLineBytes-maxLineBytes/3*3 || strings.Contains(long, "\uFFFD") || !strings.HasSuffix(long, "字节]") {
		t.Errorf("%d cut: …%s", cut, long[len(long)-60:])
	}
}

func TestProgressIsKeptWithinItsBoundsAndOnlyTheLatestIsSaid(t *testing.T) {
	node := newNode(t)
	node.started(func(e *Executor) {
		e.Func("walk", func(_ context.Context, task *Task) (any, error) {
			task.Progress(-3, "begun")
			task.Progress(250, "over")
			return nil, nil
		})
	})
	s := node.joined()
	s.push("a", "walk", "{}")
	s.hears(true, "a 1 accepted", "a 2 started", "a 3 progress 100 over", "a 4 succeeded null")
}

func TestWhatCouldNotWorkIsRefusedBeforeItRuns(t *testing.T) {
	nobody := func(context.Context, *Task) (any, error) { return nil, nil }
	for want, executor := range map[string]*Executor{
		"needs a group":         {Name: "n", Nodes: []string{"x"}},
		"the address of a node": {Group: "g"},
		"at least one":          {Group: "g", Nodes: []string{"x"}},
		"capacity":              {Group: "g", Nodes: []string{"x"}, Capacity: -1},
	} {
		if err := executor.Run(context.Background()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("wanted %q, got %v", want, err)
		}
	}
	executor := &Executor{Group: "g", Nodes: []string{"x"}}
	executor.Func("a", nobody)
	executor.Func("a", nobody)
	executor.Host(Info{Name: "b"}, struct{}{})
	executor.Host(Info{Name: "c", Parameters: []byte("[]")}, Func(nobody))
	err := executor.Run(context.Background())
	for _, want := range []string{"two processors are named a", "b has neither", "schema of processor c"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("wanted %q in %v", want, err)
		}
	}
}
