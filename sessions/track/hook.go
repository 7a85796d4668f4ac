package track

import (
	"strings"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/sessions/events"
	"berth/sessions/hold"
	"berth/sessions/loop"
)

// hook applies an event of the agent's hooks. Only the event hook names the record. The event and all that follows from it are appended in one
// step, so that a killed server has written all or none.
func (t *Track) hook(r hold.Record) (told loop.Outcome, err error) {
	h, err := loop.Decode[hold.HookData](r)
	if err != nil {
		return told, err
	}
	written := t.env.Written(r.N)
	if !written {
		t.hooks.hook(h)
	}
	cut := h.Truncated || h.Head != "" && !h.File
	e := HookEvent{Event: h.Event, Bytes: h.Bytes, Payload: h.Payload, Head: h.Head, Truncated: cut, Malformed: h.Malformed}
	if !written {
		t.shorten(&e, t.env.Now())
	}
	payload := []byte(h.Payload)
	if h.File {
		if whole, err := hold.ReadHookFile(t.env.Dir, r.N); err == nil {
			payload = whole
		}
	}
	var also []events.Event
	if d := t.d; d != nil && (len(payload) > 0 || cut) {
		if !written {
			t.Pass(t.env.OnClock(r.Time.Time))
		}
		t.opensBy(r, written)
		facts, err := d.hook(payload)
		if c, cuts := d.driver.(agent.CutReader); err != nil && cut && cuts && c.CutsCall(h.Head) {
			told.Results = append(told.Results, d.fold.LosesCall(d.clock(t.env.OnClock(r.Time.Time))))
		}
		if err == nil {
			for _, f := range facts {
				f.Time = d.clock(t.env.OnClock(r.Time.Time))
				if h.Ask && f.Kind == agent.Asked {
					if f.Released = t.env.ShownOnScreen(f.Request); !f.Released {
						f.Hook = loop.HookID(r.N)
					}
				}
				if f.LogRead = !written && (wordless(f) || f.Hook != "" || f.Kind == agent.Asked && completes(d.driver)); f.LogRead {
					t.readLogToItsEnd() // it has the turn's last message by now, and the call that the agent asks about
				}
				some, beside := t.applyHookFact(f, r.N, h.Ask)
				e.Foreign = e.Foreign || some[0].Foreign
				told.Results, also = append(told.Results, some...), append(also, beside...)
			}
		}
	}
	if t.d != nil {
		t.env.Hooked()
		if h.Ask {
			t.env.Asks(r.N)
		}
	}
	told.Events = append([]events.Event{{Type: eventHook, Cause: r.N, Data: e}}, also...)
	return told, nil
}

// Bounds of the payloads that events of one session's hooks have, in KiB: so many at once, and one more in each pause. Any
// process of a session can send hooks, which else push the events of other sessions out of the log within a minute.
const (
	payloadsMost  = 16 << 10
	payloadsPause = time.Second / 16
	shortHead     = 1 << 10 // bytes of a payload that an event has beyond that
)

// shorten leaves the beginning of an event's payload if the session's hooks have brought too much. The control log has
// all of it.
func (t *Track) shorten(e *HookEvent, now time.Time) {
	if t.payloads == nil {
		full := loop.Full(payloadsMost, payloadsPause, now)
		t.payloads = &full
	}
	text := string(e.Payload)
	if text == "" {
		text = e.Head
	}
	if len(text) <= shortHead || t.payloads.TakeSome((len(text)+1023)>>10, now) == 0 {
		return
	}
	e.Payload, e.Head = nil, strings.ToValidUTF8(text[:shortHead], "")
}

// coalesced emits one event for hook events that the holder only counted.
func (t *Track) coalesced(r hold.Record) (told loop.Outcome, err error) {
	d, err := loop.Decode[hold.CoalescedData](r)
	if err != nil {
		return told, err
	}
	if !t.env.Written(r.N) {
		t.hooks.Add(HookCounts{Coalesced: uint64(max(d.Count, 0))})
	}
	told.Events = []events.Event{{Type: eventHook, Cause: r.N, Data: HookEvent{Event: "coalesced", Count: d.Count, Events: d.Events}}}
	return told, nil
}

// applyHookFact applies a fact of a hook. A turn's end that the gate blocks doesn't count yet. also are further
// events.
func (t *Track) applyHookFact(f agent.Fact, hook uint64, asks bool) (results []detect.Result, also []events.Event) {
	d := t.d
	held := false
	if f.Agent == "" && d.fold.Ours(f.Conversation) {
		f, held, also = t.env.Gate(f, hook, asks)
	}
	result := d.fold.Apply(f)
	t.noteConversation(f, result)
	t.followLog(d, f, result)
	if !result.Foreign {
		t.env.KeepLog(f, hook, asks)
		if f.Usage != nil {
			d.meter.Take(f.Turn, f, f.Kind == agent.TurnEnded)
		}
		f = d.worded(f)
	}
	if result.Kept {
		f.Kind = agent.Queued // who waits for its turn waits for a later one
	}
	t.listen(f, result)
	results = append(results, result)
	if asks && f.Kind == agent.ConversationStarted && f.Agent == "" && !result.Foreign {
		t.env.Begins(f.Text, hook)
	}
	if held {
		results = append(results, d.fold.SetGate(true, f.Time))
	}
	return results, also
}

// completes reports whether the agent's session log has more of a call than its hook and its dialog.
func completes(driver agent.Driver) bool {
	_, is := driver.(agent.CallCompleter)
	return is
}

// Held applies that the gate holds the agent back, or no longer does.
func (t *Track) Held(held bool, at time.Time) detect.Result {
	return t.d.fold.SetGate(held, t.d.clock(t.env.OnClock(at)))
}

// EndTurn applies the turn's end that a hook has reported and that the gate held back. The gates call it when
// that hook has gone without a verdict: until then the turn hadn't ended.
func (t *Track) EndTurn(hook uint64, at time.Time) []detect.Result {
	d := t.d
	payload, err := hold.ReadHook(t.env.Dir, hook)
	if err != nil {
		t.env.Trouble("read the event of a turn's end", err)
		return nil
	}
	facts, err := d.hook(payload)
	if err != nil {
		return nil // the same as when the hook arrived
	}
	var results []detect.Result
	for _, f := range facts {
		f.Time = d.clock(t.env.OnClock(at))
		result := d.fold.Apply(f)
		t.listen(d.worded(f), result)
		results = append(results, result)
	}
	return results
}
