package campanile

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Version is what the node is told of the SDK.
const Version = "go/0.1.0"

// Executor hosts processors and holds one stream to a node. Set its fields before Run; Group and Nodes are required.
type Executor struct {
	// Group is the service that the executor belongs to.
	Group string
	// Name is unique among the live executors of the group; the host's name unless set.
	Name string
	// Nodes are addresses (host:port) of nodes to begin with. Any one will do: each node tells of the others.
	Nodes []string
	// Token admits the executor to its group, where the node asks for one.
	Token string
	// SecretKey opens the secrets of the group, and is the same for all of its executors; see [ReadSecretKey]. Without it
	// a task that names a secret is refused.
	SecretKey string
	// TLS secures the stream; with Certificates in it the executor proves who it is, too. Nil: not secured.
	TLS *tls.Config
	// Capacity is how many attempts run at once; twice the cores of the machine unless set.
	Capacity int
	// Queue is how many more may wait here; as many as may run unless set, none if negative.
	Queue int
	// Labels are what jobs with the route label match.
	Labels map[string]string
	// TimeToLeave is how long what runs may go on once the executor is to shut down; 30 s unless set. After it
	// processors are asked to end.
	TimeToLeave time.Duration
	// Log is where the executor says what becomes of its link; slog's default unless set.
	Log *slog.Logger

	processors map[string]*hosted
	wrong      []error

	mutex   sync.Mutex
	resized chan struct{}
}

// Left is what Run leaves behind when its time to leave ran out.
type Left struct {
	// Attempts that did not end. Whatever they started may still run.
	Unfinished int
	// Attempts of which the node did not acknowledge everything.
	Unreported int
}

func (l *Left) Error() string {
	return fmt.Sprintf("campanile: left with %d attempts unfinished and %d not wholly reported", l.Unfinished, l.Unreported)
}

// Refused is a node's word that it will not have this executor, however often it tries.
type Refused struct{ Code, Message, Chinese string }

func (r *Refused) Error() string { return r.Code + ": " + r.Message }

// Func hosts a function under a name.
func (e *Executor) Func(name string, process func(ctx context.Context, task *Task) (any, error)) {
	e.Host(Info{Name: name}, Func(process))
}

// Host hosts a processor, which is a Processor or a ShardingProcessor. What is wrong with it is told by Run.
func (e *Executor) Host(info Info, processor any) {
	one, err := host(info, processor)
	switch {
	case err != nil:
		e.wrong = append(e.wrong, err)
	case e.processors[info.Name] != nil:
		e.wrong = append(e.wrong, fmt.Errorf("campanile: two processors are named %s", info.Name))
	default:
		if e.processors == nil {
			e.processors = map[string]*hosted{}
		}
		e.processors[info.Name] = one
	}
}

// SetCapacity changes how many attempts run at once, also while the executor runs. Lowering it stops nothing.
func (e *Executor) SetCapacity(running int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.Capacity = max(1, running)
	if e.resized != nil {
		select {
		case e.resized <- struct{}{}:
		default:
		}
	}
}

func (e *Executor) capacity() (running, queued int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	running, queued = e.Capacity, e.Queue
	if running == 0 {
		running = 2 * runtime.NumCPU()
	}
	if queued == 0 {
		queued = running
	}
	return running, max(0, queued)
}

// Run lives until ctx is done and what runs has ended, or its time to leave is over. It connects, and connects again
// whenever the stream breaks; what runs goes on meanwhile. It returns nil after an orderly end, *Left when something
// was left behind, *Refused when a node will not have it.
func (e *Executor) Run(ctx context.Context) error {
	if err := e.check(); err != nil {
		return err
	}
	keys, err := newKeyPair(e.SecretKey)
	if err != nil {
		return err
	}
	e.mutex.Lock()
	if e.resized != nil {
		e.mutex.Unlock()
		return errors.New("campanile: the executor runs already")
	}
	e.resized = make(chan struct{}, 1)
	e.mutex.Unlock()
	defer func() {
		e.mutex.Lock()
		e.resized = nil
		e.mutex.Unlock()
	}()
	boot := make([]byte, 16)
	if _, err := rand.Read(boot); err != nil {
		return fmt.Errorf("campanile: no boot id could be drawn: %w", err)
	}
	return newSession(e, hex.EncodeToString(boot), keys).run(ctx)
}

// RunUntilSignal is Run until SIGINT or SIGTERM. A second signal ends the process at once, as it would any other.
func (e *Executor) RunUntilSignal() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return e.Run(ctx)
}

func (e *Executor) check() error {
	wrong := e.wrong
	if e.Name == "" {
		e.Name, _ = os.Hostname()
	}
	if e.Group == "" || e.Name == "" {
		wrong = append(wrong, errors.New("campanile: an executor needs a group and a name"))
	}
	if len(e.Nodes) == 0 {
		wrong = append(wrong, errors.New("campanile: an executor needs the address of a node"))
	}
	if len(e.processors) == 0 && len(e.wrong) == 0 {
		wrong = append(wrong, errors.New("campanile: an executor needs at least one processor"))
	}
	if e.Capacity < 0 {
		wrong = append(wrong, errors.New("campanile: the capacity must be at least 1"))
	}
	if e.TimeToLeave == 0 {
		e.TimeToLeave = 30 * time.Second
	}
	if e.Log == nil {
		e.Log = slog.Default()
	}
	return errors.Join(wrong...)
}
