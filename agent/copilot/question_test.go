package copilot_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/copilot"
	"berth/detect"
)

// form is the screen of a question, with these rows about its field.
func form(field string) *agent.Reading {
	rule := strings.Repeat("─", 60)
	v := &agent.View{Cols: 60}
	screen := "\n\n\n" + rule + "\n Copilot needs information.\n Look at the list\n\n" + field + "\n ❯ Yes\n   No\n   Other (type your answer)\n\n" +
		" ↑/↓ select · enter accept · ctrl+d decline · esc cancel\n" + rule
	for line := range strings.SplitSeq(screen, "\n") {
		v.Lines = append(v.Lines, agent.Row{Text: line})
	}
	v.Rows = len(v.Lines)
	return copilot.Driver{}.Screen(v)
}

// TestFieldOfAQuestion: the model chooses the name of a question's field, and what is said about it. Both are shown,
// and two questions that differ in nothing else are two prompts.
func TestFieldOfAQuestion(t *testing.T) {
	for _, fields := range [][2]string{
		{" Keep it:", " Delete it:"},
		{" It is a long name, which a row has no room for, so keep\n it:", " It is a long name, which a row has no room for, so keep\n nothing of it:"},
		{" Go on:\n Keeps it", " Go on:\n Deletes it"},
	} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		fold := detect.New(copilot.Driver{}, detect.Options{Start: now})
		shown := func(field string) *agent.Request {
			now = now.Add(time.Second)
			fold.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: form(field), Time: now})
			now = now.Add(time.Second)
			fold.Tick(now)
			return fold.Status().Request
		}
		first := shown(fields[0])
		if first == nil || first.Type != agent.PromptQuestion || len(first.Options) != 2 {
			t.Fatalf("%q asks %+v", fields[0], first)
		}
		if want := strings.TrimSuffix(strings.Join(strings.Fields(fields[0]), " "), ":"); agent.Value(first.Title) != want {
			t.Errorf("%q is shown as %q", want, agent.Value(first.Title))
		}
		next := shown(fields[1])
		if next == nil || next.ID == first.ID || next.Digest == first.Digest {
			t.Errorf("%q, in place of %q, is the same prompt: %+v", fields[1], fields[0], next)
		}
		if fold.Asks(form(fields[1]).Dialog, first.ID) {
			t.Errorf("a key for %q goes to %q", fields[0], fields[1])
		}
		k, err := copilot.Driver{}.Keys(first, agent.Answer{Kind: agent.ChooseOption, Option: 1}, form(fields[0]).Dialog)
		if err != nil || k.Steps[0].Ready(form(fields[1])) {
			t.Errorf("%q is answered by the keys of %q: %v", fields[1], fields[0], err)
		}
	}
}
