package loop

import (
	"time"

	"berth/sessions/events"
	"berth/sessions/hold"
)

// EmitterEnv is what an Emitter uses of its session.
type EmitterEnv struct {
	Log     *events.Log
	ID      string        // of the session
	Name    func() string // the session's
	Now     func() time.Time
	Gather  func() // writes the event of the keystrokes so far
	Changed func() // the session's status is to be published
}

// Emitter writes one session's events. An event that a control record caused is written once, also if
// the server is killed and the next one reads the record again.
type Emitter struct {
	env     EmitterEnv
	problem *Problem
	emitted uint64 // number of the last control record that has its events
	paces   Paces
}

// NewEmitter is the emitter of a session, whose log may have its events already.
func NewEmitter(env EmitterEnv, problem *Problem) *Emitter {
	return &Emitter{env: env, problem: problem, emitted: env.Log.LastCause(env.ID), paces: Paces{}}
}

// Written says that a control record has its events already.
func (e *Emitter) Written(record uint64) bool { return record <= e.emitted }

// Write takes in that a control record has its events now.
func (e *Emitter) Write(record uint64) { e.emitted = max(e.emitted, record) }

// Event writes an event that a control record caused, if the record has none yet. A record without a
// number always has one.
func (e *Emitter) Event(r hold.Record, kind string, data any) {
	if r.N == 0 || !e.Written(r.N) {
		e.append(events.Event{Type: kind, Cause: r.N, Data: data})
		e.Write(r.N)
	}
}

// Note writes an event that the server itself caused, and gives its number in the session.
func (e *Emitter) Note(kind string, data any) uint64 {
	return e.append(events.Event{Type: kind, Data: data})
}

func (e *Emitter) append(one events.Event) uint64 {
	e.env.Changed()
	done := e.Append([]events.Event{one})
	if len(done) == 0 {
		return 0
	}
	return done[0].Seq
}

// Append writes events in one step, and returns them as they were written.
func (e *Emitter) Append(batch []events.Event) []events.Event {
	for i := range batch {
		batch[i].Session, batch[i].ID = e.env.Name(), e.env.ID
	}
	done, err := e.env.Log.AppendAll(batch...)
	if err != nil {
		e.problem.Trouble("write an event", err)
	} else {
		e.problem.Cured("write an event")
	}
	return done
}

// Next is the number of the session's next event.
func (e *Emitter) Next() uint64 { return e.env.Log.LastSeq(e.env.ID) + 1 }

// Paced writes an event that a caller of the verb caused, or lets it wait if the caller causes too
// many. Record is the control record that it comes from; zero: none.
func (e *Emitter) Paced(record uint64, kind, verb string, by By, data Paced) {
	if record != 0 && e.Written(record) {
		return
	}
	e.Write(record)
	one := events.Event{Type: kind, Cause: record}
	e.all(e.paces.Take(PacedBy{Kind: kind, Verb: verb, Identity: by.Identity, Fingerprint: by.Fingerprint}, one, data, e.env.Now()))
}

// Ready writes the events that have waited long enough.
func (e *Emitter) Ready(now time.Time) { e.all(e.paces.Ready(now)) }

// Due is when Ready has something to do; zero: never.
func (e *Emitter) Due() time.Time { return e.paces.Due() }

// Flush writes every event that waits, before a checkpoint or an end. No server makes these events
// again.
func (e *Emitter) Flush() {
	e.env.Gather()
	e.all(e.paces.All())
}

func (e *Emitter) all(some []events.Event) {
	for _, one := range some {
		e.append(one)
	}
}
