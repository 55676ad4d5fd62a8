package campanile

import (
	"strings"
	"sync"
	"unicode/utf8"

	v1 "campanile.dev/sdk-go/executorv1"
)

// What a running attempt has said and the session has not sent yet.
//
// It is where a processor's speed meets the link's: memory stays bounded, and a processor that is faster than the link
// either waits (where it asked to) or loses log lines, counted. Outcomes of items are never lost; of progress only the
// latest is kept.

const (
	// Log text held here for one attempt.
	maxPendingBytes = 1024 * 1024
	// From here on the session is told at once rather than at its next flush.
	pressingBytes = 128 * 1024
	// A message of an item or of progress is cut here.
	maxRemarkBytes = 2 * 1024
	// What one line costs beyond its text.
	lineCost = 64

	maxItemsPerReport = 1000
	maxLineBytes      = 64 * 1024
	maxResultBytes    = 64 * 1024
	maxFailureBytes   = 8 * 1024
	// No message of the protocol is larger than 1 MiB; an item leaves room for the rest of its message.
	maxItemBytes = 1_000_000
	// Of several items in one message.
	maxDataBytes = 512 * 1024
)

type outbox struct {
	mutex    sync.Mutex
	room     *sync.Cond
	wake     func(pressing bool)
	told     bool
	pressed  bool
	linked   bool
	closed   bool
	lines    []*v1.LogLine
	bytes    int
	dropped  uint64
	items    []*v1.ItemOutcome
	progress *v1.Progress
	data     []*v1.NewData
	// Bytes of new data that are here or under way; bounded by making the processor wait.
	dataBytes int
}

func newOutbox(linked bool, wake func(pressing bool)) *outbox {
	o := &outbox{wake: wake, linked: linked}
	o.room = sync.NewCond(&o.mutex)
	return o
}

// tell wakes the session once, and again when it presses. Called with the mutex held, which it lets go.
func (o *outbox) tell() {
	pressing := o.bytes >= pressingBytes || len(o.items) >= maxItemsPerReport || len(o.data) > 0
	news := !o.told || (pressing && !o.pressed)
	o.told, o.pressed = true, o.pressed || pressing
	o.mutex.Unlock()
	if news {
		o.wake(pressing)
	}
}

// line never waits: with no room the line is dropped and counted.
func (o *outbox) line(line *v1.LogLine) {
	o.mutex.Lock()
	o.put(line)
	o.tell()
}

// lineWhenRoom waits for room while there is a link that can make some.
func (o *outbox) lineWhenRoom(line *v1.LogLine) {
	o.mutex.Lock()
	for o.bytes >= maxPendingBytes && o.linked && !o.closed {
		o.room.Wait()
	}
	o.put(line)
	o.tell()
}

func (o *outbox) put(line *v1.LogLine) {
	if o.bytes >= maxPendingBytes {
		o.dropped++
		return
	}
	o.bytes += len(line.Text) + lineCost
	o.lines = append(o.lines, line)
}

func (o *outbox) item(index uint64, succeeded bool, message string) {
	o.mutex.Lock()
	o.items = append(o.items, &v1.ItemOutcome{Index: index, Succeeded: succeeded, Message: cut(message, maxRemarkBytes)})
	o.tell()
}

func (o *outbox) setProgress(percent *float64, message string) {
	o.mutex.Lock()
	o.progress = &v1.Progress{Percent: percent, Message: cut(message, maxRemarkBytes)}
	o.tell()
}

// newData waits while too much is under way, link or no link: data may not be lost. False once the attempt is over.
func (o *outbox) newData(piece *v1.NewData, stop <-chan struct{}) bool {
	waiting := make(chan struct{})
	defer close(waiting)
	go func() {
		select {
		case <-stop:
			o.mutex.Lock()
			o.room.Broadcast()
			o.mutex.Unlock()
		case <-waiting:
		}
	}()
	stopped := func() bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	}
	o.mutex.Lock()
	for o.dataBytes >= maxPendingBytes && !o.closed && !stopped() {
		o.room.Wait()
	}
	if o.closed || stopped() {
		o.mutex.Unlock()
		return false
	}
	o.data = append(o.data, piece)
	o.dataBytes += dataWeight(piece)
	o.tell()
	return true
}

func dataWeight(piece *v1.NewData) int {
	weight := lineCost
	for _, item := range piece.ItemsJson {
		weight += len(item)
	}
	return weight
}

func (o *outbox) dataTaken(weight int) {
	o.mutex.Lock()
	o.dataBytes -= weight
	o.room.Broadcast()
	o.mutex.Unlock()
}

func (o *outbox) setLinked(linked bool) {
	o.mutex.Lock()
	o.linked = linked
	o.room.Broadcast()
	o.mutex.Unlock()
}

// close lets go of whoever waits: the attempt is over.
func (o *outbox) close() {
	o.mutex.Lock()
	o.closed = true
	o.room.Broadcast()
	o.mutex.Unlock()
}

// takeLines gives the oldest lines, at most about maxBytes of them; nil when there is nothing to say.
func (o *outbox) takeLines(maxBytes int) *v1.LogLines {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.lines) == 0 && o.dropped == 0 {
		return nil
	}
	count, bytes := 0, 0
	for count < len(o.lines) && bytes < maxBytes {
		bytes += len(o.lines[count].Text) + lineCost
		count++
	}
	taken := &v1.LogLines{Lines: o.lines[:count:count]}
	o.lines = o.lines[count:]
	o.bytes -= bytes
	// Lines are dropped for want of room, thus after all those that had room.
	if len(o.lines) == 0 {
		o.lines = nil
		taken.Dropped, o.dropped = o.dropped, 0
	}
	o.room.Broadcast()
	return taken
}

func (o *outbox) takeItems() *v1.Items {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.items) == 0 {
		return nil
	}
	count, bytes := 0, 0
	for count < len(o.items) && count < maxItemsPerReport && bytes < maxPendingBytes/2 {
		bytes += len(o.items[count].Message) + 16
		count++
	}
	taken := &v1.Items{Outcomes: o.items[:count:count]}
	o.items = o.items[count:]
	return taken
}

func (o *outbox) takeProgress() *v1.Progress {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	taken := o.progress
	o.progress = nil
	return taken
}

func (o *outbox) takeData() *v1.NewData {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(o.data) == 0 {
		return nil
	}
	taken := o.data[0]
	o.data = o.data[1:]
	return taken
}

// looked: the session has looked; the next thing said wakes it again.
func (o *outbox) looked() {
	o.mutex.Lock()
	o.told, o.pressed = false, false
	o.mutex.Unlock()
}

// cut gives at most maxBytes of text, whole characters.
func cut(text string, maxBytes int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxBytes {
		return text
	}
	return text[:boundary(text, maxBytes)] + " …"
}

func boundary(text string, at int) int {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

// weight is what a report of log lines weighs while it is under way.
func weight(lines *v1.LogLines) int {
	total := 0
	for _, line := range lines.Lines {
		total += len(line.Text) + lineCost
	}
	return total
}
