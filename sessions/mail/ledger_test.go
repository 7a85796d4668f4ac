package mail

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/api"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// agentDraft is a message of one session's agent to another session.
func agentDraft(from, to, text string) Draft {
	return Draft{From: Sender{Kind: FromAgent, Name: from, ID: &from}, Session: to, ID: to, Text: text, TTL: time.Hour}
}

// limited checks that the error is of that limit; empty: of none.
func limited(t *testing.T, err error, which string) {
	t.Helper()
	var e *api.Error
	switch {
	case which == "" && err != nil:
		t.Errorf("refused: %v", err)
	case which == "":
	case !errors.As(err, &e) || e.Code != api.CodeLimit || e.Details["limit"] != which:
		t.Errorf("%v, want the limit %s", err, which)
	}
}

// TestRateOfAMinute: each message counts for a minute from when it was sent, to any session. Other
// senders and persons have their own count, or none.
func TestRateOfAMinute(t *testing.T) {
	var l Ledger
	send := func(d Draft, at time.Duration) error {
		d.Text = fmt.Sprint(d.Text, at)
		_, err := l.Admit(d, start.Add(at))
		return err
	}
	for i := range RateMost {
		limited(t, send(agentDraft("a", fmt.Sprint("to", i%3), "x"), time.Duration(i)*time.Second), "")
	}
	limited(t, send(agentDraft("a", "new", "x"), 59*time.Second), "rate")
	limited(t, send(agentDraft("b", "a", "x"), 59*time.Second), "")
	person := Draft{From: Sender{Kind: FromKey, Name: "ann"}, Session: "a", ID: "a", Text: "x", TTL: time.Hour}
	for range 2 * RateMost {
		limited(t, send(person, 59*time.Second), "")
	}
	limited(t, send(agentDraft("a", "new", "x"), 60*time.Second), "") // the first is a minute old
	limited(t, send(agentDraft("a", "new", "x"), 60*time.Second), "rate")
	limited(t, send(agentDraft("a", "new", "x"), 61*time.Second), "")
	_, err := l.Admit(agentDraft("a", "new", "y"), start.Add(61*time.Second))
	if err == nil || !strings.Contains(err.Error(), "wait 1s") {
		t.Errorf("%v, want how long to wait", err)
	}
}

// TestWaitingOfASender: what was sent and not delivered counts, in all inboxes together.
func TestWaitingOfASender(t *testing.T) {
	var l Ledger
	now := start
	var first *Message
	for i := range waitingMost {
		now = now.Add(rateWithin / RateMost)
		m, err := l.Admit(agentDraft("a", fmt.Sprint("to", i%7), fmt.Sprint(i)), now)
		if limited(t, err, ""); i == 0 {
			first = m
		}
		m.Status = Accepted
	}
	now = now.Add(time.Hour)
	_, err := l.Admit(agentDraft("a", "other", "x"), now)
	limited(t, err, "waiting")
	first.Status = Delivered
	_, err = l.Admit(agentDraft("a", "other", "x"), now)
	limited(t, err, "")
	_, err = l.Admit(agentDraft("a", "other", "x"), now)
	limited(t, err, "waiting")
}

// TestHops: the first message is hop 0, and eight replies may follow. A person's reply is a hop too, and no
// limit stops it.
func TestHops(t *testing.T) {
	var l Ledger
	pair := [2]string{"a", "b"}
	var last uint64
	for hop := range HopsMost + 1 {
		d := agentDraft(pair[hop%2], pair[(hop+1)%2], fmt.Sprint(hop))
		d.ReplyTo = last
		m, err := l.Admit(d, start)
		if limited(t, err, ""); err != nil {
			return
		}
		if m.Hop != hop || (m.ReplyTo == nil) != (hop == 0) {
			t.Errorf("message %d has hop %d", hop, m.Hop)
		}
		last = m.Number
	}
	d := agentDraft("b", "a", "too far")
	d.ReplyTo = last
	_, err := l.Admit(d, start)
	limited(t, err, "hops")
	d.From = Sender{Kind: FromKey, Name: "ann"}
	m, err := l.Admit(d, start)
	if limited(t, err, ""); err == nil && m.Hop != HopsMost+1 {
		t.Errorf("a person's reply has hop %d", m.Hop)
	}
	d.ReplyTo = 999
	if _, err = l.Admit(d, start); api.AsError(err).Code != api.CodeNotFound {
		t.Errorf("a reply to nothing: %v", err)
	}
}

// TestLoop: the fifth message of equal text between two sessions, either way, is refused for ten minutes from
// the first of them. Blanks at the ends don't make it another text. A reply without --reply-to is stopped so.
func TestLoop(t *testing.T) {
	var l Ledger
	send := func(from, to, text string, at time.Duration) error {
		_, err := l.Admit(agentDraft(from, to, text), start.Add(at))
		return err
	}
	limited(t, send("a", "b", "done?", 0), "")
	limited(t, send("b", "a", "done?", time.Minute), "")
	limited(t, send("a", "b", " done?\n", 2*time.Minute), "")
	limited(t, send("b", "a", "done?", 3*time.Minute), "")
	limited(t, send("a", "b", "done?", 4*time.Minute), "loop")
	limited(t, send("b", "a", "\tdone?", loopWithin-time.Second), "loop")
	limited(t, send("a", "c", "done?", 4*time.Minute), "")
	limited(t, send("c", "b", "done?", 4*time.Minute), "")
	limited(t, send("a", "b", "really done?", 4*time.Minute), "")
	limited(t, send("a", "b", "done?", loopWithin), "") // the first is over
	limited(t, send("b", "a", "done?", loopWithin), "loop")
}

// TestRefusedCountsForNothing: a message that a limit refused, and one that wasn't accepted in the end, take no
// place in any count.
func TestRefusedCountsForNothing(t *testing.T) {
	var l Ledger
	for range 3 * loopMost { // none of them is accepted
		m, err := l.Admit(agentDraft("a", "b", "same"), start)
		if limited(t, err, ""); err != nil {
			return
		}
		l.withdraw(m)
	}
	for range loopMost {
		_, err := l.Admit(agentDraft("a", "b", "same"), start)
		limited(t, err, "")
	}
	other, err := l.Admit(agentDraft("a", "b", "another"), start)
	limited(t, err, "")
	l.withdraw(other) // of the same moment: the equal ones still count
	_, err = l.Admit(agentDraft("a", "b", "same"), start)
	limited(t, err, "loop")
	if n := len(l.sent["a"]); n != loopMost {
		t.Errorf("%d messages count, want %d", n, loopMost)
	}
}

// TestInboxBounds: messages that wait for one session are bounded by number and by size, for every sender.
// Those that are delivered are bounded too, and the newest are kept.
func TestInboxBounds(t *testing.T) {
	person := Draft{From: Sender{Kind: FromKey, Name: "ann"}, Session: "a", ID: "a", TTL: time.Hour}
	for _, text := range []string{"x", strings.Repeat("x", TextMost)} {
		var l Ledger
		most := min(inboxMost, inboxBytes/len(text))
		d := person
		d.Text = text
		for range most {
			m, err := l.Admit(d, start)
			if limited(t, err, ""); err != nil {
				return
			}
			m.Status = Accepted
		}
		_, err := l.Admit(d, start)
		limited(t, err, "inbox")
		other := d
		other.ID, other.Session = "b", "b"
		_, err = l.Admit(other, start)
		limited(t, err, "")
		if old := l.old("a"); len(old) != 0 {
			t.Errorf("%d messages that wait aren't kept", len(old))
		}
		for _, m := range l.to["a"] {
			m.Status = Delivered
		}
		kept := min(keptMost, keptBytes/len(text))
		old := l.old("a")
		if len(old) != most-kept {
			t.Errorf("%d of %d are too old, want %d", len(old), most, most-kept)
		}
		for _, m := range old {
			if m.Number > uint64(most-kept) {
				t.Errorf("message %d isn't kept, and older ones are", m.Number)
			}
		}
	}
}

// TestClockSetBack: the times of files that are to come don't block a sender for longer than others.
func TestClockSetBack(t *testing.T) {
	var l Ledger
	for i := range RateMost {
		from := "a"
		l.add(&Message{Number: uint64(i + 1), ID: "b", From: Sender{Kind: FromAgent, ID: &from}, Sent: api.At(start.Add(time.Hour)), Status: Taken}, start)
	}
	_, err := l.Admit(agentDraft("a", "b", "x"), start)
	limited(t, err, "rate")
	_, err = l.Admit(agentDraft("a", "b", "x"), start.Add(rateWithin))
	limited(t, err, "")
}
