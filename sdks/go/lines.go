package campanile

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	v1 "campanile.dev/sdk-go/executorv1"
)

// From the bytes that a program writes to lines that can be kept. Memory is bounded whatever is written: a line is cut
// at 64 KiB with a visible mark and a count, and bytes that are not UTF-8 become replacement characters.

// asLine makes a line out of bytes without an end of line, of which cut bytes are missing already.
func asLine(text []byte, cut int) (string, uint64) {
	text = bytes.TrimSuffix(text, []byte("\r"))
	if len(text) > maxLineBytes {
		cut += len(text) - maxLineBytes
		text = text[:maxLineBytes]
	}
	if cut > 0 {
		// A character that the cut split in two is cut whole, not shown as broken.
		whole := len(text)
		for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
			if at := len(text) - back; utf8.RuneStart(text[at]) {
				if !utf8.FullRune(text[at:]) {
					whole = at
				}
				break
			}
		}
		cut += len(text) - whole
		text = text[:whole]
	}
	valid := strings.ToValidUTF8(string(text), "\uFFFD")
	// Replacement characters may be longer than the bytes they stand for.
	if len(valid) > maxLineBytes {
		at := boundary(valid, maxLineBytes)
		cut += utf8.RuneCountInString(valid[at:])
		valid = valid[:at]
	}
	if cut > 0 {
		valid += fmt.Sprintf(" … [%d bytes cut · 已截断 %d 字节]", cut, cut)
	}
	return valid, uint64(cut)
}

// lineWriter cuts what is written to it into lines of the task's log, and waits while the link is behind.
type lineWriter struct {
	task   *Task
	stream v1.LogStream
	kept   []byte
	cut    int
}

func (w *lineWriter) Write(written []byte) (int, error) {
	rest := written
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		w.keep(rest[:end])
		w.say()
		rest = rest[end+1:]
	}
	w.keep(rest)
	return len(written), nil
}

// Close says the last line, if it had no end.
func (w *lineWriter) Close() error {
	if len(w.kept) > 0 {
		w.say()
	}
	return nil
}

func (w *lineWriter) keep(piece []byte) {
	fits := min(len(piece), maxLineBytes-len(w.kept))
	w.kept = append(w.kept, piece[:fits]...)
	w.cut += len(piece) - fits
}

func (w *lineWriter) say() {
	w.task.outbox.lineWhenRoom(w.task.stamped(w.stream, w.kept, w.cut))
	w.kept, w.cut = w.kept[:0], 0
}

var _ io.WriteCloser = (*lineWriter)(nil)
