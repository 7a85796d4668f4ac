package commands

import (
	"bytes"
	"context"
	"runtime/debug"
	"strings"
	"testing"

	"berth/keys"
)

// TestPanicOfOneTarget: a call's goroutines pass a panic to the goroutine that called Run, where the
// edge contains it. On a goroutine of their own it would end the server.
func TestPanicOfOneTarget(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new one -- sleep 600")
	d.call(admin, "new two -- sleep 600")
	for line, change := range map[string]func(*Request, away){
		"wait one --until exited": func(r *Request, a away) { r.Identity = func() keys.Identity { a.panics(); return admin } },
		"interrupt all":           func(r *Request, a away) { r.Out, r.Err = a, a },
	} {
		panicked := func() (p any) {
			defer func() { p = recover() }()
			d.callIn(context.Background(), admin, line, func(r *Request) { change(r, away{goroutine()}) })
			return nil
		}()
		if err, ok := panicked.(error); !ok || !strings.Contains(err.Error(), "elsewhere") || !strings.Contains(err.Error(), "each_test.go") {
			t.Errorf("%s: panic %v", line, panicked)
		}
	}
}

// away panics on any goroutine but one.
type away struct{ own []byte }

func (a away) panics() {
	if !bytes.Equal(goroutine(), a.own) {
		panic("elsewhere")
	}
}

func (a away) Write(b []byte) (int, error) {
	a.panics()
	return len(b), nil
}

// goroutine is the name of the one that calls it.
func goroutine() []byte {
	line, _, _ := bytes.Cut(debug.Stack(), []byte(" ["))
	return line
}
