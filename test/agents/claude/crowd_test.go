//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// given is a message for the crowd's test, its text on arrival, and its text on arrival when
// it is long: Claude doesn't change a paste that it folds into a mark.
type given struct{ text, arrives, whole string }

// message makes the i-th message: of 1 byte to 10 KB, of all kinds.
func message(r *rand.Rand, i int) given {
	id := fmt.Sprintf("%d-%04x", i, r.Intn(1<<16))
	words := func(size int, from ...string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(from[r.Intn(len(from))])
		}
		return strings.TrimSpace(b.String())
	}
	plain := []string{"word ", "fix the bug ", "and then, ", "x ", "(see below) ", "100 % ", "don't ", "`code` ", "\"quoted\" ", "$HOME ", "a/b/c "}
	size := []int{1, 20, 200, 1000, 3000, 10000}[r.Intn(6)]
	same := func(s string) given { return given{s, s, s} }
	text := words(size, plain...)
	switch i % 14 {
	case 0:
		return same(string(rune('a' + i/14%26))) // 1 byte
	case 1:
		return same(id + " " + text)
	case 2:
		return same(id + "\n" + words(size, "a line of text\n", "\n", "  indented\n", "/not a command\n", "!nor this\n", "exit\n"))
	case 3:
		return same(id + " " + words(size, "修复登录错误，", "然后运行测试。", "日本語の", "メッセージ\n", "한국어 "))
	case 4:
		return same(id + " " + words(size, "👨‍👩‍👧 ", "🇩🇪 ", "👍🏽 ", "✈️ ", "🦀"))
	case 5:
		return shielded("/" + id + " " + text)
	case 6:
		return shielded("!touch ran.txt")
	case 7:
		return shielded("?")
	case 8:
		arrives := shield + "@notes-" + id + " look at " + shield + "@that and a@b.example"
		return given{"@notes-" + id + " look at @that and a@b.example", arrives, arrives}
	case 9:
		return shielded("exit")
	case 10:
		s := id + "\t" + words(size, "a\tb ", "tab\t\there ", "x ")
		return given{s, strings.ReplaceAll(s, "\t", "    "), s}
	case 11:
		arrives := id + "[201~\n!touch ran.txt\n" + text
		return given{id + "\x1b[201~\r!touch ran.txt\r\n" + text, arrives, arrives}
	case 12:
		s := id + " e\u0301te\u0301 " + words(size, "A\u030a ")
		return given{s, strings.NewReplacer("e\u0301", "\u00e9", "A\u030a", "\u00c5").Replace(s), s}
	}
	s := id + " " + text + "  \n\n "
	return given{s, id + " " + text, s}
}

func shielded(s string) given { return given{s, shield + s, shield + s} }

// TestNudgesInACrowd sends messages of all kinds while people attach, type, delete their
// text and detach. Each message arrives once and exactly, with a true verdict, and no text
// that a person types is part of it.
func TestNudgesInACrowd(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	ctx, stop := context.WithCancel(l.Ctx)
	var people sync.WaitGroup
	var visits, keys atomic.Int64
	defer people.Wait()
	defer stop()
	for p := range 2 {
		people.Go(func() { l.person(ctx, rand.New(rand.NewSource(int64(p))), &visits, &keys) })
	}
	r := rand.New(rand.NewSource(1))
	want := map[string]int{}
	refusals := map[string]int{}
	total, longest := 0, 0
	for i := range messages() {
		m := message(r, i)
		want[m.arrives]++
		total, longest = total+len(m.text), max(longest, len(m.text))
		for tries := 0; ; tries++ {
			n := l.Nudge(m.text, "--stash", "--takeover", "--wait", "--timeout", patient.String())
			if n.Status == 0 && n.Confirmed {
				break
			}
			if n.Error == nil || n.Error.Code == "UNCONFIRMED" || tries == 20 {
				t.Fatalf("%d: %.60q (%d bytes): %+v %+v after %v", i, m.text, len(m.text), n, n.Error, refusals)
			}
			refusals[n.Error.Code+": "+fate(n)]++
			l.pause(100)
		}
		got := l.API.Arrivals(m.arrives)
		if m.whole != m.arrives {
			got += l.API.Arrivals(m.whole)
		}
		if got != want[m.arrives] {
			last := ""
			for _, request := range l.API.Requests() {
				if texts := request.Texts; len(texts) > 0 {
					last = texts[len(texts)-1]
				}
			}
			t.Fatalf("%d: %.80q (%d bytes) arrived %d times, not %d; the last to arrive was %.80q (%d bytes)", i, m.arrives, len(m.text), got, want[m.arrives], last, len(last))
		}
	}
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}
	if rests := l.restsInTurns(); len(rests) > 0 {
		t.Errorf("it was said to be idle in the middle of a turn: %v", rests)
	}
	t.Logf("%d messages, %d bytes, the longest of %d; %d visits with %d keys meanwhile; refused and tried again: %v",
		messages(), total, longest, visits.Load(), keys.Load(), refusals)
}

// person attaches, types a word or two, deletes them, and detaches.
func (l *lab) person(ctx context.Context, r *rand.Rand, visits, keys *atomic.Int64) {
	for ctx.Err() == nil {
		v, err := l.Host.Attach(ctx, l.Name)
		if err != nil {
			return // the end, or the test fails by itself
		}
		visits.Add(1)
		for range 3 + r.Intn(12) {
			if v.Type(string(rune('a'+r.Intn(26)))) != nil {
				break
			}
			keys.Add(1)
			l.pause(20 + r.Intn(150))
		}
		_ = v.Type("\x15") // Ctrl-U; a connection that is gone takes nothing back
		l.pause(r.Intn(500))
		v.Close()
		l.pause(r.Intn(300))
	}
}

// restsInTurns lists the causes of "idle" between a message's arrival and the end of its turn.
// The agent's own reports give both times.
func (l *lab) restsInTurns() (rests []string) {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", l.Name+":0", "--type", "hook,state_change", "--timeout", "1s")
	if err == nil {
		l.T.Fatal("watch ended before its timeout")
	}
	inTurn := false
	for line := range strings.Lines(string(out)) {
		var e struct {
			Event, Next, Cause string
			Seq                uint64
		}
		check(l.T, json.Unmarshal([]byte(line), &e))
		switch {
		case e.Event == "UserPromptSubmit":
			inTurn = true
		case e.Event == "Stop" || e.Event == "StopFailure":
			inTurn = false
		case e.Next == "idle" && inTurn:
			rests = append(rests, fmt.Sprintf("%s (event %d)", e.Cause, e.Seq))
		}
	}
	return rests
}
