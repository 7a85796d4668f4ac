package commands

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"

	"berth/agent"
	"berth/agent/generic"
	"berth/audit"
	"berth/keys"
	"berth/sessions"
	"berth/sessions/hold"
)

// TestMain makes the test binary the holder's binary too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "hold" {
		os.Exit(hold.Main(os.Stdin))
	}
	if len(os.Args) == 2 && os.Args[1] == "enter" {
		os.Exit(hold.EnterMain())
	}
	code := m.Run()
	// What waits for a holder's process ends with it, which under the race
	// detector takes a second more.
	deadline := time.Now().Add(patience)
	err := goleak.Find()
	for ; code == 0 && err != nil && time.Now().Before(deadline); err = goleak.Find() {
	}
	if code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const patience = 20 * time.Second

// desk is a service with its callers.
type desk struct {
	t *testing.T
	*Service
}

var (
	admin    = keys.Identity{Kind: keys.KindKey, Name: "admin", Role: keys.Admin}
	operator = keys.Identity{Kind: keys.KindKey, Name: "operator", Role: keys.Operator}
	viewer   = keys.Identity{Kind: keys.KindKey, Name: "viewer", Role: keys.Viewer}
	narrow   = keys.Identity{Kind: keys.KindKey, Name: "narrow", Role: keys.Admin, Sessions: []string{"web-*"}}
)

func newDesk(t *testing.T, change ...func(*sessions.Options)) *desk {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := os.MkdirTemp("", "berth")
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	options := sessions.Options{
		Drivers:  map[string]agent.Driver{agent.Generic: generic.Driver{}},
		StateDir: t.TempDir(), RuntimeDir: sockets, Exe: exe, Berth: exe, Log: log, Now: time.Now,
		Environment: sessions.Environment{
			Server: os.LookupEnv, Home: t.TempDir(), User: "tester", Shell: "/bin/sh",
			Redact: func(env map[string]string) map[string]string { return env },
		},
	}
	for _, fn := range change {
		fn(&options)
	}
	reg, err := sessions.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	profile := sessions.Defaults()
	profile.Command = []string{"sleep", "600"}
	_, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromSigner(secret)
	if err != nil {
		t.Fatal(err)
	}
	record, err := audit.Open(t.TempDir(), audit.Options{Signer: signer, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	specs := &Specs{Profiles: map[string]sessions.Spec{"web": profile}, Defaults: sessions.Defaults()}
	d := &desk{t, &Service{
		Audit:    record,
		Sessions: reg, Specs: func() *Specs { return specs }, Started: time.Now(), Now: time.Now, Log: log, MaxInput: 1 << 20,
		Level: new(slog.LevelVar), ConfiguredLevel: func() slog.Level { return slog.LevelInfo },
	}}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, s := range reg.All() {
			select {
			case <-s.End(ctx, sessions.Actor{Identity: admin}, 0):
			case <-ctx.Done():
				t.Error("a session did not end")
			}
		}
		if err := errors.Join(reg.Close(), record.Close()); err != nil {
			t.Error(err)
		}
		// A holder that ends removes its socket and announces that nowhere, so this polls until the
		// context ends.
		for left := []os.DirEntry{nil}; len(left) > 0 && ctx.Err() == nil; time.Sleep(time.Millisecond) {
			left, _ = os.ReadDir(sockets)
		}
		os.RemoveAll(sockets)
	})
	return d
}

// answer is what one call gave.
type answer struct {
	status   int
	out, err string
}

var clients atomic.Int64

// call runs one line. Options change the request.
func (d *desk) call(id keys.Identity, line string, change ...func(*Request)) answer {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	return d.callIn(ctx, id, line, change...)
}

func (d *desk) callIn(ctx context.Context, id keys.Identity, line string, change ...func(*Request)) answer {
	var out, err recorder
	r := Request{
		Identity: func() keys.Identity { return id }, Client: fmt.Sprintf("c%d", clients.Add(1)), Line: line,
		In: strings.NewReader(""), Out: &out, Err: &err,
	}
	for _, fn := range change {
		fn(&r)
	}
	status := d.Run(ctx, r)
	return answer{status, out.String(), err.String()}
}

func stdin(text string) func(*Request) { return func(r *Request) { r.In = strings.NewReader(text) } }

func terminalOut(r *Request) { r.Terminal = true }

func to(w io.Writer) func(*Request) { return func(r *Request) { r.Out = w } }

// recorder is a buffer that is read while it is written.
type recorder struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *recorder) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *recorder) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// code is the error code on the last line of a JSON answer.
func (a answer) code() string {
	lines := strings.Split(strings.TrimSpace(a.out), "\n")
	var last struct{ Error struct{ Code string } }
	if json.Unmarshal([]byte(lines[len(lines)-1]), &last) != nil {
		return ""
	}
	return last.Error.Code
}

// lines decodes a JSON object a line.
func (a answer) lines(t *testing.T) []map[string]any {
	t.Helper()
	var all []map[string]any
	for line := range strings.Lines(a.out) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all = append(all, v)
	}
	return all
}

// until polls a condition for at most patience, because no event announces it.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}
