package campanile

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// One stream to a node. A wire neither retries nor looks into what it carries: the session does both.

const connectMethod = "/campanile.executor.v1.ExecutorLink/Connect"

const (
	// A node that does not take the connection is left after this.
	connectWithin = 5 * time.Second
	// Messages that were read from the stream and not yet answered by the session.
	wireDepth = 256
)

var streamDescription = grpc.StreamDesc{StreamName: "Connect", ServerStreams: true, ClientStreams: true}

type wire struct {
	fromNode chan *v1.ToExecutor
	broken   chan struct{}
	close    context.CancelFunc

	mutex   sync.Mutex
	news    *sync.Cond
	waiting []*v1.FromExecutor
	sending bool
	ended   bool
}

// open connects to one node, and ends with ctx.
func open(ctx context.Context, address string, security *tls.Config) (*wire, error) {
	admitted := insecure.NewCredentials()
	if security != nil {
		admitted = credentials.NewTLS(security)
	}
	channel, err := grpc.NewClient(address, grpc.WithTransportCredentials(admitted))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	within, done := context.WithTimeout(ctx, connectWithin)
	defer done()
	channel.Connect()
	for state := channel.GetState(); state != connectivity.Ready; state = channel.GetState() {
		if state == connectivity.TransientFailure || !channel.WaitForStateChange(within, state) {
			break
		}
	}
	lives, end := context.WithCancel(ctx)
	stream, err := channel.NewStream(lives, &streamDescription, connectMethod)
	if err != nil {
		end()
		return nil, errors.Join(fmt.Errorf("%s: %w", address, err), channel.Close())
	}
	w := &wire{fromNode: make(chan *v1.ToExecutor, wireDepth), broken: make(chan struct{})}
	w.news = sync.NewCond(&w.mutex)
	w.close = func() {
		w.mutex.Lock()
		w.ended = true
		w.news.Broadcast()
		w.mutex.Unlock()
		end()
	}
	go w.send(stream)
	go w.receive(lives, stream, channel)
	return w, nil
}

// say never waits: what is kept by attempts is bounded, and so is this.
func (w *wire) say(message *v1.FromExecutor) {
	w.mutex.Lock()
	w.waiting = append(w.waiting, message)
	w.news.Signal()
	w.mutex.Unlock()
}

// isEmpty: everything was handed to the connection.
func (w *wire) isEmpty() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return len(w.waiting) == 0 && !w.sending
}

func (w *wire) send(stream grpc.ClientStream) {
	for {
		w.mutex.Lock()
		w.sending = false
		for len(w.waiting) == 0 && !w.ended {
			w.news.Wait()
		}
		if w.ended {
			w.mutex.Unlock()
			return
		}
		message := w.waiting[0]
		w.waiting[0] = nil
		w.waiting = w.waiting[1:]
		w.sending = true
		w.mutex.Unlock()
		if stream.SendMsg(message) != nil {
			// The receiving side says that it broke.
			w.close()
			return
		}
	}
}

func (w *wire) receive(lives context.Context, stream grpc.ClientStream, channel *grpc.ClientConn) {
	// It has no more to say than that the stream is over, which is said already.
	defer func() { _ = channel.Close() }()
	defer close(w.broken)
	defer w.close()
	for {
		message := &v1.ToExecutor{}
		if stream.RecvMsg(message) != nil {
			return
		}
		select {
		case w.fromNode <- message:
		case <-lives.Done():
			return
		}
	}
}
