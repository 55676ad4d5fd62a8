package campanile

import (
	"context"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
)

const (
	// Log text of one attempt that may be under way without an Ack.
	maxLogUnderWay = 1024 * 1024
	// Log text in one report.
	maxLogInReport = 256 * 1024
	// Attempts that ended or were handed back are remembered, so that a late push of one is not run.
	rememberedEnds = 10_000

	// The pace at which the executor ends what it has to end by itself.
	askToTerminate  = 5 * time.Second
	terminateToKill = 10 * time.Second
)

type key struct {
	task    string
	attempt uint32
}

func keyOf(attempt *v1.AttemptRef) key { return key{attempt.GetTaskId(), attempt.GetAttempt()} }

func (k key) attemptRef() *v1.AttemptRef { return &v1.AttemptRef{TaskId: k.task, Attempt: k.attempt} }

type phase int

const (
	queued phase = iota
	running
	ended
	handedBack
)

// record is an attempt that the executor has, or of which it still has something to report. Only the session's own
// goroutine touches it.
type record struct {
	key          key
	phase        phase
	push         *v1.Push
	hosted       *hosted
	feed         *feed
	lastSequence uint64
	accepted     uint64
	// In order of their numbers.
	unacknowledged []*v1.Report
	logUnderWay    int
	lastProgress   *v1.Progress
	outbox         *outbox
	ending         *ending
	ctx            context.Context
	stopping       *stopping
}

// stopping is an end that the executor itself wants, at its own pace.
type stopping struct {
	why  *Failure
	next time.Time
}

// outgoing is where reports go; nil without a link, when there is nobody to say it to.
type outgoing interface{ say(*v1.FromExecutor) }

func report(what any, about key, sequence uint64) *v1.Report {
	r := &v1.Report{Attempt: about.attemptRef(), Sequence: sequence, AtMs: time.Now().UnixMilli()}
	switch what := what.(type) {
	case *v1.Accepted:
		r.What = &v1.Report_Accepted{Accepted: what}
	case *v1.HandedBack:
		r.What = &v1.Report_HandedBack{HandedBack: what}
	case *v1.Started:
		r.What = &v1.Report_Started{Started: what}
	case *v1.Progress:
		r.What = &v1.Report_Progress{Progress: what}
	case *v1.Items:
		r.What = &v1.Report_Items{Items: what}
	case *v1.LogLines:
		r.What = &v1.Report_LogLines{LogLines: what}
	case *v1.Finished:
		r.What = &v1.Report_Finished{Finished: what}
	case *v1.CancelStage:
		r.What = &v1.Report_CancelStage{CancelStage: what}
	case *v1.NewData:
		r.What = &v1.Report_NewData{NewData: what}
	}
	return r
}

func (r *record) report(what any, out outgoing) {
	r.lastSequence++
	said := report(what, r.key, r.lastSequence)
	if lines := said.GetLogLines(); lines != nil {
		r.logUnderWay += weight(lines)
	}
	if said.GetProgress() == nil {
		r.unacknowledged = append(r.unacknowledged, said)
	}
	say(out, said)
}

func say(out outgoing, report *v1.Report) {
	if out != nil {
		out.say(&v1.FromExecutor{Message: &v1.FromExecutor_Report{Report: report}})
	}
}

func (r *record) acknowledge(stored func(sequence uint64) bool) {
	kept := r.unacknowledged[:0]
	for _, report := range r.unacknowledged {
		if !stored(report.Sequence) {
			kept = append(kept, report)
			continue
		}
		if lines := report.GetLogLines(); lines != nil {
			r.logUnderWay -= weight(lines)
		}
		if data := report.GetNewData(); data != nil {
			r.outbox.dataTaken(dataWeight(data))
		}
	}
	clear(r.unacknowledged[len(kept):])
	r.unacknowledged = kept
}

// flush moves what the processor said into reports. Without a link it stays where its size is bounded, unless the
// attempt is over.
func (r *record) flush(out outgoing) {
	over := r.phase == ended
	if out == nil && !over {
		return
	}
	r.outbox.looked()
	for items := r.outbox.takeItems(); items != nil; items = r.outbox.takeItems() {
		r.report(items, out)
	}
	for data := r.outbox.takeData(); data != nil; data = r.outbox.takeData() {
		r.report(data, out)
	}
	for over || r.logUnderWay < maxLogUnderWay {
		lines := r.outbox.takeLines(maxLogInReport)
		if lines == nil {
			break
		}
		r.report(lines, out)
	}
	if progress := r.outbox.takeProgress(); progress != nil {
		r.lastProgress = progress
		r.report(progress, out)
	}
}

func (r *record) sendAgain(out outgoing) {
	for _, report := range r.unacknowledged {
		say(out, report)
	}
	if r.phase == running && r.lastProgress != nil {
		r.report(r.lastProgress, out)
	}
}

func (r *record) isOver() bool { return r.phase == ended || r.phase == handedBack }

// stop begins an end of the executor's own making; a second reason changes nothing.
func (r *record) stop(why *Failure, from CancelStage, next time.Time) {
	switch {
	case r.stopping == nil:
		r.stopping = &stopping{why, next}
	case r.stopping.next.IsZero():
		r.stopping.next = next
	}
	r.ending.reach(from)
}

// askToEnd tells the processor to end, and leaves it the time to.
func (r *record) askToEnd(why *Failure) {
	if r.stopping == nil {
		r.stopping = &stopping{why: why}
	}
	r.ending.reach(Ask)
}

func (r *record) goOnStopping(now time.Time) {
	if r.stopping == nil || r.stopping.next.IsZero() || r.stopping.next.After(now) {
		return
	}
	if r.ending.at() < Terminate {
		r.ending.reach(Terminate)
		r.stopping.next = now.Add(terminateToKill)
		return
	}
	r.ending.reach(Kill)
	r.stopping.next = time.Time{}
}

// remembered are the last attempts of some fate, with what is known of each.
type remembered[T any] struct {
	order []key
	known map[key]T
}

func (r *remembered[T]) add(k key, what T) {
	if r.known == nil {
		r.known = map[key]T{}
	}
	if _, known := r.known[k]; !known {
		r.order = append(r.order, k)
	}
	r.known[k] = what
	if len(r.order) > rememberedEnds {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
}
