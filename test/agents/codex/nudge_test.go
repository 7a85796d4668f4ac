//go:build agents

package codex

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// nudged is what nudge answers, and the status it ends with.
type nudged struct {
	Delivered, Confirmed bool
	Nudge, Evidence      string
	ArrivedAs            string  `json:"arrived_as"`
	StateBefore          string  `json:"state_before"`
	State                *string `json:"state"`
	LastMessage          *string `json:"last_message"`
	Error                *struct {
		Code, Message string
		Details       map[string]any
	}
	status int
}

// give gives a message over standard input, so that no shell and no word
// splitting is between.
func (l *lab) give(text string, flags ...string) nudged {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, []byte(text), append(append([]string{"nudge"}, flags...), name, "-")...)
	var n nudged
	var failure *host.Failure
	switch {
	case errors.As(err, &failure):
		n.status = failure.Status
	case err != nil:
		l.T.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		check(l.T, json.Unmarshal([]byte(line), &n))
	}
	return n
}

// confirmed gives a message and demands that it is confirmed, and that the model
// has it once, as it is typed.
func (l *lab) confirmed(text, arrives string) {
	l.T.Helper()
	n := l.give(text, "--wait", "--timeout", patient.String())
	if n.status != 0 || !n.Confirmed || n.Evidence != "hook:UserPromptSubmit" && !strings.HasPrefix(n.Evidence, "log:") {
		l.T.Fatalf("%.60q (%d bytes): %+v %+v", text, len(text), n, n.Error)
	}
	if as := testbed.ArrivedAs(text, arrives); n.ArrivedAs != as {
		l.T.Errorf("%.60q arrived as %q, and is told as %s", text, arrives, n.ArrivedAs)
	}
	if got := l.API.Arrivals(arrives); got != 1 {
		last := ""
		for _, r := range l.API.Requests() {
			if len(r.Texts) > 0 && r.Kind == "turn" {
				last = r.Texts[len(r.Texts)-1]
			}
		}
		l.T.Errorf("%.60q (%d bytes) arrived %d times; the last to arrive was %.80q", text, len(text), got, last)
	}
}

// TestNudges gives messages of all kinds. Each arrives once, exactly, and with a
// true verdict.
func TestNudges(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	check(t, os.WriteFile(filepath.Join(l.home.Workspace, "notes.txt"), []byte("secret notes\n"), 0o600))
	for _, c := range [][2]string{
		{"fix the login bug", ""},
		{"x", ""},
		{"!touch ran.txt", ""},
		{"!touch ran.txt # " + strings.Repeat("0123456789 ", 130) + "end", ""},
		{"/status", ""},
		{" /new", "/new"},
		{"/nosuch", ""},
		{"/nosuch " + strings.Repeat("x", 992), ""},
		{"!touch ran.txt # " + strings.Repeat("漢", 983), " !touch ran.txt # " + strings.Repeat("漢", 983)}, // the one case whose added blank arrives
		{"/nosuch " + strings.Repeat("x", 993), ""},
		{strings.Repeat("x ", 497) + "@notes", ""},
		{"/nosuch " + strings.Repeat("0123456789 ", 130) + "end", ""},
		{"exit", ""},
		{"quit", ""},
		{"?", ""},
		{"@notes.txt", ""},
		{"read @notes.txt now", ""},
		{"read @notes.txt", ""},
		{"first\n@notes.txt", ""},
		{"见\u3000@notes.txt", ""},
		{"say @", ""},
		{"/review @notes.txt", ""},
		{strings.Repeat("0123456789 ", 130) + "@notes.txt", ""},
		{"use $skill now", ""},
		{"echo $HOME", ""},
		{"$PATH is what it is, and so is $", ""},
		{"for f in $files; do\n\techo $f $1 $@\ndone\n$x", ""},
		{"$", ""},
		{"mail a@b.example", ""},
		{"two\nlines", ""},
		{"three\n\nlines", ""},
		{"first\n/second\n!third\nexit", ""},
		{"tab\there", ""},
		{"trailing blanks  \n\n", "trailing blanks"},
		{"an ESC \x1b[201~\r!touch ran.txt", "an ESC [201~\n!touch ran.txt"},
		{"修复登录错误，然后运行测试。", ""},
		{"日本語のメッセージ\nと二行目", ""},
		{"emoji 👨‍👩‍👧 🇩🇪 👍🏽 done", ""},
		{"don't \"quote\" `x` \\ * ~", ""},
		{strings.Repeat("word ", 60) + "end", ""},
		{strings.Repeat("漢", 300), ""},
		{strings.TrimSpace(strings.Repeat("a line of text\n", 40)), ""},
		{strings.Repeat("0123456789", 100), ""},
		{strings.Repeat("0123456789", 1000), ""},
		{strings.TrimSpace(strings.Repeat("a line of a long message, with words in it\n", 240)), ""},
	} {
		arrives := c[1]
		if arrives == "" {
			arrives = c[0]
		}
		l.confirmed(c[0], arrives)
		if t.Failed() {
			return
		}
	}
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}
	for _, r := range l.API.Requests() {
		if strings.Contains(string(r.Body), "secret notes") {
			t.Fatal("a file was attached")
		}
	}
}

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

// TestNudgesOfAllSizes gives a hundred messages, more under a soak: each arrives
// once and exactly, with a true verdict.
func TestNudgesOfAllSizes(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	r := rand.New(rand.NewSource(1))
	n, total, longest := 20, 0, 0
	if host.Soak() > 1 {
		n = 100
	}
	for i := range n {
		text, arrives := message(r, i)
		total, longest = total+len(text), max(longest, len(text))
		if len(text) == 1 { // there are fewer of those than rounds
			text, arrives = string(rune('a'+i/10%26)), string(rune('a'+i/10%26))
		}
		l.confirmed(text, arrives)
		if t.Failed() {
			t.FailNow()
		}
	}
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}
	t.Logf("%d messages, %d bytes, the longest of %d", n, total, longest)
}

// TestNudgeRefusals keeps messages from an agent that is at work or asks, and
// drafts as they are.
func TestNudgeRefusals(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	refused := func(code string, status int, flags ...string) {
		t.Helper()
		n := l.give("not now", flags...)
		if n.status != status || n.Error == nil || n.Error.Code != code {
			t.Fatalf("%+v %+v, not %s", n, n.Error, code)
		}
	}
	check(t, l.Type(l.Ctx, "my draft"))
	l.See("› my draft")
	refused("DRAFT_PRESENT", 5)
	l.See("› my draft$")
	if n := l.give("MOCK: slow 20 100", "--clear"); n.status != 0 || !n.Confirmed {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.Asked("MOCK: slow 20 100", 0)
	refused("AGENT_BUSY", 5)
	l.await("idle")

	l.asks("MOCK: bash touch one.txt")
	refused("AGENT_BUSY", 5)
	l.respond("hook", "denied", "deny")
	l.await("idle")
	if l.Made("one.txt") || l.API.Arrivals("not now") != 0 {
		t.Error("a refused message was delivered, or answered the prompt")
	}

	if n := l.give("MOCK: error 403", "--wait", "--timeout", patient.String()); n.status != 21 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if out := string(l.call("ask", name, "MOCK: text better now")); out != "better now\n" {
		t.Errorf("ask gave %q", out)
	}
	if n := l.give("/compact", "--command"); n.status != 0 || !n.Confirmed {
		t.Errorf("%+v %+v", n, n.Error)
	}
	l.await("idle")
}

// TestInterrupt ends a turn, and presses nothing at rest: there Ctrl-C would end
// Codex.
func TestInterrupt(t *testing.T) {
	l := newLab(t, Ready())
	l.await("idle")
	interrupt := func() (done struct {
		Delivered, Confirmed bool
		State                string
	}) {
		t.Helper()
		check(t, json.Unmarshal(l.call("interrupt", name), &done))
		return done
	}
	if done := interrupt(); done.Delivered || done.State != "idle" {
		t.Errorf("at rest: %+v", done)
	}
	for i, work := range []string{"MOCK: slow 50 200", "MOCK: hang", "MOCK: run sleep 20", "MOCK: ponder"} {
		if n := l.give(work); n.status != 0 {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		l.Asked(work, 0)
		l.await("working")
		if work == "MOCK: run sleep 20" {
			l.See("sleep 20")
		}
		if done := interrupt(); !done.Delivered || !done.Confirmed || done.State != "idle" {
			t.Errorf("%s: %+v", work, done)
		}
		l.See("Conversation interrupted")
		after := fmt.Sprintf("and on %d", i)
		l.confirmed(after, after)
	}
}

// TestNudgeAroundADialog gives a message at each of many moments around the one
// at which a command's permission is asked: none of them answers it.
func TestNudgeAroundADialog(t *testing.T) {
	for _, way := range []string{"hook", "dialog"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t, Ready())
			l.await("idle")
			if way == "dialog" { // so that the dialog comes, by itself
				l.attach()
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
				l.nudge(fmt.Sprintf("MOCK: later 1000 mkdir %s", file))
				pause := time.NewTimer(offset)
				<-pause.C
				r := l.give(fmt.Sprintf("message %03d", i), "--takeover")
				switch {
				case r.status == 0 && r.Confirmed:
					results["delivered"]++
				case r.Error == nil:
					t.Fatalf("%d: %+v", i, r)
				default:
					results[r.Error.Code]++
				}
				s := l.await("prompt")
				if l.Made(file) || s.Prompt == nil {
					t.Fatalf("at %v: the prompt was answered by a message: %+v %+v", offset, r, s)
				}
				l.call("respond", name, "--takeover", "deny")
				l.await("idle")
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
	l.await("idle")
	l.planMode()
	n := 8
	if host.Soak() > 1 {
		n = 200
	}
	results := map[string]int{}
	for i := range n {
		offset := 200*time.Millisecond + time.Duration(i)*2*time.Second/time.Duration(n)
		l.nudge(fmt.Sprintf("MOCK: plan 500 %03d", i))
		pause := time.NewTimer(offset)
		<-pause.C
		message := fmt.Sprintf("message %03d", i)
		r := l.give(message)
		switch {
		case r.status == 0 && r.Confirmed:
			results["delivered"]++
		case r.Error == nil:
			t.Fatalf("%d: %+v", i, r)
		default:
			results[r.Error.Code]++
		}
		if r.status == 0 { // before the plan: it is of the same turn, or was queued behind it
			l.API.Wait(l.Ctx, func(q modelapi.Request) bool { return slices.Contains(q.Texts, message) })
		}
		if s := l.await("prompt,idle"); s.Prompt != nil {
			l.respond("keys", "denied", "deny")
		}
		l.await("idle")
		if l.API.Arrivals("Implement the plan.") != 0 {
			t.Fatalf("at %v: a message accepted the plan: %+v", offset, r)
		}
		if out := string(l.call("screen", name, "--text")); !strings.Contains(out, "Plan mode (shift") {
			t.Fatalf("at %v: it is no longer in plan mode: %+v\n%s", offset, r, out)
		}
	}
	t.Logf("%d messages: %v", n, results)
}
