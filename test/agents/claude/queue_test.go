//go:build agents

package claude

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

type waiting struct {
	QueueID string `json:"queue_id"`
	Text    string
	Why     string
}

// queue lists what waits.
func (l *lab) queue(words ...string) []waiting {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, append([]string{"queue", l.Name}, words...)...)
	check(l.T, err)
	var list []waiting
	check(l.T, json.Unmarshal(out, &list))
	return list
}

// waits queues a message and demands that it has to wait.
func (l *lab) waits(text string, flags ...string) string {
	l.T.Helper()
	n := l.Nudge(text, append([]string{"--queue"}, flags...)...)
	if n.Status != 0 || n.Delivered || !n.Queued || n.QueueID == "" {
		l.T.Fatalf("%.40q: %+v %+v", text, n, n.Error)
	}
	return n.QueueID
}

// arrived waits until the model has a message that many times, and no more.
func (l *lab) arrived(text string, times int) {
	l.T.Helper()
	l.Poll(func() bool { return l.API.Arrivals(text) >= times }, func() string {
		return fmt.Sprintf("%.60q arrived %d times, not %d; queue: %+v", text, l.API.Arrivals(text), times, l.queue())
	})
	if got := l.API.Arrivals(text); got != times {
		l.T.Errorf("%.60q arrived %d times, not %d", text, got, times)
	}
}

// order checks that the messages reached the model in this order.
func (l *lab) order(texts ...string) {
	l.T.Helper()
	var got []string
	for _, r := range l.API.Requests() {
		for _, text := range texts {
			if r.Prompt == text && r.Step == 0 && (len(got) == 0 || got[len(got)-1] != text) {
				got = append(got, text)
			}
		}
	}
	if strings.Join(got, "|") != strings.Join(texts, "|") {
		l.T.Errorf("they arrived as %q, not %q", got, texts)
	}
}

// TestQueue keeps messages through a turn, a dialog and a draft, in their order.
func TestQueue(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()

	// At rest it is delivered at once.
	if n := l.Nudge("MOCK: slow 30 100", "--queue"); n.Status != 0 || !n.Confirmed || n.Queued {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.Is("working")
	l.waits("first")
	l.waits("too late", "--expires", "300ms")
	id := l.waits("not at all")
	l.waits("MOCK: bash touch asked.txt")
	l.waits("!touch ran.txt\nlast")
	list := slices.DeleteFunc(l.queue(), func(w waiting) bool { return w.Text == "too late" }) // on a busy machine it has expired
	if len(list) != 4 || list[0].Text != "first" || list[0].Why != "it is working" {
		t.Errorf("%+v", list)
	}
	if list := l.queue("rm", id); len(list) > 4 {
		t.Errorf("%+v", list)
	}
	if n := l.API.Arrivals("first"); n != 0 {
		t.Error("it was typed while a turn ran")
	}

	l.arrived("first", 1)
	l.Is("prompt") // the third message that arrives asks
	if list := l.queue(); len(list) != 1 || l.API.Arrivals("too late") != 0 || l.API.Arrivals("not at all") != 0 {
		t.Errorf("%+v", list)
	}
	if r, status := l.Try("", "accept"); status != 0 || !r.Confirmed {
		t.Fatalf("%+v", r)
	}
	l.arrived(shield+"!touch ran.txt\nlast", 1)
	l.Is("idle")
	l.order("first", "MOCK: bash touch asked.txt", shield+"!touch ran.txt\nlast")
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}

	// A message waits for a draft.
	check(t, l.Type(l.Ctx, "a draft"))
	l.See("a draft")
	l.waits("after the draft")
	l.See("a draft")
	if list := l.queue(); len(list) != 1 || list[0].Why != "the composer holds a draft" {
		t.Errorf("%+v", list)
	}
	l.key("Ctrl-u")
	l.arrived("after the draft", 1)
	l.Is("idle")

	// --wait waits for the delivery and the turn.
	if n := l.Nudge("MOCK: slow 10 100"); n.Status != 0 {
		t.Fatalf("%+v", n.Error)
	}
	n := l.Nudge("MOCK: text the end", "--queue", "--wait", "--timeout", patient.String())
	if n.Status != 0 || !n.Confirmed || n.Queued || n.State == nil || *n.State != "idle" || n.LastMessage == nil || *n.LastMessage != "the end" {
		t.Fatalf("%+v %+v", n, n.Error)
	}
}

// TestQueueOverKills kills the server at moments of a queue's delivery: each message
// arrives once, in its order, and its verdict is emitted once.
func TestQueueOverKills(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	rounds := kills()
	delivered := 0
	for i := range rounds {
		if n := l.Nudge("MOCK: slow 3 100"); n.Status != 0 {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		var texts []string
		for k := range 3 {
			texts = append(texts, fmt.Sprintf("message %d of round %d", k, i))
			l.waits(texts[k])
		}
		for range 3 {
			l.pause(100 + rand.Intn(500))
			check(t, l.Host.Kill())
			l.pause(rand.Intn(150))
			check(t, l.Host.Start())
		}
		for _, text := range texts {
			l.arrived(text, 1)
		}
		l.Poll(func() bool { return len(l.queue()) == 0 }, func() string { return fmt.Sprintf("still queued: %+v", l.queue()) })
		l.Is("idle")
		l.order(texts...)
		for _, text := range texts {
			l.once(text)
			delivered++
		}
		if t.Failed() {
			return
		}
	}
	out, err := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", "e0", "--type", "nudge", "--timeout", "500ms")
	if err == nil {
		t.Fatal("watch ended by itself")
	}
	verdicts := map[string]int{}
	ids := map[string]int{}
	for line := range strings.Lines(string(out)) {
		var e struct {
			Verdict string
			Queue   string `json:"queue_id"`
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Queue != "" {
			verdicts[e.Verdict]++
			ids[e.Queue]++
		}
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%d verdicts of %s", n, id)
		}
	}
	if len(ids) != delivered {
		t.Errorf("%d messages have verdicts, %d were delivered", len(ids), delivered)
	}
	t.Logf("%d rounds of 3 kills: %d messages, verdicts %v", rounds, delivered, verdicts)
}
