//go:build agents

package codex

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
)

// message makes the i-th message: of 1 byte to 10 KB, of all kinds; arrives is
// what the model is to have.
func message(r *rand.Rand, i int) (text, arrives string) {
	id := fmt.Sprintf("%d-%04x", i, r.Intn(1<<16))
	size := []int{1, 20, 200, 1000, 3000, 10000}[r.Intn(6)]
	words := func(from ...string) string {
		var b strings.Builder
		for b.Len() < size {
			b.WriteString(from[r.Intn(len(from))])
		}
		return strings.TrimSpace(b.String())
	}
	plain := words("word ", "fix the bug ", "and then, ", "x ", "(see below) ", "100 % ", "don't ", "`code` ", "\"quoted\" ", "a/b/c ")
	same := func(s string) (string, string) { return s, s }
	switch i % 10 {
	case 0:
		return same(string(rune('a' + i/10%26))) // 1 byte
	case 1:
		return same(id + " " + plain)
	case 2:
		return same(strings.TrimSpace(id + "\n" + words("a line of text\n", "\n", "  indented\n", "/not a command\n", "!nor this\n", "exit\n")))
	case 3:
		return same(id + " " + words("修复登录错误，", "然后运行测试。", "日本語の", "メッセージ\n", "한국어 "))
	case 4:
		return same(id + " " + words("👨‍👩‍👧 ", "🇩🇪 ", "👍🏽 ", "✈️ ", "🦀"))
	case 5:
		return same("/" + id + " " + plain)
	case 6:
		return same("!touch ran.txt " + id)
	case 7:
		return same("@notes-" + id + " look at a@b.example and @notes")
	case 8:
		return same("$skill-" + id + " " + plain + " $HOME")
	}
	s := id + " " + plain
	return s + "  \n\n ", s
}

// messages is how many a test gives.
func messages() int {
	if host.Soak() > 1 {
		return 100
	}
	return 20
}

// TestNudgesOfAllSizes gives a hundred messages, more under a soak: each arrives
// once and exactly, with a true verdict.
func TestNudgesOfAllSizes(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	r := rand.New(rand.NewSource(1))
	n, total, longest := messages(), 0, 0
	for i := range n {
		text, arrives := message(r, i)
		total, longest = total+len(text), max(longest, len(text))
		if len(text) == 1 { // there are fewer of those than rounds
			text, arrives = string(rune('a'+i/10%26)), string(rune('a'+i/10%26))
		}
		l.Confirmed(text, arrives)
		if t.Failed() {
			t.FailNow()
		}
	}
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}
	t.Logf("%d messages, %d bytes, the longest of %d", n, total, longest)
}

// TestNudgeAroundADialog gives a message at each of many moments around the one
// at which a command's permission is asked: none of them answers it.
func TestNudgeAroundADialog(t *testing.T) {
	for _, way := range []string{"hook", "dialog"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			if way == "dialog" { // so that the dialog comes, by itself
				l.Attach()
			}
			n := 8
			if host.Soak() > 1 {
				n = 200
			}
			results := map[string]int{}
			for i := range n {
				// The model is asked, and answers with the call 1 s later: the message
				// comes within 2 s of that, in steps of 10 ms where all are made.
				offset := time.Duration(i) * 2 * time.Second / time.Duration(n)
				file := fmt.Sprintf("made-%03d", i)
				l.Takes(fmt.Sprintf("MOCK: later 1000 mkdir %s", file))
				pause := time.NewTimer(offset)
				<-pause.C
				r := l.Nudge(fmt.Sprintf("message %03d", i), "--takeover")
				switch {
				case r.Status == 0 && r.Confirmed:
					results["delivered"]++
				case r.Error == nil:
					t.Fatalf("%d: %+v", i, r)
				default:
					results[r.Error.Code]++
				}
				s := l.Is("prompt")
				if l.Made(file) || s.Prompt == nil {
					t.Fatalf("at %v: the prompt was answered by a message: %+v %+v", offset, r, s)
				}
				l.Call("respond", name, "--takeover", "deny")
				l.Is("idle")
				if l.Made(file) {
					t.Fatalf("at %v: refused, and made", offset)
				}
			}
			t.Logf("%d messages: %v", n, results)
		})
	}
}

// TestNudgeAroundAPlan gives a message at each of many moments around the end of
// a turn that made a plan. Codex says then that it is done, and asks nonetheless:
// an Enter would begin the work.
func TestNudgeAroundAPlan(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.planMode()
	n := 8
	if host.Soak() > 1 {
		n = 200
	}
	results := map[string]int{}
	for i := range n {
		offset := 200*time.Millisecond + time.Duration(i)*2*time.Second/time.Duration(n)
		l.Takes(fmt.Sprintf("MOCK: plan 500 %03d", i))
		pause := time.NewTimer(offset)
		<-pause.C
		message := fmt.Sprintf("message %03d", i)
		r := l.Nudge(message)
		switch {
		case r.Status == 0 && r.Confirmed:
			results["delivered"]++
		case r.Error == nil:
			t.Fatalf("%d: %+v", i, r)
		default:
			results[r.Error.Code]++
		}
		if r.Status == 0 { // before the plan: it is of the same turn, or was queued after it
			l.API.Wait(l.Ctx, func(q modelapi.Request) bool { return slices.Contains(q.Texts, message) })
		}
		if s := l.Is("prompt,idle"); s.Prompt != nil {
			l.Respond("keys", "denied", "deny")
		}
		l.Is("idle")
		if l.API.Arrivals("Implement the plan.") != 0 {
			t.Fatalf("at %v: a message accepted the plan: %+v", offset, r)
		}
		if out := string(l.Call("screen", name, "--text")); !strings.Contains(out, "Plan mode (shift") {
			t.Fatalf("at %v: it is no longer in plan mode: %+v\n%s", offset, r, out)
		}
	}
	t.Logf("%d messages: %v", n, results)
}
