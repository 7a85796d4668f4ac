package audit

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// Seven days with three callers below admin, sessions by themselves and refusals fill the log
// as fast as they can, and an admin does something each hour: all of the admin's lines
// are there, the log verifies, each line of the others is written or counted, and at the
// end of their haste they have lines again.
func TestNobodyBelowAdminPushesLinesOut(t *testing.T) {
	now, dir := noon, t.TempDir()
	b := open(t, dir, func(o *Options) {
		o.Now, o.Total, o.Segment = func() time.Time { return now }, 4<<20, 32<<10
	})
	add := func(e Entry) uint64 {
		t.Helper()
		n, err := b.Append(e)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	sent := uint64(0)
	for hour := range 7 * 24 {
		n := add(Entry{Kind: KindVerb, Admin: true, Identity: "root", Verb: "kill", Session: "beta"})
		add(Entry{Kind: KindDone, Admin: true, Identity: "root", Verb: "kill", Of: n})
		add(Entry{Kind: KindEvent, Identity: "root", Verb: "exited", Cursor: "e1", Text: strings.Repeat("x", hour)})
		for range 30 {
			for _, who := range []string{"eve", "mallory", "trudy"} {
				n := add(Entry{Kind: KindVerb, Identity: who, Verb: "attach", Session: "alpha", ID: "01J"})
				add(Entry{Kind: KindEvent, Identity: who, Verb: "client_attached", Session: "alpha", ID: "01J", Cursor: "e2"})
				add(Entry{Kind: KindDone, Identity: who, Verb: "attach", Session: "alpha", ID: "01J", Of: n})
				sent += 3
			}
			add(Entry{Kind: KindEvent, Verb: "message", Session: "alpha", ID: "01J", Cursor: "e3"})
			sent++
			if err := b.Refuse(Entry{Identity: "eve", Verb: "kill"}); err != nil {
				t.Fatal(err)
			}
			now = now.Add(2 * time.Minute)
		}
	}
	b.close()
	if r := b.verify(); r.Problem != nil || r.First != 1 {
		t.Errorf("lines were pushed out, or: %+v", r)
	}
	admins, others := 0, uint64(0)
	err := Read(context.Background(), dir, Query{}, func(line []byte) error {
		e, err := parse(bytes.TrimSuffix(line, []byte("\n")))
		switch {
		case err != nil:
			return err
		case e.Kind == KindRefused || e.Kind == KindHead || e.Kind == KindRetired:
		case e.Identity == "root":
			admins++
		case e.Count > 0:
			if !strings.Contains(e.Text, "more of these from 2026-11-") || e.Session != "alpha" {
				t.Errorf("a count: %+v", e)
			}
			others += e.Count
		default:
			others++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if admins != 3*7*24 {
		t.Errorf("%d lines of the admin's, of %d", admins, 3*7*24)
	}
	if others != sent {
		t.Errorf("%d lines of the others are written or counted, of %d", others, sent)
	}

	now = now.Add(keepFor)
	b = open(t, dir, func(o *Options) { o.Now, o.Total = func() time.Time { return now }, 4<<20 })
	defer b.close()
	if n, err := b.Append(Entry{Kind: KindVerb, Identity: "eve", Verb: "attach"}); n == 0 || err != nil {
		t.Errorf("a line after a week of rest: %d, %v", n, err)
	}
}

// What one caller spends is not taken from another, and the end of what was written as
// begun is written.
func TestBudgetOfOneCaller(t *testing.T) {
	b := newBudget(1<<20, noon)
	line := Entry{Kind: KindVerb, Identity: "eve", Verb: "attach"}
	written := 0
	for b.take(line, noon) {
		written++
	}
	if written != 1<<20/32/lineBytes {
		t.Errorf("%d lines at once", written)
	}
	if !b.take(Entry{Kind: KindDone, Identity: "eve", Verb: "attach", Of: 7}, noon) || b.take(Entry{Kind: KindDone, Identity: "eve", Verb: "attach"}, noon) {
		t.Error("an end is written if and only if its begin is")
	}
	if !b.take(Entry{Kind: KindVerb, Identity: "bob", Verb: "attach"}, noon) {
		t.Error("another caller has no line")
	}
	if got := b.over(noon.Add(countFor / 2)); got != nil {
		t.Errorf("counts at once: %v", got)
	}
	if got := b.over(noon.Add(24 * time.Hour)); len(got) != 2 || got[0].Count != 1 || got[1].Count != 1 {
		t.Errorf("counts: %+v", got)
	}
	if len(b.over(noon.Add(2*keepFor))) != 0 || len(b.callers) != 0 {
		t.Errorf("%d callers are kept", len(b.callers))
	}

	b, written = newBudget(1<<20, noon), 0
	for i := range 100 {
		for b.take(Entry{Kind: KindVerb, Identity: fmt.Sprint(i), Verb: "attach"}, noon) {
			written++
		}
	}
	if written != 1<<20/8/lineBytes {
		t.Errorf("%d lines of all callers at once", written)
	}
}

// TestAdminInALoop: an admin in a loop of one verb fills that verb's share, and further lines
// are only counted. Lines of other admins and of the admin's other verbs are still written.
func TestAdminInALoop(t *testing.T) {
	const total = 1 << 20
	b := newBudget(total, noon)
	line := Entry{Kind: KindVerb, Admin: true, Identity: "root", Verb: "gate", Session: "alpha"}
	written, now := 0, noon
	const loop = 10_000
	for i := range loop {
		if b.take(line, now) {
			written++
		}
		now = noon.Add(keepFor / loop * time.Duration(i))
	}
	if bytes := written * lineBytes; bytes < total/4 || bytes > total*3/4+lineBytes {
		t.Errorf("%d bytes of %d are written", bytes, total)
	}
	for _, e := range []Entry{
		{Kind: KindVerb, Admin: true, Identity: "root", Verb: "access add"}, {Kind: KindVerb, Admin: true, Identity: "alice", Verb: "gate"},
		{Kind: KindVerb, Identity: "bob", Verb: "attach"}, {Kind: KindEvent, Identity: "root", Verb: "exited"},
	} {
		if !b.take(e, now) {
			t.Errorf("no room for %s of %s", e.Verb, e.Identity)
		}
	}
	counts := b.end()
	if len(counts) != 1 || counts[0].Count != uint64(loop-written) || counts[0].Verb != "gate" || counts[0].Session != "alpha" {
		t.Errorf("counts: %+v, with %d written", counts, written)
	}
}
