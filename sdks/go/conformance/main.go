// An executor that does what the parameters of its tasks say, for stories about processes: conformance NODE NAME
// CAPACITY. The SDKs for Rust (tests/executor) and Python have the same one, word for word, and a story is told of all of
// them. CAMPANILE_TOKEN is what it shows at the door, and CAMPANILE_CERTS the folder of the certificates with which it
// comes over TLS.
//
// What is to last until a story has seen what it came for has the parameter until: the path of a file, and it lasts
// until that is there. Everything else lasts ms milliseconds.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	campanile "campanile.dev/sdk-go"
)

type parameters struct {
	Class string
	Lines int
	Steps int
	Ms    int
	Until string
	Lock  string
	// Milliseconds; a minute where absent.
	WaitMs *int
	Again  bool
}

func of(task *campanile.Task) (p parameters) {
	if err := task.Decode(&p); err != nil {
		panic(err)
	}
	return p
}

// says appends one line to the diary that CAMPANILE_DIARY names.
func says(task *campanile.Task, what string) {
	diary := os.Getenv("CAMPANILE_DIARY")
	if diary == "" {
		return
	}
	file, err := os.OpenFile(diary, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	defer file.Close()
	if _, err := fmt.Fprintf(file, "%s %s %s %d %s\n", what, task.Executor(), task.ID(), task.Attempt(), task.IdempotencyKey()); err != nil {
		panic(err)
	}
}

func echo(_ context.Context, task *campanile.Task) (any, error) {
	task.Log("an echo")
	return map[string]any{
		"parameters": task.Parameters(), "attempt": task.Attempt(), "key": task.IdempotencyKey(),
		"job": task.Job(), "origin": task.Origin(),
	}, nil
}

func fails(_ context.Context, task *campanile.Task) (any, error) {
	says(task, "begins")
	code, message := "said_no", "it was told to"
	switch of(task).Class {
	case "business":
		return nil, campanile.Business(code, message)
	case "system":
		return nil, campanile.System(code, message)
	}
	return nil, campanile.Transient(code, message)
}

func panics(context.Context, *campanile.Task) (any, error) { panic("it was told to") }

func talks(_ context.Context, task *campanile.Task) (any, error) {
	out := task.Stdout()
	for line := range of(task).Lines {
		fmt.Fprintf(out, "line %d\n", line)
	}
	return nil, out.Close()
}

func walks(_ context.Context, task *campanile.Task) (any, error) {
	steps := of(task).Steps
	for step := 1; step <= steps; step++ {
		task.Progress(100*float64(step)/float64(steps), fmt.Sprintf("step %d", step))
	}
	return steps, nil
}

// lookEvery is the time between two looks for the file of until.
const lookEvery = 20 * time.Millisecond

// lasts as long as its parameters say, or until it is asked to end.
func lasts(ctx context.Context, asked parameters) error {
	pause := func(d time.Duration) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if asked.Until == "" {
		return pause(time.Duration(asked.Ms) * time.Millisecond)
	}
	for {
		_, err := os.Stat(asked.Until)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := pause(lookEvery); err != nil {
			return err
		}
	}
}

func sleeps(ctx context.Context, task *campanile.Task) (any, error) {
	says(task, "begins")
	if err := lasts(ctx, of(task)); err != nil {
		return nil, err
	}
	says(task, "ends")
	return task.Attempt(), nil
}

func stubborn(_ context.Context, task *campanile.Task) (any, error) {
	says(task, "begins")
	<-task.Reached(campanile.Kill)
	return nil, campanile.ErrCancelled
}

// locks takes a lock, again if told so, keeps it for a while and says when it has it and when it lets go.
func locks(ctx context.Context, task *campanile.Task) (any, error) {
	asked := of(task)
	wait := time.Minute
	if asked.WaitMs != nil {
		wait = time.Duration(*asked.WaitMs) * time.Millisecond
	}
	lock, err := task.Lock(ctx, asked.Lock, campanile.LockWait(wait))
	if err != nil {
		return nil, err
	}
	says(task, fmt.Sprintf("locks:%d", lock.Token()))
	if asked.Again {
		again, err := task.Lock(ctx, asked.Lock, campanile.LockWait(0))
		if err != nil {
			return nil, err
		}
		says(task, fmt.Sprintf("locks:%d", again.Token()))
		if err := again.Release(); err != nil {
			return nil, err
		}
	}
	if err := lasts(ctx, asked); err != nil {
		return nil, err
	}
	says(task, fmt.Sprintf("leaves:%d", lock.Token()))
	return lock.Token(), lock.Release()
}

// secured reads ca.pem, executor.pem and its key out of a folder; without one the stream is not secured.
func secured(certs string) (*tls.Config, error) {
	if certs == "" {
		return nil, nil
	}
	authority, err := os.ReadFile(filepath.Join(certs, "ca.pem"))
	if err != nil {
		return nil, err
	}
	known := x509.NewCertPool()
	if !known.AppendCertsFromPEM(authority) {
		return nil, errors.New("ca.pem has no certificate")
	}
	own, err := tls.LoadX509KeyPair(filepath.Join(certs, "executor.pem"), filepath.Join(certs, "executor-key.pem"))
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: known, Certificates: []tls.Certificate{own}}, nil
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: conformance NODE NAME CAPACITY")
	}
	capacity, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	security, err := secured(os.Getenv("CAMPANILE_CERTS"))
	if err != nil {
		log.Fatal(err)
	}
	executor := campanile.Executor{
		Group: "conformance", Name: os.Args[2], Nodes: os.Args[1:2], Capacity: capacity,
		Token: os.Getenv("CAMPANILE_TOKEN"), TLS: security,
	}
	executor.Func("echo", echo)
	executor.Func("fails", fails)
	executor.Func("panics", panics)
	executor.Func("talks", talks)
	executor.Func("walks", walks)
	executor.Func("sleeps", sleeps)
	executor.Func("stubborn", stubborn)
	executor.Func("locks", locks)
	if err := executor.RunUntilSignal(); err != nil {
		log.Fatal(err)
	}
}
