//go:build agents

package claude

import (
	"berth/test/agents/testbed"
	"strings"
	"testing"
)

// TestStash sends messages while a person's draft is in the composer. Each message arrives
// exactly, and the draft is there afterwards without changes: the test sends it to show
// that.
func TestStash(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	lines := strings.TrimSpace(strings.Repeat("a line of text\n", 8))
	for i, c := range []struct{ draft, shows, arrives, message string }{
		{"my draft", "my draft", "", "one line"},
		{"日本語の下書き 👍🏽", "日本語の下書き", "", "two\nlines"},
		{"\x1b[200~" + lines + "\x1b[201~", `\[Pasted text #\d+ \+7 lines\]`, lines, "a\nb\nc\nd\ne\nf"},
		{"\x1b[200~one\ntwo\nthree\x1b[201~", "one", "one\ntwo\nthree", strings.TrimSpace(strings.Repeat("a line of a long message, with words in it\n", 200))},
		{"the message itself", "the message itself", "", "the message itself"},
		{strings.Repeat("a long draft that wraps ", 12) + "end", "end$", "", "!touch ran.txt"},
		{"with a blank at its end ", "with a blank", "with a blank at its end", "exit"},
		{"/he", "/he", "", "with a menu open"},
	} {
		check(t, l.Type(l.Ctx, c.draft))
		l.See(c.shows)
		n := l.Nudge(c.message, "--stash", "--wait", "--timeout", patient.String())
		if n.Status != 0 || !n.Confirmed || n.Evidence != "hook:UserPromptSubmit" {
			t.Fatalf("%d: %+v %+v", i, n, n.Error)
		}
		arrives := c.message
		if strings.HasPrefix(arrives, "!") || arrives == "exit" {
			arrives = shield + arrives
		}
		l.once(arrives)
		l.See(c.shows)
		if c.draft == "/he" {
			l.key("Ctrl-u")
			l.ready()
			continue
		}
		l.key("Enter")
		if c.arrives == "" {
			c.arrives = c.draft
		}
		want := 1
		if c.draft == c.message {
			want = 2
		}
		if c.arrives == lines && newer(330) {
			l.pasted(lines)
		} else {
			l.arrived(c.arrives, want)
		}
		l.Is("idle")
		if t.Failed() {
			return
		}
	}
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}

	// Berth doesn't stash a draft that stashing would lose or run. It refuses the message.
	for _, draft := range []string{"!ls", "see @no"} {
		check(t, l.Type(l.Ctx, draft[:1]))
		check(t, l.Type(l.Ctx, draft[1:]))
		l.See(draft[1:])
		if n := l.Nudge("not now", "--stash"); n.Status != 5 || n.Error.Code != "DRAFT_PRESENT" {
			t.Fatalf("%s: %+v %+v", draft, n, n.Error)
		}
		l.See(draft[1:])
		l.key("Ctrl-u")
		if draft[0] == '!' {
			l.See("^!\u00a0? *$")
			l.key("Backspace") // leaves the shell's mode
		}
		l.ready()
	}
	check(t, l.Type(l.Ctx, "first"))
	l.See("first")
	l.key("Ctrl-s")
	l.See("› stashed|draft stashed")
	check(t, l.Type(l.Ctx, "second"))
	l.See("second")
	if n := l.Nudge("not now", "--stash"); n.Status != 5 || n.Error.Code != "DRAFT_PRESENT" {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	l.See("second", "› stashed|draft stashed")
	if l.API.Arrivals("not now") != 0 {
		t.Error("a refused message arrived")
	}
}

// TestStashWhileSomebodyTypes: keys that a person types during the delivery arrive after
// the message, each key once and in its order.
func TestStashWhileSomebodyTypes(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	l.Confirmed("it reads its keys", "it reads its keys") // keys that are typed while it starts arrive after a paste
	v, err := l.Host.Attach(l.Ctx, l.Name)
	check(t, err)
	defer v.Close()
	for i := range 5 {
		message := "message " + string(rune('a'+i))
		draft := ""
		done := make(chan testbed.Nudged, 1)
		for k := range 120 {
			if k == 20 {
				go func() { done <- l.Nudge(message, "--stash", "--takeover") }()
			}
			key := string(rune('a' + (k+5*i)%26)) // no draft like the one before
			draft += key
			check(t, v.Type(key))
			l.pause(15)
		}
		n := <-done
		if n.Status != 0 || !n.Confirmed {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		l.arrived(message, 1)
		l.Is("idle")
		_, err := l.Until(l.Ctx, patient, "does not show the whole draft", func(screen string) bool {
			return strings.Contains(strings.Join(strings.Fields(screen), ""), draft)
		})
		check(t, err)
		check(t, v.Type("\r")) // who writes
		l.arrived(draft, 1)
		l.Is("idle")
	}
}
