package tui

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/render"
)

// The conversation view at a phone's size and on a screen: 10,000 messages, Japanese, and a text with
// escape sequences. It stays at its end, unfolds a tool's use, and finds a text in a folded one.
func TestConversationView(t *testing.T) {
	for _, size := range [][2]int{{40, 20}, {120, 36}} {
		w := world(at("alpha", agent.Idle, 1))
		w.May = Rights{"transcript": true, "screen": true}
		m := started(size[0], size[1], w)
		m.Press(Key{Name: "v"}, later)
		var c render.Conversation
		for i := range 10_000 {
			c.Add(agent.Entry{Kind: agent.EntryMessage, Text: fmt.Sprintf("message %d 日本語の文章は空白がないので、どこでも改行できます。\x1b[2J", i)})
		}
		m.SetConversation(m.talk.id, &c, "")
		m.AddEntries(m.talk.id, []agent.Entry{
			{Kind: agent.EntryCall, Call: "1", Tool: "Bash", Input: []byte(`{"command":"go test"}`)}, {Kind: agent.EntryResult, Call: "1", Text: "ok\nhidden needle"},
		})
		got := drawn(m)
		if n := len(m.talk.laid); n > size[1] {
			t.Errorf("%v: %d messages were laid out for the first picture", size, n)
		}
		if !strings.Contains(got, "message 9999 日本語") || !strings.Contains(got, "+ Bash") || strings.Contains(got, "needle") || strings.Contains(got, "\x1b") {
			t.Errorf("%v: the end is drawn as\n%s", size, got)
		}
		for _, k := range []string{"/", "n", "e", "e", "d", "l", "e", "enter"} {
			key := Key{Name: k}
			if len(k) == 1 {
				key.Text = k
			}
			m.Press(key, later)
		}
		if got := drawn(m); !strings.Contains(got, "hidden needle") {
			t.Errorf("%v: what was looked for isn't shown:\n%s", size, got)
		}
		m.Press(Key{Name: "g"}, later)
		if got := drawn(m); !strings.Contains(got, "message 0 ") {
			t.Errorf("%v: the start is drawn as\n%s", size, got)
		}
		m.Press(Key{Name: "q"}, later)
		if m.talk != nil {
			t.Errorf("q doesn't close the view")
		}
	}
}

// A person who may no longer see a conversation, or whose session is gone, sees no more of it.
func TestConversationNoLongerSeen(t *testing.T) {
	for what, lose := range map[string]func(*Model){
		"right":   func(m *Model) { m.SetWorld(World{Sessions: world(at("alpha", agent.Idle, 1)).Sessions}, later) },
		"session": func(m *Model) { m.SetWorld(World{May: Rights{"transcript": true}}, later) },
	} {
		w := world(at("alpha", agent.Idle, 1))
		w.May = Rights{"transcript": true}
		m := started(80, 24, w)
		m.Press(Key{Name: "v"}, later)
		var c render.Conversation
		c.Add(agent.Entry{Kind: agent.EntryMessage, Text: "a secret"})
		m.SetConversation(m.talk.id, &c, "")
		stopped := false
		d := dashboard{model: m, reads: m.talk.id, unread: func() { stopped = true }}
		if d.followTalk(); stopped {
			t.Errorf("%s: the view ends before it", what)
		}
		lose(m)
		if d.followTalk(); !stopped || !strings.Contains(drawn(m), "no longer yours to see") || strings.Contains(drawn(m), "secret") {
			t.Errorf("%s: ended %v:\n%s", what, stopped, drawn(m))
		}
		if m.Press(Key{Name: "esc"}, later); m.talk != nil {
			t.Errorf("%s: the view can't be left", what)
		}
	}
}
