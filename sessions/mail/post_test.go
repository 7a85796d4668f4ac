package mail

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions/events"
	"berth/sessions/loop"
)

// errKilled is what the test panics with where the server is killed.
var errKilled = errors.New("killed")

// post is one session with its messages. Its outbox holds one letter, in memory; reopen is the next server,
// to which the outbox's file brings the letter.
type post struct {
	*Mail
	t       *testing.T
	dir     string
	log     *events.Log
	office  *Office
	now     time.Time
	program loop.Program
	types   bool
	rested  time.Time
	posted  uint64
	typing  bool     // the letter is being typed
	sent    []uint64 // letters that the outbox had, in order
	answers []string
	killed  string // where: "before" the event, or "after" it
	trouble []string
}

func newPost(t *testing.T) *post {
	t.Helper()
	p := &post{t: t, dir: t.TempDir(), now: start, types: true, program: loop.Program{State: agent.Idle, Follows: true}}
	log, err := events.Open(filepath.Join(p.dir, "events"), events.Options{Now: func() time.Time { return p.now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	p.log = log
	p.reopen()
	return p
}

func (p *post) messages() string { return filepath.Join(p.dir, "messages") }

// reopen is the start of a server, as Registry does it.
func (p *post) reopen() {
	p.t.Helper()
	office, err := Open(p.messages(), func() time.Time { return p.now })
	if err != nil {
		p.t.Fatal(err)
	}
	p.office, p.killed, p.typing = office, "", false
	env := Env{
		Env: loop.Env{
			ID: "s1", Now: func() time.Time { return p.now }, Name: func() string { return "one" },
			Program: func() loop.Program { return p.program }, Exited: func() error { return api.Errorf(api.CodeExited, "it has exited") },
			Trouble: func(what string, err error) { p.trouble = append(p.trouble, fmt.Sprint(what, ": ", err)) }, Cured: func(string) {},
		},
		Append: p.append, Head: p.log.Head, Rested: func() time.Time { return p.rested }, Types: func() bool { return p.types },
		Post:   func(m *Message) error { p.posted = m.Number; p.sent = append(p.sent, m.Number); return nil },
		Posted: func() uint64 { return p.posted },
		Take: func(number uint64) bool {
			if p.typing && number == p.posted {
				return false
			}
			if number == p.posted {
				p.posted = 0
			}
			return true
		},
		Drop:   func(uint64) { p.posted = 0 },
		Answer: func(m Message, text string) { p.answers = append(p.answers, fmt.Sprint(m.Number, ": ", text)) },
	}
	p.Mail = New(env, office)
	if from, ok := p.Since(); ok {
		for r := p.log.Follow(from); r.Position() < p.log.Head(); {
			line, err := r.Next(p.t.Context())
			if err != nil {
				p.t.Fatal(err)
			}
			if line.ID == "s1" {
				p.Recall(line)
			}
		}
	}
	p.Start()
}

func (p *post) append(batch []events.Event) []events.Event {
	if p.killed == "before" {
		panic(errKilled)
	}
	for i := range batch {
		batch[i].Session, batch[i].ID = "one", "s1"
	}
	done, err := p.log.AppendAll(batch...)
	if err != nil {
		p.t.Error(err)
	}
	if p.killed == "after" {
		panic(errKilled)
	}
	return done
}

// kill kills the server in what fn does, where that is, and starts the next one.
func (p *post) kill(where string, fn func()) {
	p.t.Helper()
	p.killed = where
	func() {
		defer func() {
			if caught := recover(); caught != errKilled {
				p.t.Errorf("the server wasn't killed: %v", caught)
			}
		}()
		fn()
	}()
	p.reopen()
}

// send sends a message, which is accepted.
func (p *post) send(d Draft) uint64 {
	p.t.Helper()
	m := p.admit(d)
	if err := p.Accept(m); err != nil {
		p.t.Fatal(err)
	}
	return m.Number
}

func (p *post) admit(d Draft) *Message {
	p.t.Helper()
	m, err := p.office.Admit(d)
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func toOne(text string) Draft { return agentDraft("s2", "s1", text) }

// move is what the outbox does when the letter has come that far.
func (p *post) move(to Status, why string) {
	p.t.Helper()
	number := p.posted
	over := to != Delivered
	if list := p.Events(number, to, why); len(list) > 0 {
		done := p.append(list)
		p.Moved(number, to, why, done[0].Seq, over)
	}
	if over {
		p.posted = 0
	}
	p.Tick(p.now)
}

// way is what the message's file says, after another reading of it.
func (p *post) way(number uint64) (list []string) {
	p.t.Helper()
	m, ok := p.office.Find(number)
	if !ok {
		return nil
	}
	office, err := Open(p.messages(), func() time.Time { return p.now })
	if err != nil {
		p.t.Fatal(err)
	}
	again, _ := office.Find(number)
	if !reflect.DeepEqual(steps(m), steps(again)) || m.Status != again.Status {
		p.t.Errorf("message %d is %s %q, and its file has %s %q", number, m.Status, steps(m), again.Status, steps(again))
	}
	for _, step := range m.Way {
		list = append(list, string(step.Status))
	}
	if len(list) == 0 || list[len(list)-1] != string(m.Status) {
		p.t.Errorf("message %d is %s, and its way is %q", number, m.Status, list)
	}
	return list
}

func steps(m Message) (list []string) {
	for _, s := range m.Way {
		list = append(list, fmt.Sprint(s.Status, s.Seq, s.Why))
	}
	return list
}

// logged are the statuses that the event log has of each message, and judges that the ways have the same,
// each with the number of its event.
func (p *post) logged() map[uint64][]string {
	p.t.Helper()
	all, seqs := map[uint64][]string{}, map[uint64][]uint64{}
	for r := p.log.Follow(0); r.Position() < p.log.Head(); {
		line, err := r.Next(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		var e Event
		if line.Type != EventTell {
			continue
		}
		if err := json.Unmarshal(line.Raw, &e); err != nil {
			p.t.Fatal(err)
		}
		all[*e.Message] = append(all[*e.Message], string(e.Status))
		seqs[*e.Message] = append(seqs[*e.Message], line.Seq)
	}
	for number, list := range all {
		if way := p.way(number); !slices.Equal(way, list) {
			p.t.Errorf("message %d: events %q, its way %q", number, list, way)
			continue
		}
		m, _ := p.office.Find(number)
		for i, step := range m.Way {
			if step.Seq != seqs[number][i] {
				p.t.Errorf("message %d is %s by event %d, its way says %d", number, step.Status, seqs[number][i], step.Seq)
			}
		}
	}
	return all
}

func (p *post) want(number uint64, list ...string) {
	p.t.Helper()
	if got := p.logged()[number]; !slices.Equal(got, list) {
		p.t.Errorf("message %d: %q, want %q", number, got, list)
	}
}
