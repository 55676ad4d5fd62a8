package campanile

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
)

func brief(ctx context.Context, task *Task) (any, error) {
	lock, err := task.Lock(ctx, "x", LockWait(0))
	if err != nil {
		return nil, err
	}
	return lock.Token(), lock.Release()
}

func keep(ctx context.Context, task *Task) (any, error) {
	lock, err := task.Locks(ctx, []string{"y", "x"}, LockWait(5*time.Second))
	if err != nil {
		return nil, err
	}
	task.Log(fmt.Sprint("has ", lock.Tokens()))
	<-ctx.Done()
	return nil, ctx.Err()
}

// asked is the next ask; reports before it are acknowledged.
func (s *stream) asked() *v1.AskLocks {
	s.t.Helper()
	for {
		message := s.next()
		if ask := message.GetAskLocks(); ask != nil {
			return ask
		}
		s.acknowledged(message)
	}
}

func (s *stream) left() *v1.LeaveLocks {
	s.t.Helper()
	for {
		message := s.next()
		if leave := message.GetLeaveLocks(); leave != nil {
			return leave
		}
		s.acknowledged(message)
	}
}

func (s *stream) acknowledged(message *v1.FromExecutor) *v1.Report {
	s.t.Helper()
	report := message.GetReport()
	if report == nil {
		s.t.Fatalf("a report, not %v", message)
	}
	if report.GetProgress() == nil && report.Sequence > 0 {
		s.tell(&v1.ToExecutor_Ack{Ack: &v1.Ack{Attempt: report.Attempt, Sequence: report.Sequence}})
	}
	return report
}

// end is how the next attempt ends, in words.
func (s *stream) end() string {
	s.t.Helper()
	for {
		message := s.next()
		if message.GetLeaveLocks() != nil {
			continue
		}
		if report := s.acknowledged(message); report.GetFinished() != nil {
			var task string
			var sequence int
			words := inWords(report)
			if _, err := fmt.Sscan(words, &task, &sequence); err != nil {
				s.t.Fatal(err)
			}
			return words[len(fmt.Sprintf("%s %d ", task, sequence)):]
		}
	}
}

func (s *stream) grant(ask *v1.AskLocks, locks ...*v1.HeldLock) {
	s.t.Helper()
	s.tell(&v1.ToExecutor_LocksGranted{LocksGranted: &v1.LocksGranted{Attempt: ask.Attempt, Ask: ask.Ask, Locks: locks}})
}

func xAndY() []*v1.HeldLock { return []*v1.HeldLock{{Name: "x", Token: 7}, {Name: "y", Token: 2}} }

// taskThatAsks is the stream of an executor whose task "a" has just asked for its locks.
func taskThatAsks(t *testing.T, name string, processor func(context.Context, *Task) (any, error)) (*scriptedNode, *stream, *v1.AskLocks) {
	t.Helper()
	node := newNode(t)
	node.started(func(e *Executor) { e.Func(name, processor) })
	s := node.joined()
	s.push("a", name, "{}")
	return node, s, s.asked()
}

func TestALockIsAskedForGrantedReleasedAndConfirmed(t *testing.T) {
	_, s, ask := taskThatAsks(t, "brief", brief)
	if len(ask.Names) != 1 || ask.Names[0] != "x" || ask.WaitMs != 0 || ask.LeaseMs != nil {
		t.Fatalf("asked %v", ask)
	}
	s.grant(ask, &v1.HeldLock{Name: "x", Token: 7})
	if leave := s.left(); leave.Ask != ask.Ask {
		t.Fatalf("left %v", leave)
	}
	s.tell(&v1.ToExecutor_LocksLeft{LocksLeft: &v1.LocksLeft{Attempt: ask.Attempt, Ask: ask.Ask}})
	if end := s.end(); end != "succeeded 7" {
		t.Fatal(end)
	}
}

func TestARefusalIsTheTasksError(t *testing.T) {
	_, s, ask := taskThatAsks(t, "brief", brief)
	why := &v1.Failure{Class: v1.FailureClass_FAILURE_CLASS_TRANSIENT, Code: "k_sc_ec_300071", MessageEn: "held"}
	s.tell(&v1.ToExecutor_LocksRefused{LocksRefused: &v1.LocksRefused{Attempt: ask.Attempt, Ask: ask.Ask, Why: why}})
	if end := s.end(); end != "failed TRANSIENT k_sc_ec_300071" {
		t.Fatal(end)
	}
}

func TestALostLockCancelsTheTaskWhichFailsAsTransient(t *testing.T) {
	_, s, ask := taskThatAsks(t, "keep", keep)
	s.grant(ask, xAndY()...)
	s.tell(&v1.ToExecutor_LocksLost{LocksLost: &v1.LocksLost{Attempt: ask.Attempt, Ask: ask.Ask, Names: []string{"y"}}})
	if end := s.end(); end != "failed TRANSIENT k_sc_ec_300070" {
		t.Fatal(end)
	}
}

func TestAfterABreakWhatIsHeldAndWhatWaitsIsToldAgain(t *testing.T) {
	node, s, first := taskThatAsks(t, "keep", keep)
	s.grant(first, xAndY()...)
	s.push("b", "keep", "{}")
	second := s.asked()
	close(s.hangUp)
	s = node.joined(&v1.StillYours{Attempt: ref("a"), StoredSequence: 2}, &v1.StillYours{Attempt: ref("b"), StoredSequence: 2})
	again, waits := s.asked(), s.asked()
	if again.Ask != first.Ask || again.Attempt.TaskId != "a" || len(again.Held) != 2 {
		t.Fatalf("told again: %v", again)
	}
	if waits.Ask != second.Ask || waits.Attempt.TaskId != "b" || len(waits.Held) != 0 || waits.WaitMs >= 5000 {
		t.Fatalf("asked again: %v", waits)
	}
}

func TestATaskThatIsCancelledWaitsForNoLock(t *testing.T) {
	_, s, ask := taskThatAsks(t, "keep", keep)
	s.ask("a", v1.CancelAsk_CANCEL_ASK_ASK)
	if leave := s.left(); leave.Ask != ask.Ask {
		t.Fatalf("left %v", leave)
	}
	if end := s.end(); end != "cancelled context canceled" {
		t.Fatal(end)
	}
}

func TestAnAttemptThatIsForgottenHoldsNothing(t *testing.T) {
	_, s, ask := taskThatAsks(t, "keep", keep)
	s.grant(ask, xAndY()...)
	s.tell(&v1.ToExecutor_Forget{Forget: &v1.Forget{Attempt: ref("a")}})
	if end := s.end(); end != "failed TRANSIENT k_sc_ec_300070" {
		t.Fatal(end)
	}
}
