package clients

import (
	"berth/api"
	"berth/sessions/lease"
	"berth/sessions/loop"
)

// Types of events.
const (
	eventAttached = "client_attached"
	eventDetached = "client_detached"
	eventWriter   = "writer_change"
	eventInput    = "input"
	eventResize   = "resize"
	eventSignal   = "signal"
)

// whyDetach is a clientEvent's Why of a client that a caller detached.
const whyDetach = "detach"

type clientEvent struct {
	By       loop.By `json:"by"`
	Terminal bool    `json:"terminal"`
	Cols     int     `json:"cols"`
	Rows     int     `json:"rows"`
	Why      string  `json:"why"` // restart: its connection ended with the server; detach: a caller detached it
	loop.Repeated
}

type inputEvent struct {
	By    loop.By `json:"by"`
	Bytes int     `json:"bytes"`
	Verb  string  `json:"verb"`
	loop.Repeated
}

// After adds the bytes of the earlier event.
func (e inputEvent) After(earlier loop.Paced) loop.Paced {
	e.Bytes, e.Repeated = e.Bytes+earlier.(inputEvent).Bytes, loop.Since(earlier)
	return e
}

type resizeEvent struct {
	By   loop.By `json:"by"`
	Cols int     `json:"cols"`
	Rows int     `json:"rows"`
	loop.Repeated
}

// After keeps the size that both led to.
func (e resizeEvent) After(earlier loop.Paced) loop.Paced {
	e.Repeated = loop.Since(earlier)
	return e
}

type signalEvent struct {
	By     loop.By `json:"by"`
	Signal string  `json:"signal"`
	loop.Repeated
}

// After keeps the last signal.
func (e signalEvent) After(earlier loop.Paced) loop.Paced {
	e.Repeated = loop.Since(earlier)
	return e
}

type writerEvent struct {
	Kind       lease.Happening `json:"kind"`
	How        lease.How       `json:"how"`
	Holds      *lease.Kind     `json:"holds"` // how it is held now: attach, exec, lock
	By         *api.Writer     `json:"by"`    // who has it now
	From       *api.Writer     `json:"from"`  // who had it
	Generation uint64          `json:"generation"`
	loop.Repeated
}

// After keeps the holder that both led to.
func (e writerEvent) After(earlier loop.Paced) loop.Paced {
	e.Repeated = loop.Since(earlier)
	return e
}

// WriterOf shows a holder of the lease.
func WriterOf(h lease.Holder) *api.Writer {
	return &api.Writer{
		Identity: h.Identity, Fingerprint: h.Fingerprint, Client: h.ID, Generation: h.Generation, Since: api.At(h.Since), Expires: api.At(h.Expires),
	}
}

// eventOf is a change of the lease as an event has it.
func eventOf(c lease.Change) writerEvent {
	e := writerEvent{Kind: c.Kind, How: c.How, Generation: c.Generation}
	if c.By != nil {
		e.By, e.Holds = WriterOf(*c.By), &c.By.Kind
	}
	if c.From != nil {
		e.From = WriterOf(*c.From)
	}
	return e
}

// change is the change that the event reports: enough for the next server to go on from.
func (e writerEvent) change() lease.Change {
	c := lease.Change{Kind: e.Kind, How: e.How, Generation: e.Generation}
	if w := e.By; w != nil && e.Holds != nil {
		c.By = &lease.Holder{
			Client: lease.Client{ID: w.Client, Identity: w.Identity, Fingerprint: w.Fingerprint, MayWrite: true},
			Kind:   *e.Holds, Generation: w.Generation, Since: w.Since.Time, LastInput: w.Since.Time, Expires: w.Expires.Time,
		}
	}
	return c
}

// causeOf is the client that a change of the lease is counted for: who has it now, else who had
// it.
func causeOf(change lease.Change) loop.By {
	h := change.By
	if h == nil {
		h = change.From
	}
	if h == nil {
		return loop.By{}
	}
	return loop.By{Identity: h.Identity, Fingerprint: h.Fingerprint, Client: h.Client.ID}
}

// Events are the fields of each type of event of this package, beside those of the head.
var Events = map[string]any{
	eventAttached: clientEvent{}, eventDetached: clientEvent{}, eventWriter: writerEvent{}, eventInput: inputEvent{}, eventResize: resizeEvent{}, eventSignal: signalEvent{},
}
