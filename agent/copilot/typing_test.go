package copilot_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/copilot"
)

const shield = "\u2060"

// TestMessage: no message is a command, a key or a file.
func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		"1":                 "1",
		"fix the bug":       "fix the bug",
		"!touch x":          shield + "!touch x",
		" /clear":           shield + " /clear",
		"exit":              shield + "exit",
		"exit now":          "exit now",
		"?":                 shield + "?",
		"mail a@b.example":  "mail a@" + shield + "b.example ",
		"read @a and @. so": "read @" + shield + "a and @" + shield + ". so",
		"fix #12":           "fix #12 ",
		"a \x1b[201~ b\r!c": "a [201~ b\n!c",
		" \n ":              "",
	} {
		if got := (copilot.Driver{}).Message(text); got != want {
			t.Errorf("%q is typed as %q", text, got)
		}
	}
	if _, ok := (copilot.Driver{}).Paste("two\nlines", false); ok {
		t.Error("without a paste a line feed would send the first line")
	}
}

// TestHolds: the composer shows the text, its end, or the mark of a paste of that many lines.
func TestHolds(t *testing.T) {
	lines := strings.TrimSpace(strings.Repeat("a line\n", 40))
	for _, c := range []struct {
		typed string
		box   agent.Composer
		want  bool
	}{
		{"hello", agent.Composer{Mode: agent.ModeMessage, Text: "hello"}, true},
		{"hello", agent.Composer{Mode: agent.ModeShell, Text: "hello"}, false},
		{"hello", agent.Composer{Mode: agent.ModeMessage, Text: "hello you"}, false},
		{lines, agent.Composer{Mode: agent.ModeMessage, Text: "[Paste #3 - 40 lines]"}, true},
		{lines, agent.Composer{Mode: agent.ModeMessage, Text: "[Paste #3 - 41 lines]"}, false},
		{lines, agent.Composer{Mode: agent.ModeMessage, Text: strings.TrimSpace(strings.Repeat("a line\n", 10)), Above: true}, true},
		{"hello", agent.Composer{Mode: agent.ModeMessage, Empty: true}, false},
	} {
		if got := (copilot.Driver{}).Holds(c.typed, &c.box); got != c.want {
			t.Errorf("%.20q in %+v: %v", c.typed, c.box, got)
		}
	}
}

// shown reads rows as a screen of 80 columns.
func shown(rows ...string) *agent.Reading {
	v := &agent.View{Cols: 80, Rows: len(rows) + 2, Lines: make([]agent.Row, 2)}
	for _, row := range rows {
		v.Lines = append(v.Lines, agent.Row{Text: row})
	}
	return copilot.Driver{}.Screen(v)
}

// command is the dialog of a command, with these options.
func command(options ...string) []string {
	side := func(text string) string {
		return "│" + text + strings.Repeat(" ", max(0, 78-len([]rune(text)))) + "│"
	}
	rows := []string{"╭" + strings.Repeat("─", 78) + "╮", side(" Run it"), side(" " + strings.Repeat("─", 76))}
	rows = append(rows, side(" ╭"+strings.Repeat("─", 74)+"╮"), side(" │ touch one.txt"+strings.Repeat(" ", 60)+"│"), side(" ╰"+strings.Repeat("─", 74)+"╯"))
	rows = append(rows, side(""), side(" Do you want to run this command?"), side(""))
	for _, o := range options {
		rows = append(rows, side(o))
	}
	return append(rows, side(""), side(" ↑/↓ to navigate · enter to select · esc to cancel"), "╰"+strings.Repeat("─", 78)+"╯")
}

// TestKeys: each key of an answer is pressed only when the screen shows that very dialog, and the effect of
// the key before.
func TestKeys(t *testing.T) {
	const yes, always, no = "1. Yes", "2. Yes, and don't ask again for `touch`", "3. No, and tell Copilot what to do differently (Esc to stop)"
	fresh := shown(command(" ❯ "+yes, "   "+always, "   "+no)...)
	chosen := shown(command("   "+yes, "   "+always, " ❯ "+no)...)
	typed := shown(command("   "+yes, "   "+always, " ❯ 3. use make (Esc to stop)")...)
	other := shown(slices.Replace(command(" ❯ "+yes, "   "+always, "   "+no), 4, 5, "│ │ touch two.txt"+strings.Repeat(" ", 60)+"│ │")...)
	d := fresh.Dialog
	if d == nil || d.Tool != "bash" || len(d.Options) != 3 || d.Question != "Run it" || d.Asked != "touch one.txt" || typed.Dialog == nil || typed.Dialog.Input != "use make" {
		t.Fatalf("read as %+v and %+v", d, typed.Dialog)
	}
	p := copilot.Driver{}.FromDialog(d)
	for _, c := range []struct {
		answer agent.Answer
		keys   string
		ready  []*agent.Reading // before each key
	}{
		{agent.Answer{Kind: agent.Accept}, "1", []*agent.Reading{fresh}},
		{agent.Answer{Kind: agent.ChooseOption, Option: 2}, "2", []*agent.Reading{fresh}},
		{agent.Answer{Kind: agent.ChooseOption, Option: 3}, "Escape", []*agent.Reading{fresh}},
		{agent.Answer{Kind: agent.Deny}, "Escape", []*agent.Reading{fresh}},
		{agent.Answer{Kind: agent.Deny, Text: "use\nmake"}, "3 +use make Enter", []*agent.Reading{fresh, chosen, typed}},
	} {
		k, err := copilot.Driver{}.Keys(p, c.answer, d)
		var keys []string
		for i, s := range k.Steps {
			if s.Paste != "" {
				s.Key = "+" + s.Paste
			}
			keys = append(keys, s.Key)
			for _, r := range []*agent.Reading{other, {}, typed, chosen} {
				if i < len(c.ready) && s.Ready(r) != (r == c.ready[i]) && !(r == chosen && c.ready[i] == fresh) {
					t.Errorf("%+v: key %d is pressed at another screen", c.answer, i)
				}
			}
			if i < len(c.ready) && !s.Ready(c.ready[i]) {
				t.Errorf("%+v: key %d is not pressed", c.answer, i)
			}
		}
		if got := strings.Join(keys, " "); err != nil || got != c.keys {
			t.Errorf("%+v: %s %v", c.answer, got, err)
		}
	}
}

// TestNoPlainYes: accept presses no key at a dialog whose first option allows more than the one call, or
// something else. Its number does.
func TestNoPlainYes(t *testing.T) {
	for _, first := range []string{"Yes, and always allow it", "Enable all permissions", "No"} {
		d := shown(command(" ❯ 1. "+first, "   2. Yes", "   3. No")...).Dialog
		p := copilot.Driver{}.FromDialog(d)
		if k, err := (copilot.Driver{}).Keys(p, agent.Answer{Kind: agent.Accept}, d); !errors.Is(err, agent.ErrCannot) || !strings.Contains(err.Error(), "by its number") {
			t.Errorf("%s: %+v %v", first, k, err)
		}
		k, err := copilot.Driver{}.Keys(p, agent.Answer{Kind: agent.ChooseOption, Option: 1}, d)
		if err != nil || len(k.Steps) != 1 || k.Steps[0].Key != "1" || k.Outcome != agent.OutcomeAnswered {
			t.Errorf("%s, by its number: %+v %v", first, k, err)
		}
	}
}

// TestNextLooksTheSame: after a person's key a dialog that shows no whole command may be the next one.
func TestNextLooksTheSame(t *testing.T) {
	const asks = " Do you want to run this command?"
	for question, alike := range map[string]bool{asks: false, " Do you want to create /srv/a.txt?": true, " Do you want to use this tool?": true} {
		rows := command(" ❯ 1. Yes", "   2. No")
		for i, row := range rows {
			rows[i] = strings.Replace(row, asks, question, 1)
		}
		if d := shown(rows...).Dialog; d == nil || d.Alike != alike || (copilot.Driver{}).FromDialog(d).Alike != alike {
			t.Errorf("%s: %+v", question, d)
		}
	}
}

// TestTopless: a box whose question has no room names no tool, and its command is not whole. The last one begins with
// its options.
func TestTopless(t *testing.T) {
	all := command(" ❯ 1. Yes", "   2. No, and tell Copilot what to do differently (Esc to stop)")
	for from := 1; from < 10; from++ {
		d := shown(all[from:]...).Dialog
		if d == nil || !d.Cut || from > 7 && d.Tool != "" {
			t.Errorf("from row %d: %+v", from, d)
		}
	}
}

// TestBrokenRow: a text that is wider than Copilot reckons goes on in the first column of the next row, where it can
// draw the side of a box and hide what is above. Such a dialog is cut.
func TestBrokenRow(t *testing.T) {
	rows := command(" ❯ 1. Yes", "   2. No, and tell Copilot what to do differently (Esc to stop)")
	for _, broken := range []int{-1, 0, 2, len(rows) - 1} {
		v := &agent.View{Cols: 80, Rows: len(rows) + 4, Lines: make([]agent.Row, 4)}
		for i, row := range rows {
			v.Lines = append(v.Lines, agent.Row{Text: row, Wrapped: i == broken})
		}
		if d := (copilot.Driver{}).Screen(v).Dialog; d == nil || d.Cut != (broken >= 0) {
			t.Errorf("row %d: %+v", broken, d)
		}
	}
	rows[4] = "│ │ touch one.txt" + strings.Repeat("x", 62) + " │" // its side has no room
	if d := shown(rows...).Dialog; d == nil || d.Cut {
		t.Errorf("with its side: %+v", d)
	}
	rows[4] = "│ │ touch one.txt" + strings.Repeat("x", 63)
	if d := shown(rows...).Dialog; d == nil || !d.Cut {
		t.Errorf("without its side: %+v", d)
	}
}

// TestTwoMarks: a label of several lines may draw the mark of the chosen option. Berth chooses none then.
func TestTwoMarks(t *testing.T) {
	rule := strings.Repeat("─", 80)
	for _, mark := range []string{"   ", " ❯ "} {
		d := shown(rule, " Copilot needs information.", " Which?", "", " Files:", " ❯ Keep", mark+"Keep all", "   Remove all", "   Other (type your answer)", "",
			" ↑/↓ select · enter accept · ctrl+d decline · esc cancel", rule).Dialog
		if d == nil || (d.Type == agent.PromptQuestion) != (mark == "   ") {
			t.Errorf("%q: %+v", mark, d)
		}
	}
}

// TestResized: the folder of an option is wrapped anywhere, and the option stays the same.
func TestResized(t *testing.T) {
	wide := shown(command(" ❯ 1. Yes", "   2. Yes, and don't ask again for `touch` in this directory (/srv/lab/ws)", "   3. No")...).Dialog
	narrow := shown(command(" ❯ 1. Yes", "   2. Yes, and don't ask again for `touch` in this", "   directory (/srv/", "   lab/ws)", "   3. No")...).Dialog
	if wide == nil || narrow == nil || !slices.Equal(wide.Labels(), narrow.Labels()) || !strings.HasSuffix(narrow.Options[1].Label, " in this directory (/srv/lab/ws)") {
		t.Errorf("%+v\n%+v", wide, narrow)
	}
}
