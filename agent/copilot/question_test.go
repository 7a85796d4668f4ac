package copilot_test

import (
	"strconv"
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

// TestTextAboveACommand: what the model says about a command can draw a box. It isn't a part of the command. A warning is
// shown, and a dialog with one doesn't show all of a reported call.
func TestTextAboveACommand(t *testing.T) {
	for _, c := range []struct{ says, warning, text string }{
		{"Look around", "", "Look around"},
		{"│ : <<'EOF' │", "", "│ : <<'EOF' │"},
		{"── ls", "", "── ls"},
		{"Look around", "It can write", "Look around It can write"},
	} {
		const cols = 60
		side := func(text string) string {
			return "│" + text + strings.Repeat(" ", cols-2-len([]rune(text))) + "│"
		}
		rows := []string{"", "", "╭" + strings.Repeat("─", cols-2) + "╮", side(" " + c.says), side(" " + strings.Repeat("─", cols-4)), side("")}
		if c.warning != "" {
			rows = append(rows, side(" "+c.warning), side(""))
		}
		rows = append(rows, side(" ╭"+strings.Repeat("─", cols-6)+"╮"), side(" │ rm -rf x"+strings.Repeat(" ", cols-15)+"│"), side(" ╰"+strings.Repeat("─", cols-6)+"╯"), side(""),
			side(" Do you want to run this command?"), side(""), side(" ❯ 1. Yes"), side("   2. No, and tell Copilot what to do differently (Esc to stop)"[:cols-2]), side(""), side(" ↑/↓ to navigate · enter to select · esc to cancel"), "╰"+strings.Repeat("─", cols-2)+"╯")
		v := &agent.View{Cols: cols, Rows: len(rows)}
		for _, row := range rows {
			v.Lines = append(v.Lines, agent.Row{Text: row})
		}
		d := copilot.Driver{}.Screen(v).Dialog
		if d == nil || d.Tool != "bash" || d.Cut {
			t.Fatalf("%q is read as %+v\n%s", c.says, d, strings.Join(rows, "\n"))
		}
		if p := (copilot.Driver{}).FromDialog(d); agent.Value(p.Input) != "rm -rf x" || agent.Value(p.Text) != c.text {
			t.Errorf("%q is asked as %q, with the text %q", c.says, agent.Value(p.Input), agent.Value(p.Text))
		}
		facts, err := copilot.Driver{}.Log([]byte(`{"type":"permission.requested","data":{"permissionRequest":{"kind":"shell","toolCallId":"c","fullCommandText":"rm -rf x","intention":` + strconv.Quote(c.says) + `}}}`))
		if err != nil {
			t.Fatal(err)
		}
		want := agent.WholeMatch
		if c.warning != "" {
			want = agent.PartMatch
		}
		if got := (copilot.Driver{}).Match(d, facts[0].Request); got != want {
			t.Errorf("%q with the warning %q shows %v of its call, want %v", c.says, c.warning, got, want)
		}
	}
}
