package track

import (
	"slices"
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
	"berth/sessions/hold"
)

// facts applies facts of a source other than hooks. It ignores them while the journal is read again, because
// its titles are of the past.
func (t *Track) facts(facts []agent.Fact) {
	d := t.d
	if d == nil || !d.waking.live || t.env.Exit() != nil {
		return
	}
	var results []detect.Result
	for _, f := range facts {
		d.ids.at(t.env.Next(), false)
		f.Time = d.clock(t.env.Now())
		result := d.fold.Apply(f)
		t.noteConversation(f, result)
		t.followLog(d, f, result)
		t.listen(f, result)
		if d.waking.restoring {
			result.Transitions = nil
		}
		results = append(results, result)
	}
	t.Emit(results)
}

// Began applies a turn's start that a delivery has seen on the screen. An agent that has reported a turn by hooks
// reports this one too, if later.
func (t *Track) Began(f agent.Fact) {
	if t.d != nil && !t.d.fold.Hooked() {
		t.facts([]agent.Fact{f})
	}
}

// Title applies the terminal's title.
func (t *Track) Title(title string) {
	if t.d != nil {
		t.visitors.keep(0, title, t.env.Now())
		t.facts(t.d.driver.Title(title))
	}
}

// Notice applies an OSC sequence that the program printed.
func (t *Track) Notice(osc int, payload string) {
	d := t.d
	if d == nil {
		return
	}
	facts := d.driver.OSC(osc, payload)
	if !d.waking.live {
		d.recall(facts)
		return
	}
	t.visitors.keep(osc, payload, t.env.Now())
	t.facts(facts)
}

// noteConversation keeps which conversation a restart resumes: the first known one, and then each one that
// had a turn. Without a report of the turn, a change to working counts as one.
func (t *Track) noteConversation(f agent.Fact, r detect.Result) {
	id := t.d.fold.Status().Conversation
	if r.Foreign || id == "" || t.visitors.now != nil { // a restart starts the shell
		return
	}
	spoken := f.Kind == agent.TurnStarted || slices.ContainsFunc(r.Transitions, func(n detect.Transition) bool { return n.Next == agent.Working })
	spec := t.env.Spec()
	same := spec.Conversation == id
	if same && (spec.Spoken || !spoken) || !same && spec.Conversation != "" && !spoken {
		return
	}
	if err := t.env.Learn(id, spoken); err != nil {
		t.env.Trouble("keep the conversation's id", err)
	}
}

// listen passes a fact of the session's conversation to the other parts, and keeps the last message.
func (t *Track) listen(f agent.Fact, r detect.Result) {
	if r.Foreign {
		return
	}
	d := t.d
	t.env.Observe(f)
	if f.Kind == agent.TurnEnded && f.Agent == "" && f.How == agent.Completed && f.Text != "" {
		if d.said == nil || f.Turn == "" || d.said.Turn != f.Turn {
			d.said = &Said{Text: f.Text, Time: api.At(f.Time), Turn: f.Turn, Conversation: d.fold.Status().Conversation}
		}
	}
}

// opensBy has a hook's event open prompts. An earlier server may have written that event.
func (t *Track) opensBy(r hold.Record, written bool) {
	number, known := t.env.Next(), !written
	if seq, ok := t.seqOf[r.N]; written && ok {
		number, known = seq, true
	}
	ids := &t.d.ids
	ids.at(number, written)
	if ids.hook = 0; known {
		ids.hook = number
	}
}

// Clock returns the time for a fact that is applied now. A prompt that the fact opens gets the number of
// the next event.
func (t *Track) Clock(at time.Time) time.Time {
	t.d.ids.at(t.env.Next(), !t.d.waking.live)
	return t.d.clock(at)
}

// Pass applies the changes that are due by time alone. They get events of their own: a prompt that is named
// by a hook's event must belong to that hook, also for the next server.
func (t *Track) Pass(now time.Time) {
	d := t.d
	if at := d.fold.Deadline(); d.waking.live && !at.IsZero() && !now.Before(at) {
		d.ids.at(t.env.Next(), false)
		t.Emit([]detect.Result{d.fold.Tick(d.clock(now))})
	}
}

// options are the fold's, for a program that was started at start.
func (t *Track) options(d *detection, start time.Time) detect.Options {
	spec := t.env.Spec()
	zone := time.Local
	if named, err := time.LoadLocation(spec.TimeZone); spec.TimeZone != "" && err == nil {
		zone = named
	}
	return detect.Options{
		Conversation: spec.Conversation, Start: start, Headless: spec.Headless, IdleGrace: spec.IdleGrace, Forked: spec.Forked,
		Again: spec.Again, Dir: spec.Dir, RealDir: spec.RealDir, Zone: zone,
		PromptID: func(_ uint64, told bool) string {
			return d.ids.next(t.env.ID+"-"+t.env.Child().mark(), told, t.env.Opened)
		},
	}
}
