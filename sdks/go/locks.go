package campanile

import (
	"context"
	"slices"
	"sync"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
)

// Locks: one holder at a time, among all executors of the node's team.

const (
	// How long one waits for a lock who does not say.
	lockPatience = 30 * time.Second
	// A node answers in its own time; so long after what was to wait for.
	lockAnswerWithin = 15 * time.Second
)

// LockOption says how a lock is taken.
type LockOption func(*claim)

// LockWait is how long it waits at most, 30 s where nothing is said. Zero: it tries once.
func LockWait(wait time.Duration) LockOption { return func(c *claim) { c.wait = max(0, wait) } }

// LockLease makes it end so long after it was had, whatever is done meanwhile, instead of going on until it is released.
func LockLease(lease time.Duration) LockOption {
	return func(c *claim) { c.lease = max(time.Millisecond, lease) }
}

type lockStage int

const (
	lockAsked lockStage = iota
	lockHeld
	lockRefused
	lockLost
	lockLeft
)

// claim is one ask, as the attempt and its executor both see it.
type claim struct {
	number   uint64
	names    []string
	wait     time.Duration
	giveUpAt time.Time
	// Zero: the node keeps it alive.
	lease time.Duration

	mutex    sync.Mutex
	stage    lockStage
	why      *Failure
	tokens   map[string]uint64
	gone     map[string]bool
	expiry   *time.Timer
	answered chan struct{}
	over     chan struct{}
	lost     chan struct{}
}

// reach goes on to stage; from an end it goes nowhere. To be called with the mutex held.
func (c *claim) reach(stage lockStage) {
	if c.stage >= lockRefused {
		return
	}
	if c.stage == lockAsked {
		close(c.answered)
	}
	c.stage = stage
	if stage == lockLost {
		c.isLost()
	}
	if stage >= lockRefused {
		if c.expiry != nil {
			c.expiry.Stop()
		}
		close(c.over)
	}
}

func (c *claim) isLost() {
	select {
	case <-c.lost:
	default:
		close(c.lost)
	}
}

func (c *claim) end(stage lockStage) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.reach(stage)
}

func (c *claim) refuse(why *Failure) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.why = why
	c.reach(lockRefused)
}

func (c *claim) grant(granted *v1.LocksGranted) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.stage != lockAsked {
		// Told again, it is what it was.
		return
	}
	for _, held := range granted.Locks {
		c.tokens[held.Name] = held.Token
	}
	if granted.LeftMs != nil {
		c.expiry = time.AfterFunc(time.Duration(*granted.LeftMs)*time.Millisecond, func() {
			c.mutex.Lock()
			defer c.mutex.Unlock()
			c.isLost()
		})
	}
	c.reach(lockHeld)
}

// lose says whether nothing of it is held any more.
func (c *claim) lose(names []string) bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, name := range names {
		c.gone[name] = true
	}
	c.isLost()
	all := true
	for name := range c.tokens {
		all = all && c.gone[name]
	}
	if all || c.stage != lockHeld {
		c.reach(lockLost)
		return true
	}
	return false
}

func (c *claim) isHeld() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.stage == lockHeld
}

// lockDoor is the way from an attempt to its executor.
type lockDoor struct {
	mutex sync.Mutex
	next  uint64
	take  func(*claim)
	leave func(*claim)
}

// Lock takes a lock that one task at a time may hold, among all executors of the node's team, waiting for it if need be
// and no longer than ctx lasts:
//
//	lock, err := task.Lock(ctx, "accounts/17", campanile.LockWait(5*time.Second))
//	if err != nil {
//		return nil, err
//	}
//	defer lock.Release()
//
// A task may take a lock that it holds once more. A lock that is lost cancels the task; what must never be written twice
// shows the token where it is written, and is refused there where a greater one has been shown. What a task holds at its
// end is left.
func (t *Task) Lock(ctx context.Context, name string, options ...LockOption) (*Lock, error) {
	return t.Locks(ctx, []string{name}, options...)
}

// Locks takes all of them or none, in the order of their names, whatever order they are named in, so that two tasks
// that want the same ones do not wait for each other.
func (t *Task) Locks(ctx context.Context, names []string, options ...LockOption) (*Lock, error) {
	c := &claim{
		names: slices.Clone(names), wait: lockPatience, tokens: map[string]uint64{}, gone: map[string]bool{},
		answered: make(chan struct{}), over: make(chan struct{}), lost: make(chan struct{}),
	}
	for _, option := range options {
		option(c)
	}
	t.locks.mutex.Lock()
	t.locks.next++
	c.number = t.locks.next
	t.locks.mutex.Unlock()
	c.giveUpAt = time.Now().Add(c.wait)
	t.locks.take(c)
	late := time.NewTimer(c.wait + lockAnswerWithin)
	defer late.Stop()
	select {
	case <-c.answered:
	case <-ctx.Done():
		t.locks.leave(c)
		return nil, ctx.Err()
	case <-late.C:
		t.locks.leave(c)
		return nil, locksUnavailable("the node did not answer", "节点没有应答")
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	switch {
	case c.stage == lockHeld:
		return &Lock{c, t.locks}, nil
	case c.why != nil:
		return nil, c.why
	}
	// Before it was told that it had it.
	return nil, lockWasLost()
}

// Lock is a lock, or several, that a task has.
type Lock struct {
	claim *claim
	door  *lockDoor
}

// Token is the fencing token: greater than that of every holding of the lock before. Of several, that of the first by
// name.
func (l *Lock) Token() uint64 {
	tokens := l.Tokens()
	first := ""
	for name := range tokens {
		if first == "" || name < first {
			first = name
		}
	}
	return tokens[first]
}

// Tokens are the fencing tokens by name.
func (l *Lock) Tokens() map[string]uint64 {
	l.claim.mutex.Lock()
	defer l.claim.mutex.Unlock()
	tokens := make(map[string]uint64, len(l.claim.tokens))
	for name, token := range l.claim.tokens {
		tokens[name] = token
	}
	return tokens
}

// Lost is closed once one of them is not held any more, although it was not released. The task is cancelled by then, or
// is about to be.
func (l *Lock) Lost() <-chan struct{} { return l.claim.lost }

// Release leaves them and waits until they are left, so that whoever is told of it now finds them free. An error where
// one was not held any more: somebody else may have had it meanwhile. To release twice is an error as well.
func (l *Lock) Release() error {
	wasLost := false
	select {
	case <-l.claim.lost:
		wasLost = true
	case <-l.claim.over:
		wasLost = true
	default:
	}
	l.door.leave(l.claim)
	late := time.NewTimer(lockAnswerWithin)
	defer late.Stop()
	select {
	case <-l.claim.over:
	case <-late.C:
		return locksUnavailable("the node did not answer", "节点没有应答")
	}
	l.claim.mutex.Lock()
	defer l.claim.mutex.Unlock()
	if wasLost || l.claim.stage == lockLost {
		return lockNotHeld(l.claim.names[0])
	}
	return nil
}

// ------------------------------------------------------------ the session --

type claimKey struct {
	attempt key
	number  uint64
}

type openClaim struct {
	*claim
	leaving bool
}

func (s *session) lockDoor(k key) *lockDoor {
	return &lockDoor{
		take: func(c *claim) {
			s.mailbox.post(func(now time.Time) {
				record := s.records[k]
				if record == nil || record.phase != running || !s.leaseUntil.After(now) {
					c.refuse(locksUnavailable("the executor has no lease", "执行器没有租约"))
					return
				}
				s.claims[claimKey{k, c.number}] = &openClaim{claim: c}
				s.askForLocks(k, c, now)
			})
		},
		leave: func(c *claim) {
			s.mailbox.post(func(time.Time) {
				if open := s.claims[claimKey{k, c.number}]; open != nil && !open.leaving {
					open.leaving = true
					s.leaveLocks(k, c.number)
				}
			})
		},
	}
}

func (s *session) askForLocks(k key, c *claim, now time.Time) {
	ask := &v1.AskLocks{
		Attempt: k.attemptRef(), Ask: c.number, Names: c.names, WaitMs: uint64(max(0, c.giveUpAt.Sub(now).Milliseconds())),
	}
	if c.lease > 0 {
		lease := uint64(c.lease.Milliseconds())
		ask.LeaseMs = &lease
	}
	c.mutex.Lock()
	if c.stage == lockHeld {
		for name, token := range c.tokens {
			if !c.gone[name] {
				ask.Held = append(ask.Held, &v1.HeldLock{Name: name, Token: token})
			}
		}
	}
	c.mutex.Unlock()
	s.say(&v1.FromExecutor{Message: &v1.FromExecutor_AskLocks{AskLocks: ask}})
}

func (s *session) leaveLocks(k key, number uint64) {
	leave := &v1.LeaveLocks{Attempt: k.attemptRef(), Ask: number}
	s.say(&v1.FromExecutor{Message: &v1.FromExecutor_LeaveLocks{LeaveLocks: leave}})
}

// heardOfLocks is told of what a node says; what is not about locks is nothing to it.
func (s *session) heardOfLocks(message *v1.ToExecutor) {
	switch said := message.Message.(type) {
	case *v1.ToExecutor_LocksGranted:
		if open := s.claims[claimKey{keyOf(said.LocksGranted.Attempt), said.LocksGranted.Ask}]; open != nil {
			open.grant(said.LocksGranted)
		}
	case *v1.ToExecutor_LocksRefused:
		if open := s.closed(said.LocksRefused.Attempt, said.LocksRefused.Ask); open != nil {
			why := said.LocksRefused.GetWhy()
			open.refuse(&Failure{
				Class: Class(why.GetClass()), Code: why.GetCode(), Message: why.GetMessageEn(), Chinese: why.GetMessageZh(),
			})
		}
	case *v1.ToExecutor_LocksLost:
		place := claimKey{keyOf(said.LocksLost.Attempt), said.LocksLost.Ask}
		open := s.claims[place]
		if open == nil {
			return
		}
		if open.lose(said.LocksLost.Names) {
			delete(s.claims, place)
		}
		if !open.leaving {
			s.withoutItsLock(place.attempt)
		}
	case *v1.ToExecutor_LocksLeft:
		if open := s.closed(said.LocksLeft.Attempt, said.LocksLeft.Ask); open != nil {
			open.end(lockLeft)
		}
	}
}

func (s *session) closed(attempt *v1.AttemptRef, number uint64) *openClaim {
	place := claimKey{keyOf(attempt), number}
	open := s.claims[place]
	delete(s.claims, place)
	return open
}

// askForLocksAgain: after Welcome what is not over is asked again, and left again.
func (s *session) askForLocksAgain(now time.Time) {
	places := make([]claimKey, 0, len(s.claims))
	for place := range s.claims {
		places = append(places, place)
	}
	slices.SortFunc(places, func(a, b claimKey) int {
		if a.attempt != b.attempt {
			if a.attempt.task < b.attempt.task {
				return -1
			}
			return 1
		}
		return int(a.number) - int(b.number)
	})
	for _, place := range places {
		open := s.claims[place]
		s.askForLocks(place.attempt, open.claim, now)
		if open.leaving {
			s.leaveLocks(place.attempt, place.number)
		}
	}
}

// forgetLocks: with the attempt the node leaves what it held.
func (s *session) forgetLocks(k key) {
	for place, open := range s.claims {
		if place.attempt == k {
			delete(s.claims, place)
			open.end(lockLeft)
		}
	}
}

// loseLocks: what these attempts held is another's, or may be.
func (s *session) loseLocks(of func(key) bool) {
	for place, open := range s.claims {
		if !of(place.attempt) {
			continue
		}
		delete(s.claims, place)
		// For a node that still counts it as ours.
		s.leaveLocks(place.attempt, place.number)
		if !open.isHeld() {
			open.refuse(locksUnavailable("the executor has no lease", "执行器没有租约"))
			continue
		}
		open.end(lockLost)
		if !open.leaving {
			s.withoutItsLock(place.attempt)
		}
	}
}

func (s *session) withoutItsLock(k key) {
	if record := s.records[k]; record != nil && record.phase == running {
		record.askToEnd(lockWasLost())
	}
}
