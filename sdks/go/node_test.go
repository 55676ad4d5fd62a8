package campanile

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	v1 "campanile.dev/sdk-go/executorv1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// A node that does what the test says, over real gRPC: it acknowledges heartbeats, and nothing else unless told.

const patience = 20 * time.Second

type scriptedNode struct {
	t       *testing.T
	address string
	streams chan *stream
	server  *grpc.Server
}

type stream struct {
	t        *testing.T
	grpc     grpc.ServerStream
	said     chan *v1.FromExecutor
	hangUp   chan struct{}
	silent   chan bool
	register *v1.Register
}

func newNode(t *testing.T, options ...grpc.ServerOption) *scriptedNode {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	node := &scriptedNode{t: t, address: listener.Addr().String(), streams: make(chan *stream, 16), server: grpc.NewServer(options...)}
	node.server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "campanile.executor.v1.ExecutorLink",
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{
			StreamName: "Connect", ServerStreams: true, ClientStreams: true,
			Handler: func(_ any, server grpc.ServerStream) error { return node.serve(server) },
		}},
	}, node)
	go func() { _ = node.server.Serve(listener) }()
	t.Cleanup(node.server.Stop)
	return node
}

func secured(certificate tls.Certificate, more func(*tls.Config)) grpc.ServerOption {
	config := &tls.Config{Certificates: []tls.Certificate{certificate}}
	more(config)
	return grpc.Creds(credentials.NewTLS(config))
}

func (n *scriptedNode) serve(server grpc.ServerStream) error {
	s := &stream{t: n.t, grpc: server, said: make(chan *v1.FromExecutor, 4096), hangUp: make(chan struct{}), silent: make(chan bool, 1)}
	s.silent <- false
	n.streams <- s
	go func() {
		defer close(s.said)
		for {
			message := &v1.FromExecutor{}
			if server.RecvMsg(message) != nil {
				return
			}
			if beat := message.GetHeartbeat(); beat != nil {
				silent := <-s.silent
				s.silent <- silent
				if !silent {
					_ = server.SendMsg(&v1.ToExecutor{Message: &v1.ToExecutor_HeartbeatAck{HeartbeatAck: &v1.HeartbeatAck{Number: beat.Number, LeaseMs: testLease}}})
				}
				continue
			}
			s.said <- message
		}
	}()
	select {
	case <-s.hangUp:
	case <-server.Context().Done():
	}
	return nil
}

const testLease = 1500

// joined waits for a stream and welcomes it.
func (n *scriptedNode) joined(still ...*v1.StillYours) *stream {
	n.t.Helper()
	s := n.opened()
	s.tell(&v1.ToExecutor_Welcome{Welcome: &v1.Welcome{ProtocolVersion: 1, Node: "n", HeartbeatMs: 40, LeaseMs: testLease, StillYours: still}})
	return s
}

func (n *scriptedNode) opened() *stream {
	n.t.Helper()
	select {
	case s := <-n.streams:
		s.register = s.next().GetRegister()
		if s.register == nil {
			n.t.Fatal("the first message is not Register")
		}
		return s
	case <-time.After(patience):
		n.t.Fatal("no stream came")
		return nil
	}
}

func (s *stream) ignoreHeartbeats(silent bool) { <-s.silent; s.silent <- silent }

func (s *stream) tell(what any) {
	s.t.Helper()
	message := &v1.ToExecutor{}
	switch what := what.(type) {
	case *v1.ToExecutor_Welcome:
		message.Message = what
	case *v1.ToExecutor_Refused:
		message.Message = what
	case *v1.ToExecutor_Push:
		message.Message = what
	case *v1.ToExecutor_ShardData:
		message.Message = what
	case *v1.ToExecutor_ShardEnds:
		message.Message = what
	case *v1.ToExecutor_Withdraw:
		message.Message = what
	case *v1.ToExecutor_Cancel:
		message.Message = what
	case *v1.ToExecutor_Ack:
		message.Message = what
	case *v1.ToExecutor_Forget:
		message.Message = what
	case *v1.ToExecutor_Drain:
		message.Message = what
	case *v1.ToExecutor_Resume:
		message.Message = what
	case *v1.ToExecutor_StillNeeded:
		message.Message = what
	case *v1.ToExecutor_LocksGranted:
		message.Message = what
	case *v1.ToExecutor_LocksRefused:
		message.Message = what
	case *v1.ToExecutor_LocksLost:
		message.Message = what
	case *v1.ToExecutor_LocksLeft:
		message.Message = what
	default:
		s.t.Fatalf("%T", what)
	}
	if err := s.grpc.SendMsg(message); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stream) next() *v1.FromExecutor {
	s.t.Helper()
	select {
	case message, more := <-s.said:
		if !more {
			s.t.Fatal("the stream is over")
		}
		return message
	case <-time.After(patience):
		s.t.Fatal("the executor says nothing")
		return nil
	}
}

func ref(task string) *v1.AttemptRef { return &v1.AttemptRef{TaskId: task, Attempt: 1} }

func (s *stream) push(task, processor, parameters string, more ...func(*v1.Push)) {
	s.t.Helper()
	push := &v1.Push{
		Attempt: ref(task), Processor: processor, Method: v1.Method_METHOD_PROCESS, ParametersJson: parameters,
		IdempotencyKey: "key-" + task, Context: &v1.Context{Job: "job", InstanceId: "i"},
	}
	for _, change := range more {
		change(push)
	}
	s.tell(&v1.ToExecutor_Push{Push: push})
}

func (s *stream) ack(task string, sequence uint64) {
	s.t.Helper()
	s.tell(&v1.ToExecutor_Ack{Ack: &v1.Ack{Attempt: ref(task), Sequence: sequence}})
}

func (s *stream) ask(task string, ask v1.CancelAsk) {
	s.t.Helper()
	s.tell(&v1.ToExecutor_Cancel{Cancel: &v1.Cancel{Attempt: ref(task), Ask: ask, Reason: "mei"}})
}

// hears the next reports, in words; each is acknowledged where the test says so.
func (s *stream) hears(acknowledge bool, want ...string) {
	s.t.Helper()
	for _, want := range want {
		report := s.next().GetReport()
		if got := inWords(report); got != want {
			s.t.Fatalf("heard %q, wanted %q", got, want)
		}
		if acknowledge && report.GetProgress() == nil && report.Sequence > 0 {
			s.tell(&v1.ToExecutor_Ack{Ack: &v1.Ack{Attempt: report.Attempt, Sequence: report.Sequence}})
		}
	}
}

func inWords(report *v1.Report) string {
	head := fmt.Sprintf("%s %d ", report.GetAttempt().GetTaskId(), report.GetSequence())
	switch what := report.GetWhat().(type) {
	case *v1.Report_Accepted:
		return head + "accepted"
	case *v1.Report_HandedBack:
		return head + "back " + strings.TrimPrefix(what.HandedBack.Reason.String(), "HAND_BACK_REASON_")
	case *v1.Report_Started:
		return head + "started"
	case *v1.Report_Progress:
		return head + fmt.Sprintf("progress %v %s", what.Progress.GetPercent(), what.Progress.Message)
	case *v1.Report_Items:
		text := head + "items"
		for _, item := range what.Items.Outcomes {
			text += fmt.Sprintf(" %d:%v:%s", item.Index, item.Succeeded, item.Message)
		}
		return text
	case *v1.Report_LogLines:
		text := head + "log"
		for _, line := range what.LogLines.Lines {
			text += " " + line.Text
		}
		return text
	case *v1.Report_Finished:
		switch outcome := what.Finished.Outcome.(type) {
		case *v1.Finished_Succeeded:
			return head + "succeeded " + outcome.Succeeded.ResultJson
		case *v1.Finished_Failed:
			return head + "failed " + strings.TrimPrefix(outcome.Failed.Class.String(), "FAILURE_CLASS_") + " " + outcome.Failed.Code
		case *v1.Finished_Cancelled:
			return head + "cancelled " + outcome.Cancelled.Message
		}
	case *v1.Report_CancelStage:
		return head + strings.TrimPrefix(what.CancelStage.Reached.String(), "CANCEL_REACHED_")
	case *v1.Report_NewData:
		return head + fmt.Sprintf("data %d %v last=%v", what.NewData.Level, what.NewData.ItemsJson, what.NewData.Last)
	}
	return head + "?"
}

// run is an executor that runs against the node until the test ends.
type run struct {
	t     *testing.T
	leave context.CancelFunc
	ended chan error
}

// said is what Run returned.
func (r *run) said() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(patience):
		r.t.Fatal("the executor does not leave")
		return nil
	}
}

func (n *scriptedNode) started(prepare func(*Executor)) *run {
	executor := &Executor{Group: "g", Name: "x", Nodes: []string{n.address}, Capacity: 2, Log: slog.New(slog.DiscardHandler)}
	prepare(executor)
	ctx, leave := context.WithCancel(context.Background())
	r := &run{n.t, leave, make(chan error, 1)}
	go func() { r.ended <- executor.Run(ctx) }()
	n.t.Cleanup(leave)
	return r
}
