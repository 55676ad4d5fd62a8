package campanile

import (
	"context"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
)

// The executor's side of the protocol: one loop that holds every attempt, the lease and the link.
//
// The loop waits for one event at a time and answers it without waiting, so each rule below is plain code on plain
// state. Processors run in goroutines of their own and speak to the loop through its mailbox and their outboxes; the
// loop never waits for them, nor for the node.
//
// It does not watch deadlines and does not retry tasks: the node does. It decides only what is the executor's to
// decide: what has room, what may start (nothing without a lease), what was seen before, and when to let go.

const (
	protocolVersion = 1

	// What a processor says reaches the node this much later at most, unless it presses.
	flushEvery = 100 * time.Millisecond

	firstRetry   = 100 * time.Millisecond
	longestRetry = 2 * time.Second
	// A node that takes a stream and then does not answer Register is left.
	welcomeWithin = 10 * time.Second
	machineEvery  = 10 * time.Second

	// At shutdown: from TERM to KILL, from KILL to giving up, and how long the last acknowledgements are waited for.
	leaveStep    = 5 * time.Second
	answerWithin = 2 * time.Second
	// How long the node is given to take Goodbye.
	goodbyeWithin = time.Second
)

type linkState int

const (
	down linkState = iota
	connecting
	// Register is sent; nothing else may be before Welcome.
	joining
	up
)

type beat struct {
	number uint64
	sent   time.Time
}

type leaving struct {
	finishBy, killAt, giveUp time.Time
	stopped                  bool
	// Set once nothing runs.
	reportBy time.Time
	// Set once Goodbye is said.
	goneBy time.Time
}

type connected struct {
	wire *wire
	err  error
}

type session struct {
	executor *Executor
	bootID   string
	keys     keyPair
	machine  machine

	lives    context.Context
	mailbox  mailbox
	opened   chan connected
	link     linkState
	wire     *wire
	retryAt  time.Time
	since    time.Time
	tries    int
	tried    int
	told     []*v1.NodeAddress
	draining bool

	heartbeat, lease time.Duration
	// Zero: there is none.
	leaseUntil    time.Time
	nextHeartbeat time.Time
	nextMachine   time.Time
	heartbeats    uint64
	sent          []beat
	lastHeard     time.Time

	records map[key]*record
	// Asks for locks that are not over.
	claims map[claimKey]*openClaim
	queue  []key
	ended  remembered[struct{}]
	// The number of the report that handed back an attempt on this stream. What was pushed on an earlier one does not
	// come on this.
	back    remembered[uint64]
	flushAt time.Time

	leaving *leaving
	refused *Refused
}

// mailbox is what processors' goroutines say to the loop. It never makes them wait.
type mailbox struct {
	mutex   sync.Mutex
	waiting []func(now time.Time)
	news    chan struct{}
}

func (m *mailbox) post(happening func(now time.Time)) {
	m.mutex.Lock()
	m.waiting = append(m.waiting, happening)
	m.mutex.Unlock()
	select {
	case m.news <- struct{}{}:
	default:
	}
}

func (m *mailbox) take() []func(now time.Time) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	taken := m.waiting
	m.waiting = nil
	return taken
}

func newSession(executor *Executor, bootID string, keys keyPair) *session {
	return &session{
		executor: executor, bootID: bootID, keys: keys,
		mailbox: mailbox{news: make(chan struct{}, 1)}, opened: make(chan connected, 1),
		retryAt: time.Now(), heartbeat: time.Second, lease: 3 * time.Second,
		records: map[key]*record{}, claims: map[claimKey]*openClaim{},
	}
}

func (s *session) run(shutdown context.Context) error {
	lives, end := context.WithCancel(context.Background())
	defer end()
	s.lives = lives
	for {
		now := time.Now()
		s.keepTime(now)
		s.startWhatMay(now)
		if left, may := s.mayLeave(now); may {
			return s.end(left)
		}
		s.awaitEvent(shutdown, now)
	}
}

func (s *session) end(left Left) error {
	if s.wire != nil {
		s.wire.close()
	}
	// What still runs has nobody to report to.
	for _, record := range s.records {
		record.ending.reach(Kill)
		record.outbox.close()
	}
	switch {
	case s.refused != nil:
		return s.refused
	case left != Left{}:
		return &left
	}
	return nil
}

func (s *session) awaitEvent(shutdown context.Context, now time.Time) {
	timer := time.NewTimer(s.wakeAt(now).Sub(now))
	defer timer.Stop()
	var asked <-chan struct{}
	if s.leaving == nil {
		asked = shutdown.Done()
	}
	var said <-chan *v1.ToExecutor
	var broken <-chan struct{}
	if s.link == joining || s.link == up {
		said, broken = s.wire.fromNode, s.wire.broken
	}
	select {
	case <-asked:
		s.leave(time.Now(), s.executor.TimeToLeave)
	case <-timer.C:
	case <-s.mailbox.news:
		now := time.Now()
		for _, happening := range s.mailbox.take() {
			happening(now)
		}
	case <-s.executor.resized:
		s.sayCapacity()
	case opened := <-s.opened:
		s.join(opened, time.Now())
	case message := <-said:
		s.heard(message, time.Now())
	case <-broken:
		// What it said before it broke still counts.
		for len(s.wire.fromNode) > 0 && (s.link == joining || s.link == up) {
			s.heard(<-s.wire.fromNode, time.Now())
		}
		if s.link == joining || s.link == up {
			if s.leaving == nil {
				s.executor.Log.Info("campanile: the stream broke; connecting again", "executor", s.executor.Name)
			}
			s.loseLink(time.Now())
		}
	}
}

// wakeAt is the next moment at which time alone changes something.
func (s *session) wakeAt(now time.Time) time.Time {
	next := now.Add(time.Hour)
	consider := func(moments ...time.Time) {
		for _, moment := range moments {
			if !moment.IsZero() && moment.Before(next) {
				next = moment
			}
		}
	}
	switch s.link {
	case down:
		consider(s.retryAt)
	case joining:
		consider(s.since.Add(welcomeWithin))
	case up:
		consider(s.nextHeartbeat, s.lastHeard.Add(2*s.lease))
	}
	consider(s.leaseUntil, s.flushAt)
	for _, record := range s.records {
		if record.phase == running && record.stopping != nil {
			consider(record.stopping.next)
		}
	}
	if leaving := s.leaving; leaving != nil {
		if !leaving.stopped {
			consider(leaving.finishBy)
		}
		consider(leaving.killAt, leaving.goneBy)
		if leaving.reportBy.IsZero() {
			consider(leaving.giveUp)
		}
		consider(leaving.reportBy)
		if !leaving.goneBy.IsZero() {
			consider(now.Add(10 * time.Millisecond))
		}
	}
	return next
}

// out is where to say something, or nil.
func (s *session) out() outgoing {
	if s.link != up {
		return nil
	}
	return s.wire
}

func (s *session) say(message *v1.FromExecutor) {
	if s.link == up {
		s.wire.say(message)
	}
}

// ------------------------------------------------------------------- time --

func (s *session) keepTime(now time.Time) {
	switch {
	case s.link == down && !s.retryAt.After(now):
		s.connect()
	case s.link == joining && !s.since.Add(welcomeWithin).After(now):
		s.loseLink(now)
	case s.link == up && !s.lastHeard.Add(2*s.lease).After(now):
		s.executor.Log.Warn("campanile: the node fell silent; connecting again", "executor", s.executor.Name)
		s.loseLink(now)
	case s.link == up && !s.nextHeartbeat.After(now):
		s.beat(now)
	}
	if !s.leaseUntil.IsZero() && !s.leaseUntil.After(now) {
		s.loseLease(now)
	}
	if !s.flushAt.IsZero() && !s.flushAt.After(now) {
		s.flushAt = time.Time{}
		for _, record := range s.records {
			record.flush(s.out())
		}
	}
	for _, record := range s.records {
		if record.phase == running {
			record.goOnStopping(now)
		}
	}
	s.goOnLeaving(now)
}

func (s *session) beat(now time.Time) {
	s.heartbeats++
	s.sent = append(s.sent, beat{s.heartbeats, now})
	message := &v1.Heartbeat{Number: s.heartbeats}
	if !s.nextMachine.After(now) {
		s.nextMachine = now.Add(machineEvery)
		message.Machine = s.machine.read()
	}
	s.say(&v1.FromExecutor{Message: &v1.FromExecutor_Heartbeat{Heartbeat: message}})
	s.nextHeartbeat = now.Add(s.heartbeat)
}

// loseLease: nothing starts, and what asked for it is stopped.
func (s *session) loseLease(now time.Time) {
	s.executor.Log.Warn("campanile: the lease ended; nothing new is started", "executor", s.executor.Name)
	s.leaseUntil = time.Time{}
	s.loseLocks(func(key) bool { return true })
	for _, record := range s.records {
		if record.phase == running && record.hosted.info.StopWithoutLease {
			record.stop(leaseLost(), Ask, now.Add(askToTerminate))
		}
	}
}

func (s *session) leaseExtended(ack *v1.HeartbeatAck, now time.Time) {
	for len(s.sent) > 0 && s.sent[0].number <= ack.Number {
		beat := s.sent[0]
		s.sent = s.sent[1:]
		if beat.number != ack.Number {
			continue
		}
		s.lease = milliseconds(ack.LeaseMs)
		if until := beat.sent.Add(s.lease); until.After(now) && until.After(s.leaseUntil) {
			s.leaseUntil = until
		}
	}
}

func milliseconds(count uint32) time.Duration { return time.Duration(max(1, count)) * time.Millisecond }

// ------------------------------------------------------------------- link --

// addresses are those told by the last node, and those given to begin with.
func (s *session) addresses() []string {
	var addresses []string
	for _, node := range s.told {
		addresses = append(addresses, node.Address)
	}
	addresses = append(addresses, s.executor.Nodes...)
	var each []string
	for _, address := range addresses {
		if address != "" && !slices.Contains(each, address) {
			each = append(each, address)
		}
	}
	return each
}

func (s *session) connect() {
	s.link = connecting
	addresses := s.addresses()
	address := addresses[s.tried%len(addresses)]
	security := s.executor.TLS
	go func() {
		wire, err := open(s.lives, address, security)
		s.opened <- connected{wire, err}
	}()
}

func (s *session) join(opened connected, now time.Time) {
	if s.link != connecting {
		if opened.wire != nil {
			opened.wire.close()
		}
		return
	}
	if opened.err != nil {
		s.executor.Log.Debug("campanile: no stream yet", "executor", s.executor.Name, "error", opened.err)
		s.loseLink(now)
		return
	}
	room, queue := s.executor.capacity()
	register := &v1.Register{
		ProtocolVersion: protocolVersion, Group: s.executor.Group, Name: s.executor.Name, BootId: s.bootID,
		Labels: s.executor.Labels, Capacity: &v1.Capacity{Running: uint32(room), Queued: uint32(queue)},
		SdkVersion: Version, Token: s.executor.Token, PublicKey: s.keys.registered(),
	}
	for _, hosted := range s.executor.processors {
		register.Processors = append(register.Processors, hosted.registered())
	}
	sort.Slice(register.Processors, func(a, b int) bool { return register.Processors[a].Name < register.Processors[b].Name })
	states := map[phase]v1.HeldState{
		queued: v1.HeldState_HELD_STATE_QUEUED, running: v1.HeldState_HELD_STATE_RUNNING, ended: v1.HeldState_HELD_STATE_ENDED,
	}
	for _, record := range s.records {
		if state, held := states[record.phase]; held {
			register.StillHeld = append(register.StillHeld, &v1.HeldAttempt{
				Attempt: record.key.attemptRef(), State: state, LastSequence: record.lastSequence,
			})
		}
	}
	opened.wire.say(&v1.FromExecutor{Message: &v1.FromExecutor_Register{Register: register}})
	s.link, s.wire, s.since, s.lastHeard = joining, opened.wire, now, now
}

// loseLink turns to the next node, after a while that grows.
func (s *session) loseLink(now time.Time) {
	s.tries++
	s.tried++
	longest := min(longestRetry, firstRetry<<min(s.tries-1, 10))
	s.breakLink(now.Add(longest/2 + time.Duration(rand.Int64N(int64(longest/2)))))
}

func (s *session) breakLink(retryAt time.Time) {
	if s.wire != nil {
		s.wire.close()
	}
	s.link, s.wire, s.retryAt, s.sent = down, nil, retryAt, nil
	var incomplete []key
	for _, record := range s.records {
		record.outbox.setLinked(false)
		if !record.isOver() && record.feed.breakOff() && record.phase == queued {
			incomplete = append(incomplete, record.key)
		}
	}
	// Not held any more when the stream is there again, they are free to go elsewhere.
	for _, key := range incomplete {
		s.drop(key)
	}
}

func (s *session) drop(k key) {
	if record := s.records[k]; record != nil {
		record.outbox.close()
		delete(s.records, k)
	}
	s.queue = slices.DeleteFunc(s.queue, func(queued key) bool { return queued == k })
}

func (s *session) welcomed(welcome *v1.Welcome, now time.Time) {
	if s.link != joining {
		s.executor.Log.Warn("campanile: a second Welcome on one stream; connecting again", "executor", s.executor.Name)
		s.loseLink(now)
		return
	}
	s.executor.Log.Info("campanile: joined", "executor", s.executor.Name, "node", welcome.Node)
	s.link, s.tries = up, 0
	s.heartbeat, s.lease = milliseconds(welcome.HeartbeatMs), milliseconds(welcome.LeaseMs)
	s.leaseUntil = s.since.Add(s.lease)
	s.heartbeats, s.nextHeartbeat = 0, now
	s.told, s.draining = welcome.Nodes, welcome.Draining
	s.back = remembered[uint64]{}

	ours := map[key]uint64{}
	for _, still := range welcome.StillYours {
		ours[keyOf(still.Attempt)] = still.StoredSequence
	}
	for _, record := range s.inOrder() {
		record.outbox.setLinked(true)
		stored, still := ours[record.key]
		switch {
		case still:
			record.acknowledge(func(sequence uint64) bool { return sequence <= stored })
		case record.phase == queued || record.phase == handedBack:
			s.drop(record.key)
			continue
		case record.phase == running:
			record.stop(leaseLost(), Ask, now.Add(askToTerminate))
		}
		// What ended and is not ours is reported once more, so that it can be shown as finished too late.
		record.sendAgain(s.out())
		record.flush(s.out())
	}
	s.loseLocks(func(k key) bool { _, still := ours[k]; return !still })
	s.askForLocksAgain(now)
	s.letGoOfWhatIsTold()
	if s.leaving != nil {
		s.say(&v1.FromExecutor{Message: &v1.FromExecutor_Draining{Draining: &v1.Draining{Leaving: true}}})
	}
	if s.draining {
		s.handBackQueue()
	}
}

// inOrder are the records by task and attempt, so that a session can be followed in a log.
func (s *session) inOrder() []*record {
	records := make([]*record, 0, len(s.records))
	for _, record := range s.records {
		records = append(records, record)
	}
	sort.Slice(records, func(a, b int) bool {
		if records[a].key.task != records[b].key.task {
			return records[a].key.task < records[b].key.task
		}
		return records[a].key.attempt < records[b].key.attempt
	})
	return records
}

func (s *session) refusedBy(refusal *v1.Refused, now time.Time) {
	s.executor.Log.Warn("campanile: refused: "+refusal.MessageEn, "executor", s.executor.Name, "code", refusal.Code)
	if refusal.RetryAfterMs > 0 {
		s.tried++
		s.breakLink(now.Add(time.Duration(refusal.RetryAfterMs) * time.Millisecond))
		return
	}
	s.refused = &Refused{refusal.Code, refusal.MessageEn, refusal.MessageZh}
	s.breakLink(now.Add(time.Hour))
	if s.leaving == nil {
		s.leave(now, 0)
	}
}

func (s *session) sayCapacity() {
	running, queue := s.executor.capacity()
	capacity := &v1.Capacity{Running: uint32(running), Queued: uint32(queue)}
	s.say(&v1.FromExecutor{Message: &v1.FromExecutor_Capacity{Capacity: capacity}})
}

// -------------------------------------------------------- what a node says --

func (s *session) heard(message *v1.ToExecutor, now time.Time) {
	s.lastHeard = now
	switch said := message.Message.(type) {
	case *v1.ToExecutor_Welcome:
		s.welcomed(said.Welcome, now)
		return
	case *v1.ToExecutor_Refused:
		s.refusedBy(said.Refused, now)
		return
	}
	if s.link != up {
		// Before Welcome a node has nothing else to say.
		return
	}
	switch said := message.Message.(type) {
	case *v1.ToExecutor_HeartbeatAck:
		s.leaseExtended(said.HeartbeatAck, now)
	case *v1.ToExecutor_Push:
		s.pushed(said.Push)
	case *v1.ToExecutor_ShardData:
		s.fed(keyOf(said.ShardData.Attempt), said.ShardData, nil)
	case *v1.ToExecutor_ShardEnds:
		s.fed(keyOf(said.ShardEnds.Attempt), nil, said.ShardEnds)
	case *v1.ToExecutor_Withdraw:
		s.withdraw(keyOf(said.Withdraw.Attempt))
	case *v1.ToExecutor_Cancel:
		s.cancel(keyOf(said.Cancel.Attempt), said.Cancel)
	case *v1.ToExecutor_Ack:
		if record := s.records[keyOf(said.Ack.Attempt)]; record != nil {
			record.acknowledge(func(sequence uint64) bool { return sequence == said.Ack.Sequence })
			record.flush(s.out())
			s.letGoOfWhatIsTold()
		}
	case *v1.ToExecutor_Forget:
		s.forget(keyOf(said.Forget.Attempt), now)
	case *v1.ToExecutor_Drain:
		s.executor.Log.Info("campanile: draining", "executor", s.executor.Name, "reason", said.Drain.Reason)
		s.draining = true
		draining := &v1.Draining{Leaving: s.leaving != nil}
		s.say(&v1.FromExecutor{Message: &v1.FromExecutor_Draining{Draining: draining}})
		s.handBackQueue()
	case *v1.ToExecutor_Resume:
		s.draining = false
	case *v1.ToExecutor_StillNeeded:
		s.askStillNeeded(said.StillNeeded)
	case *v1.ToExecutor_Nodes:
		s.told = said.Nodes.Nodes
	default:
		s.heardOfLocks(message)
	}
}

func (s *session) pushed(push *v1.Push) {
	k := keyOf(push.Attempt)
	if _, over := s.ended.known[k]; over {
		s.answerForUnheld(k, &v1.HandedBack{Reason: v1.HandBackReason_HAND_BACK_REASON_ALREADY_ENDED})
		return
	}
	if push.SequenceAfter < s.back.known[k] {
		// The push that was handed back, come again: whoever took the hand-back may have given the attempt to another
		// executor since. A new push of it shows that the hand-back was heard.
		return
	}
	lastSequence := push.SequenceAfter
	if held := s.records[k]; held != nil {
		if held.phase != handedBack {
			// Here already. Whatever the node has not heard, it hears again.
			if len(held.unacknowledged) == 0 {
				say(s.out(), report(&v1.Accepted{}, k, held.accepted))
			}
			held.sendAgain(s.out())
			return
		}
		s.drop(k)
	}

	hosted := s.executor.processors[push.Processor]
	room, queue := s.executor.capacity()
	held := 0
	for _, record := range s.records {
		if !record.isOver() {
			held++
		}
	}
	reason := v1.HandBackReason_HAND_BACK_REASON_UNSPECIFIED
	switch {
	case s.draining || s.leaving != nil:
		reason = v1.HandBackReason_HAND_BACK_REASON_DRAINING
	case hosted == nil || hosted.methods[push.Method] == nil:
		reason = v1.HandBackReason_HAND_BACK_REASON_UNKNOWN_PROCESSOR
	case held >= room+queue:
		reason = v1.HandBackReason_HAND_BACK_REASON_NO_ROOM
	}

	ctx, cancel := context.WithCancel(context.Background())
	taken := &record{
		key: k, phase: queued, push: push, hosted: hosted, feed: newFeed(!push.MoreFollows),
		lastSequence: lastSequence, ending: newEnding(cancel), ctx: ctx,
	}
	taken.outbox = newOutbox(true, func(pressing bool) {
		s.mailbox.post(func(now time.Time) { s.pending(k, pressing, now) })
	})
	s.records[k] = taken
	if reason != v1.HandBackReason_HAND_BACK_REASON_UNSPECIFIED {
		s.handBack(taken, reason)
		return
	}
	taken.report(&v1.Accepted{}, s.out())
	taken.accepted = taken.lastSequence
	s.queue = append(s.queue, k)
}

func (s *session) handBack(r *record, reason v1.HandBackReason) {
	r.phase = handedBack
	r.report(&v1.HandedBack{Reason: reason}, s.out())
	s.back.add(r.key, r.lastSequence)
	s.queue = slices.DeleteFunc(s.queue, func(queued key) bool { return queued == r.key })
}

func (s *session) fed(k key, data *v1.ShardData, ends *v1.ShardEnds) {
	if record := s.records[k]; record != nil && !record.isOver() {
		record.feed.put(data, ends)
	}
}

func (s *session) withdraw(k key) {
	record := s.records[k]
	switch {
	case record == nil:
		s.answerForUnheld(k, &v1.HandedBack{Reason: v1.HandBackReason_HAND_BACK_REASON_UNKNOWN})
	case record.phase == queued:
		s.handBack(record, v1.HandBackReason_HAND_BACK_REASON_WITHDRAWN)
	}
	// If it was started, Started is the answer and has been given.
}

func (s *session) cancel(k key, cancel *v1.Cancel) {
	record := s.records[k]
	if record == nil {
		s.answerForUnheld(k, &v1.CancelStage{Reached: v1.CancelReached_CANCEL_REACHED_GONE})
		return
	}
	var stage CancelStage
	var reached v1.CancelReached
	switch cancel.Ask {
	case v1.CancelAsk_CANCEL_ASK_ASK:
		stage, reached = Ask, v1.CancelReached_CANCEL_REACHED_ACKNOWLEDGED
	case v1.CancelAsk_CANCEL_ASK_TERMINATE:
		stage, reached = Terminate, v1.CancelReached_CANCEL_REACHED_TERMINATED
	case v1.CancelAsk_CANCEL_ASK_KILL:
		stage, reached = Kill, v1.CancelReached_CANCEL_REACHED_KILLED
	default:
		return
	}
	switch record.phase {
	case queued:
		record.phase = ended
		s.queue = slices.DeleteFunc(s.queue, func(queued key) bool { return queued == k })
		record.report(&v1.CancelStage{Reached: v1.CancelReached_CANCEL_REACHED_ACKNOWLEDGED}, s.out())
		record.report(cancelled("before it was started: "+cancel.Reason), s.out())
	case running:
		if record.ending.reach(stage) {
			record.report(&v1.CancelStage{Reached: reached}, s.out())
		}
	}
	// The end of what is over is under way already, and says more.
}

func cancelled(message string) *v1.Finished {
	message = cut(message, maxFailureBytes)
	return &v1.Finished{Outcome: &v1.Finished_Cancelled{Cancelled: &v1.Cancelled{Message: message}}}
}

// letGoOfWhatIsTold drops what is over and acknowledged, and remembers that it ended here.
func (s *session) letGoOfWhatIsTold() {
	for k, record := range s.records {
		if record.isOver() && len(record.unacknowledged) == 0 {
			if record.phase == ended {
				s.ended.add(k, struct{}{})
			}
			s.drop(k)
		}
	}
}

func (s *session) forget(k key, now time.Time) {
	s.loseLocks(func(of key) bool { return of == k })
	record := s.records[k]
	switch {
	case record == nil:
	case record.phase == running:
		record.stop(leaseLost(), Ask, now.Add(askToTerminate))
	default:
		if record.phase == ended {
			s.ended.add(k, struct{}{})
		}
		s.drop(k)
	}
}

func (s *session) answerForUnheld(k key, what any) { say(s.out(), report(what, k, 0)) }

// ---------------------------------------------------------------- leaving --

func (s *session) leave(now time.Time, limit time.Duration) {
	finishBy := now.Add(limit)
	s.leaving = &leaving{finishBy: finishBy, giveUp: finishBy.Add(2 * leaveStep)}
	s.say(&v1.FromExecutor{Message: &v1.FromExecutor_Draining{Draining: &v1.Draining{Leaving: true}}})
	s.handBackQueue()
}

func (s *session) handBackQueue() {
	for _, k := range slices.Clone(s.queue) {
		s.handBack(s.records[k], v1.HandBackReason_HAND_BACK_REASON_DRAINING)
	}
}

func (s *session) goOnLeaving(now time.Time) {
	leaving := s.leaving
	if leaving == nil {
		return
	}
	runs := false
	stop, kill := false, false
	if !leaving.stopped && !leaving.finishBy.After(now) {
		leaving.stopped, stop = true, true
		leaving.killAt = now.Add(leaveStep)
	}
	if !leaving.killAt.IsZero() && !leaving.killAt.After(now) {
		leaving.killAt, kill = time.Time{}, true
	}
	for _, record := range s.records {
		if record.phase != running {
			continue
		}
		runs = true
		if stop {
			record.stop(executorLeft(), Terminate, now.Add(leaveStep))
		}
		if kill {
			record.ending.reach(Kill)
		}
	}
	if !runs && leaving.reportBy.IsZero() {
		leaving.reportBy = now.Add(leaveStep)
	}
}

// mayLeave says what is left behind, once it is time to go.
func (s *session) mayLeave(now time.Time) (Left, bool) {
	leaving := s.leaving
	if leaving == nil {
		return Left{}, false
	}
	var left Left
	for _, record := range s.records {
		if record.phase == running {
			left.Unfinished++
		}
		if len(record.unacknowledged) > 0 {
			left.Unreported++
		}
	}
	deadline := leaving.reportBy
	if deadline.IsZero() {
		deadline = leaving.giveUp
	}
	switch {
	case !deadline.After(now), s.refused != nil && left.Unfinished == 0:
		return left, true
	case left != Left{}:
		return left, false
	case s.link != up:
		// Nothing to say and nobody to say it to.
		return left, true
	case leaving.goneBy.IsZero():
		leaving.goneBy = now.Add(goodbyeWithin)
		s.say(&v1.FromExecutor{Message: &v1.FromExecutor_Goodbye{Goodbye: &v1.Goodbye{}}})
		return left, false
	}
	// The node closes the stream when it has read it, which breaks the link.
	return left, !leaving.goneBy.After(now)
}
