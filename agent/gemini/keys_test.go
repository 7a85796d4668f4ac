package gemini_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
)

// press is the keys of an answer, in short.
func press(k agent.KeyAnswer) string {
	var out []string
	for _, s := range k.Steps {
		if s.Paste != "" {
			out = append(out, "<"+s.Paste+">")
			continue
		}
		out = append(out, s.Key)
	}
	return strings.Join(out, " ") + " " + k.Outcome
}

func TestKeys(t *testing.T) {
	ref := reference(t)
	exec, trust := at(t, ref, "02_approval_keys", 4), at(t, ref, "01_startup_trust_auth", 5.9)
	auth, key := at(t, ref, "01_startup_trust_auth", 11), at(t, ref, "01_startup_trust_auth", 14.4)
	one, several := at(t, ref, "04_ask_user_plan", 3.3), at(t, ref, "04_ask_user_plan", 6.5)
	multi, plan, quota := at(t, ref, "04_ask_user_plan", 13.2), at(t, ref, "04_ask_user_plan", 20.5), at(t, ref, "27_quota", 2.8)
	edit := draw(box("? WriteFile  Writing to w0.txt", "Apply this change?", "● 1. Allow once", "  2. Allow for this session",
		"  3. Modify with external editor", "  4. No, suggest changes (esc)")...)
	written := draw(box("Answer Questions", "", "What name?", "", "> a name", "", "Enter to submit · Esc to cancel")...)
	yesno := draw(box("Answer Questions", "", "Are you sure?", "", "● 1.  Yes", "  2.  No", "  3.  Enter a custom value", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...)
	begun := draw(box("Answer Questions", "", "Are you sure?", "", "  1.  Yes", "  2.  No", "● 3.  may", "", "Enter to submit · Esc to cancel")...)
	accept, deny := agent.Answer{Kind: agent.Accept}, agent.Answer{Kind: agent.Deny}
	why := agent.Answer{Kind: agent.Deny, Text: "no"}
	option := func(n int) agent.Answer { return agent.Answer{Kind: agent.ChooseOption, Option: n} }
	words := agent.Answer{Kind: agent.AnswerText, Text: "bob"}
	each := func(picks ...agent.QuestionPick) agent.Answer {
		return agent.Answer{Kind: agent.AnswerEach, Each: picks}
	}
	pick := func(n int) agent.QuestionPick { return agent.QuestionPick{Options: []int{n}} }
	for _, c := range []struct {
		name   string
		screen *agent.Reading
		answer agent.Answer
		want   string
		err    error
	}{
		{"a command", exec, accept, "1 accepted", nil},
		{"a command", exec, deny, "Escape denied", nil},
		{"a command", exec, option(3), "Escape denied", nil},
		{"a command", exec, why, "", agent.ErrCannot},
		{"a command", exec, option(2), "2 answered", nil},
		{"a command", exec, option(4), "", agent.ErrAnswer},
		{"a command", exec, words, "", agent.ErrAnswer},
		{"a change", edit, accept, "1 accepted", nil},
		{"a change", edit, deny, "Escape denied", nil},
		{"a change", edit, option(3), "", agent.ErrCannot},
		{"trust", trust, accept, "1 accepted", nil},
		{"trust", trust, deny, "3 denied", nil},
		{"trust", trust, option(2), "2 answered", nil},
		{"a login", auth, option(2), "2 answered", nil},
		{"a login", auth, accept, "", agent.ErrAnswer},
		{"a key", key, words, "", agent.ErrCannot},
		{"a key", key, deny, "Escape denied", nil},
		{"a question", one, option(2), "2 answered", nil},
		{"a question", one, each(pick(3)), "3 answered", nil},
		{"a question", one, words, "", agent.ErrCannot}, // no hook reported what is out of view
		{"yes or no", yesno, words, "3 <bob> Enter answered", nil},
		{"yes or no", yesno, each(agent.QuestionPick{Text: "1"}), "3 <1> Enter answered", nil},
		{"yes or no", yesno, each(agent.QuestionPick{Text: "1", Options: []int{1}}), "", agent.ErrAnswer},
		{"yes or no", yesno, option(3), "", agent.ErrAnswer},
		{"yes or no, begun", begun, option(1), "", agent.ErrCannot},
		{"a question", one, deny, "Escape denied", nil},
		{"a question", one, why, "", agent.ErrCannot},
		{"a question", one, option(4), "", agent.ErrAnswer},
		{"a question in words", written, words, "<bob> Enter answered", nil},
		{"a question in words", written, agent.Answer{Kind: agent.AnswerText, Text: "a\nb"}, "", agent.ErrAnswer},
		{"several", multi, option(1), "", agent.ErrCannot}, // no hook reported how many there are
		{"a plan", plan, accept, "2 accepted", nil},
		{"a plan", plan, option(1), "1 answered", nil},
		{"a plan", plan, option(3), "", agent.ErrAnswer},
		{"a plan", plan, deny, "Escape denied", nil},
		{"a plan", plan, why, "3 <no> Enter denied", nil},
		{"a plan", plan, words, "3 <bob> Enter denied", nil},
		{"a limit", quota, accept, "1 accepted", nil},
		{"a limit", quota, deny, "2 denied", nil},
		{"three questions", several, option(1), "", agent.ErrAnswer},
		{"three questions", several, each(pick(1)), "", agent.ErrAnswer},
	} {
		if c.screen.Dialog == nil {
			t.Fatalf("%s: no dialog", c.name)
		}
		p := gemini.Driver{}.FromDialog(c.screen.Dialog)
		k, err := gemini.Driver{}.Keys(p, c.answer, c.screen.Dialog)
		got := ""
		if err == nil {
			got = press(k)
		}
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s, %s %d %q: %q (%v), want %q (%v)", c.name, c.answer.Kind, c.answer.Option, c.answer.Text, got, err, c.want, c.err)
		}
		for _, s := range k.Steps {
			if s.Ready == nil || s.Wants == "" || s.Pause <= 0 {
				t.Errorf("%s: a key without a check: %+v", c.name, s)
			}
		}
		told := map[string]bool{"trust": true, "a login": true, "a key": true, "a limit": true}
		if err == nil && (k.Steps[0].ShownFor < 300*time.Millisecond || k.Steps[0].LevelSuffices == told[c.name]) {
			t.Errorf("%s: its first key is pressed %+v", c.name, k.Steps[0])
		}
		if err == nil && !k.Steps[0].Ready(c.screen) {
			t.Errorf("%s: the first key waits for another screen than the one it is for", c.name)
		}
		if err == nil && (k.Steps[0].Ready(draw("", ruled, upper, hinted, lower, foot)) || k.Steps[0].Ready(draw(box("? Shell  other", "Allow execution of [Shell]?", "● 1. Allow once", "  2. No, suggest changes (esc)")...))) {
			t.Errorf("%s: the first key is pressed at another screen", c.name)
		}
	}
	if _, err := (gemini.Driver{}).Keys(&agent.Request{Type: agent.PromptPermission}, accept, nil); !errors.Is(err, agent.ErrNotReady) {
		t.Errorf("without a dialog: %v", err)
	}
	if _, err := (gemini.Driver{}).Verdict(nil, accept, nil); !errors.Is(err, agent.ErrOnlyByKeys) {
		t.Errorf("by hook: %v", err)
	}
}

// TestPages answers three questions as they were answered in the recording:
// each key waits for the screen that was there, and for no other.
func TestPages(t *testing.T) {
	ref := reference(t)
	const name = "04_ask_user_plan"
	first := at(t, ref, name, 6.5)
	p := promptAt(t, ref.Recording(t, name), 6.5, false)
	k, err := gemini.Driver{}.Keys(p, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{
		{Options: []int{1}}, {Options: []int{1}}, {Text: "bob"},
	}}, first.Dialog)
	if err != nil || press(k) != "1 1 <bob> Enter Enter answered" {
		t.Fatalf("%s, %v", press(k), err)
	}
	moments := []float64{6.5, 7.3, 8.2, 8.5, 9.5}
	for i, step := range k.Steps {
		if step.ShownFor < 300*time.Millisecond {
			t.Errorf("key %d is pressed on a page that has been shown for %v", i, step.ShownFor)
		}
		for j, moment := range moments {
			ready := step.Ready(at(t, ref, name, moment))
			// The line that takes the words is the same before and after them.
			if want := i == j || i == 2 && j == 3; ready != want {
				t.Errorf("key %d at %v: %v, want %v", i, moment, ready, want)
			}
		}
	}
	k, err = gemini.Driver{}.Keys(p, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{
		{Options: []int{3}}, {Options: []int{2}}, {Text: "bob"},
	}}, first.Dialog)
	if err != nil || press(k) != "3 2 <bob> Enter Enter answered" || k.Steps[1].Ready(first) {
		t.Errorf("%s, %v", press(k), err)
	}
	k, err = gemini.Driver{}.Keys(p, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{
		{Text: "red"}, {Text: "who knows"}, {Text: "bob"},
	}}, first.Dialog)
	if err != nil || press(k) != "Down Down Down Up 4 <red> Enter 3 <who knows> Enter <bob> Enter Enter answered" {
		t.Errorf("%s, %v", press(k), err)
	}
	// After a free answer the next page has the foot of the page before.
	if next := draw(box("Answer Questions", "", "← ✓ Colour │ □ Sure │ □ Name │ ≡ Review →", "", "Are you sure?", "", "● 1.  Yes", "  2.  No", "  3.  Enter a custom value", "",
		"Enter to submit · Tab/Shift+Tab to switch")...); !k.Steps[7].Ready(next) || k.Steps[8].Ready(next) {
		t.Error("the page after a free answer is not answered")
	}
	for name, picks := range map[string][]agent.QuestionPick{
		"an option that is not there": {{Options: []int{4}}, {Options: []int{1}}, {Text: "bob"}},
		"words and an option":         {{Text: "red", Options: []int{1}}, {Options: []int{1}}, {Text: "bob"}},
		"two options of one":          {{Options: []int{1, 2}}, {Options: []int{1}}, {Text: "bob"}},
		"an option for words":         {{Options: []int{1}}, {Options: []int{1}}, {Options: []int{1}}},
		"nothing":                     {{Options: []int{1}}, {}, {Text: "bob"}},
	} {
		if k, err := (gemini.Driver{}).Keys(p, agent.Answer{Kind: agent.AnswerEach, Each: picks}, first.Dialog); !errors.Is(err, agent.ErrAnswer) {
			t.Errorf("%s: %s, %v", name, press(k), err)
		}
	}
	later := promptAt(t, ref.Recording(t, name), 7.3, false)
	if _, err := (gemini.Driver{}).Keys(later, agent.Answer{Kind: agent.AnswerEach, Each: []agent.QuestionPick{
		{Options: []int{1}}, {Options: []int{1}}, {Text: "bob"}}}, at(t, ref, name, 7.3).Dialog); !errors.Is(err, agent.ErrCannot) {
		t.Errorf("from the second page on: %v", err)
	}
}

// TestOptionsThatStartAlike: if two options start alike, accept and deny choose neither: their labels
// don't say which is meant.
func TestOptionsThatStartAlike(t *testing.T) {
	for _, labels := range [][]string{{"Allow once", "Allow once (all)", "No, suggest changes (esc)"}, {"Allow once", "No, suggest changes", "No, suggest changes (esc)"}} {
		d := &agent.Dialog{Type: agent.PromptPermission}
		for i, label := range labels {
			d.Options = append(d.Options, agent.Option{Number: i + 1, Label: label})
		}
		kind := agent.Accept
		if labels[1] != "Allow once (all)" {
			kind = agent.Deny
		}
		if k, err := (gemini.Driver{}).Keys(&agent.Request{Type: agent.PromptPermission}, agent.Answer{Kind: kind}, d); !errors.Is(err, agent.ErrAnswer) {
			t.Errorf("%q: %s presses %+v, %v", labels, kind, k.Steps, err)
		}
	}
}

// TestWordsInALine: Enter sends all that is in a question's line, so it waits until that is the answer alone.
func TestWordsInALine(t *testing.T) {
	asks := func(rows ...string) *agent.Reading {
		return draw(box(append(append([]string{"Answer Questions", "", "What name? Such as", "> bob", ""}, rows...), "", "Enter to submit · Esc to cancel")...)...)
	}
	empty := asks("> a name")
	k, err := gemini.Driver{}.Keys(gemini.Driver{}.FromDialog(empty.Dialog), agent.Answer{Kind: agent.AnswerText, Text: "bob and no one else"}, empty.Dialog)
	if err != nil || press(k) != "<bob and no one else> Enter answered" {
		t.Fatalf("%q, %v", press(k), err)
	}
	for name, c := range map[string]struct {
		rows []string
		want bool
	}{
		"the answer":               {[]string{"> bob and no one else"}, true},
		"on two rows":              {[]string{"> bob and no", "  one else"}, true},
		"a draft after it":         {[]string{"> bob and no one else but alice"}, false},
		"a draft on the next row":  {[]string{"> bob and no one else", "  but alice"}, false},
		"a draft before it":        {[]string{"> alice, bob and no one else"}, false},
		"not yet":                  {[]string{"> a name"}, false},
		"as words of the question": {[]string{"> bob and no one else", "", "> alice"}, false},
		"and its line is empty":    {[]string{"> bob and no one else", "", ">"}, false},
		"and a foot in its words":  {[]string{"> bob and no one else", "Enter to submit", "> alice"}, false},
	} {
		if got := k.Steps[1].Ready(asks(c.rows...)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
