package sessions

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/agent"
	"berth/agent/generic"
	"berth/keys"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// TestMain makes the test binary the holder's binary too.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "hold" {
		os.Exit(hold.Main(os.Stdin))
	}
	if len(os.Args) == 2 && os.Args[1] == "enter" {
		os.Exit(hold.EnterMain())
	}
	os.Exit(leaks(m.Run()))
}

// leaks fails a run that leaves goroutines. Those that wait for a holder's
// process end with it, which under the race detector takes a second more.
func leaks(code int) int {
	if code != 0 {
		return code
	}
	deadline := time.Now().Add(patience)
	err := goleak.Find()
	for ; err != nil && time.Now().Before(deadline); err = goleak.Find() {
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// patience bounds every wait for something that must happen.
const patience = 20 * time.Second

// place is a state folder with the server that has it open.
type place struct {
	t       testing.TB
	options Options
	reg     *Registry
}

// tester is who does things in tests.
var tester = Actor{Identity: keys.Identity{Kind: keys.KindKey, Name: "tester", Role: keys.Admin}, Client: "c1"}

func open(t testing.TB) *place {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := os.MkdirTemp("", "berth") // a short path
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	p := &place{t: t, options: Options{
		Drivers: map[string]agent.Driver{agent.Generic: generic.Driver{}},
		Rights: func(id keys.Identity, _ string) (keys.Identity, error) {
			id.Role = tester.Identity.Role
			return id, nil
		},
		StateDir: t.TempDir(), RuntimeDir: sockets, Exe: exe, Berth: exe, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Environment: Environment{
			Server: os.LookupEnv, Home: home, User: "tester", Shell: "/bin/sh",
			ReadFile: func(path string) ([]string, error) {
				data, err := os.ReadFile(path)
				return strings.Split(string(data), "\n"), err
			},
			Redact: func(env map[string]string) map[string]string { return env },
		},
	}}
	p.open()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		for _, s := range p.reg.All() {
			select {
			case err := <-s.End(ctx, tester, 0):
				if err != nil {
					t.Errorf("end %s: %v", s.Status().Name, err)
				}
			case <-ctx.Done():
				t.Errorf("%s did not end", s.Status().Name)
			}
		}
		p.close()
		for { // a holder that ends takes its socket away
			if left, err := os.ReadDir(sockets); err != nil || len(left) == 0 || ctx.Err() != nil {
				if len(left) > 0 {
					t.Errorf("%d holders are left", len(left))
				}
				break
			}
			time.Sleep(time.Millisecond)
		}
		os.RemoveAll(sockets)
	})
	return p
}

func (p *place) open() {
	p.t.Helper()
	reg, err := Open(p.t.Context(), p.options)
	if err != nil {
		p.t.Fatal(err)
	}
	p.reg = reg
}

func (p *place) close() {
	p.t.Helper()
	if err := p.reg.Close(); err != nil {
		p.t.Fatal(err)
	}
}

// reopen is another server after this one.
func (p *place) reopen() {
	p.t.Helper()
	p.close()
	p.open()
}

// sh makes a session that runs a script.
func (p *place) sh(name, script string, change ...func(*Spec)) *Session {
	p.t.Helper()
	spec := Spec{Name: name, Command: []string{"sh", "-c", script}, Cols: 40, Rows: 6}
	for _, fn := range change {
		fn(&spec)
	}
	s, err := p.reg.New(p.t.Context(), spec, tester)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *place) find(name string) *Session {
	p.t.Helper()
	s, ok := p.reg.Find(name)
	if !ok {
		p.t.Fatalf("there is no session %s", name)
	}
	return s
}

// within waits until the session's status is as it should be.
func within(t testing.TB, s *Session, what string, ok func(*Status) bool) *Status {
	t.Helper()
	changed, stop := s.Subscribe()
	defer stop()
	deadline := time.After(patience)
	for {
		st := s.Status()
		if ok(st) {
			return st
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%s: %s did not happen; state %s, problem %q", st.Name, what, st.Now, st.Problem)
		}
	}
}

func screenText(t *testing.T, s *Session) string {
	t.Helper()
	snap, err := s.Snapshot(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, l := range snap.History {
		b.WriteString(l.Text() + "\n")
	}
	b.WriteString(strings.Join(snap.Text(), "\n"))
	return strings.TrimRight(b.String(), "\n")
}

func shows(t *testing.T, s *Session, want string) {
	t.Helper()
	changed, stop := s.Subscribe()
	defer stop()
	deadline := time.After(patience)
	for {
		text := screenText(t, s)
		if strings.Contains(text, want) {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%s does not show %q but\n%s", s.Status().Name, want, text)
		}
	}
}

// log gives all events of a session so far, by type.
func (p *place) log(id string) map[string][]events.Line {
	p.t.Helper()
	all := map[string][]events.Line{}
	head := p.reg.Events().Head()
	seq := uint64(0)
	for r := p.reg.Events().Follow(0); r.Position() < head; {
		line, err := r.Next(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		if line.ID != id {
			continue
		}
		if seq++; line.Seq != seq {
			p.t.Errorf("event %d of %s follows %d", line.Seq, id, seq-1)
		}
		all[line.Type] = append(all[line.Type], line)
	}
	return all
}

// counts checks how many events of some types there were.
func (p *place) counts(id string, want map[string]int) {
	p.t.Helper()
	got := p.log(id)
	for kind, n := range want {
		if len(got[kind]) != n {
			p.t.Errorf("%d events %s, want %d", len(got[kind]), kind, n)
			for _, l := range got[kind] {
				p.t.Logf("%s", l.Raw)
			}
		}
	}
}

// crash is a kill -9 of the server as far as the files can tell: the session's
// checkpoint is that of the moment given, whatever was written since.
func (p *place) crash(s *Session, kept []byte) {
	p.t.Helper()
	p.close()
	name := filepath.Join(s.dir, loop.CheckpointFile)
	if err := os.WriteFile(name, kept, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.open()
}

func checkpointOf(t *testing.T, s *Session) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, loop.CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
