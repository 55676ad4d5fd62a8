package campanile

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
)

// How an attempt is begun, run and ended; the first and last in the session's loop, the middle in a goroutine.

// outcome is how a processor ended.
type outcome struct {
	result any
	err    error
}

// startWhatMay starts what waits and has what it needs, while there is a lease and room.
func (s *session) startWhatMay(now time.Time) {
	if s.leaseUntil.IsZero() || !s.leaseUntil.After(now) || s.leaving != nil {
		return
	}
	most, _ := s.executor.capacity()
	free := most
	for _, record := range s.records {
		if record.phase == running {
			free--
		}
	}
	waiting := s.queue[:0]
	for _, k := range s.queue {
		record := s.records[k]
		if free <= 0 || !record.feed.begun() {
			waiting = append(waiting, k)
			continue
		}
		free--
		s.start(record)
	}
	s.queue = waiting
}

func (s *session) start(r *record) {
	r.phase = running
	r.report(&v1.Started{}, s.out())
	task := &Task{
		push: r.push, context: r.push.Context, outbox: r.outbox, ending: r.ending,
		executor: s.executor.Name, bootID: s.bootID, locks: s.lockDoor(r.key),
	}
	method := r.hosted.methods[r.push.Method]
	ctx, feed, keys := r.ctx, r.feed, s.keys
	go func() {
		// Stays so where the processor ends its goroutine instead of returning.
		ended := outcome{err: panicked("the processor ended its goroutine")}
		defer func() {
			s.mailbox.post(func(time.Time) { s.finish(r, task, ended) })
		}()
		ended = seeThrough(ctx, task, keys, method, feed)
	}()
}

// seeThrough runs a processor to its end, whatever end that is.
func seeThrough(ctx context.Context, task *Task, keys keyPair, method method, feed *feed) (ended outcome) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if cause := recover(); cause != nil {
			task.Logf("panic: %v\n%s", cause, debug.Stack())
			ended = outcome{err: panicked(fmt.Sprint(cause))}
		}
	}()
	if failure := task.prepare(keys); failure != nil {
		returned = true
		return outcome{err: failure}
	}
	result, err := method(ctx, task, feed)
	returned = true
	return outcome{result, err}
}

// prepare reads the parameters and fills in their secrets.
func (t *Task) prepare(keys keyPair) *Failure {
	t.raw = json.RawMessage(t.push.ParametersJson)
	if len(t.raw) == 0 {
		t.raw = json.RawMessage("{}")
	}
	if secretMark.Match(t.raw) {
		secrets, failure := keys.open(t.push.Secrets)
		if failure != nil {
			return failure
		}
		t.secrets = masking(secrets)
		raw, failure := filledIn(t.raw, secrets)
		if failure != nil {
			return failure
		}
		t.raw = raw
	}
	if err := json.Unmarshal(t.raw, &t.parameters); err != nil {
		return parametersRefused(".", err.Error()).Because(err)
	}
	return nil
}

// finish is called by the loop once the processor is over.
func (s *session) finish(r *record, task *Task, outcome outcome) {
	s.forgetLocks(r.key)
	r.phase = ended
	verdict := r.verdict(task, outcome)
	r.outbox.close()
	r.flush(s.out())
	r.report(verdict, s.out())
	r.ending.cancel()
}

// verdict is what the node is told of an end.
func (r *record) verdict(task *Task, outcome outcome) *v1.Finished {
	asked := r.ending.at() > NotCancelled
	var failure *Failure
	switch {
	case r.feed.isBroken() && !asked:
		failure = incomplete()
	case outcome.err == nil:
		return succeeded(outcome.result, task.masked)
	case !isCancellation(outcome.err):
		failure = asFailure(outcome.err)
	case r.stopping != nil:
		failure = r.stopping.why
	case asked:
		return cancelled(task.masked(outcome.err.Error()))
	default:
		failure = cancelledUnasked()
	}
	told := *failure
	told.Message, told.Chinese = task.masked(told.Message), task.masked(told.Chinese)
	return told.finished()
}

func succeeded(result any, masked func(string) string) *v1.Finished {
	text, err := asJSON(result)
	if err != nil {
		return Business("result_not_json", "the result is not JSON: "+err.Error()).finished()
	}
	if len(text) > maxResultBytes {
		return resultTooLarge(len(text)).finished()
	}
	return &v1.Finished{Outcome: &v1.Finished_Succeeded{Succeeded: &v1.Succeeded{ResultJson: masked(string(text))}}}
}

// pending: an attempt has something to say, soon or now.
func (s *session) pending(k key, pressing bool, now time.Time) {
	record := s.records[k]
	switch {
	case record == nil:
	case pressing:
		record.flush(s.out())
	case s.flushAt.IsZero():
		s.flushAt = now.Add(flushEvery)
	}
}

func (s *session) askStillNeeded(question *v1.StillNeeded) {
	answer := func(needed bool, message string) {
		message = cut(message, maxRemarkBytes)
		answer := &v1.StillNeededAnswer{QuestionId: question.QuestionId, Needed: needed, Message: message}
		s.mailbox.post(func(time.Time) {
			s.say(&v1.FromExecutor{Message: &v1.FromExecutor_StillNeededAnswer{StillNeededAnswer: answer}})
		})
	}
	hosted := s.executor.processors[question.Processor]
	if hosted == nil || hosted.asks == nil {
		answer(true, "no such processor here")
		return
	}
	ctx, done := context.WithTimeout(s.lives, answerWithin)
	// One answer, whichever is first.
	var once sync.Once
	context.AfterFunc(ctx, func() { once.Do(func() { answer(true, "no answer in time") }) })
	go func() {
		defer done()
		needed, message := true, ""
		defer func() {
			if cause := recover(); cause != nil {
				needed, message = true, fmt.Sprint("the processor panicked: ", cause)
			}
			once.Do(func() { answer(needed, message) })
		}()
		asking := Question{
			Job: question.Context.GetJob(), InstanceID: question.Context.GetInstanceId(),
			Planned: time.UnixMilli(question.Context.GetPlannedMs()), Due: time.UnixMilli(question.Context.GetDueMs()),
		}
		err := json.Unmarshal([]byte(question.ParametersJson), &asking.Parameters)
		if err == nil {
			needed, err = hosted.asks.StillNeeded(ctx, asking)
		}
		if err != nil {
			needed, message = true, err.Error()
		}
	}()
}

// asJSON leaves <, > and & as they are: nobody puts this into a page of HTML unseen.
func asJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
