package qwen_test

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/qwen"
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
	return strings.Join(append(out, k.Outcome), " ")
}

// TestKeys: the keys of every answer at every dialog.
func TestKeys(t *testing.T) {
	dialogs := map[string]*agent.Reading{}
	sized(t, func(_ *testing.T, name, size string, r *agent.Reading) {
		if size == "80x24" {
			dialogs[name] = r
		}
	})
	accept, deny, why := agent.Answer{Kind: agent.Accept}, agent.Answer{Kind: agent.Deny}, agent.Answer{Kind: agent.Deny, Text: "no"}
	option := func(n int) agent.Answer { return agent.Answer{Kind: agent.ChooseOption, Option: n} }
	words := agent.Answer{Kind: agent.AnswerText, Text: "mauve"}
	each := func(picks ...agent.QuestionPick) agent.Answer {
		return agent.Answer{Kind: agent.AnswerEach, Each: picks}
	}
	pick := func(n ...int) agent.QuestionPick { return agent.QuestionPick{Options: n} }
	for _, c := range []struct {
		dialog string
		answer agent.Answer
		want   string
		err    error
	}{
		{"bash", accept, "1 accepted", nil},
		{"bash", option(2), "2 answered", nil},
		{"bash", option(4), "Escape denied", nil},
		{"bash", deny, "Escape denied", nil},
		{"bash", why, "", agent.ErrCannot},
		{"bash", option(5), "", agent.ErrAnswer},
		{"bash", words, "", agent.ErrAnswer},
		{"write", deny, "Escape denied", nil},
		{"ask", option(2), "2 answered", nil},
		{"ask", words, "4 <mauve> Enter answered", nil},
		{"ask", deny, "Escape denied", nil},
		{"ask", accept, "", agent.ErrAnswer},
		{"ask", option(4), "", agent.ErrAnswer},
		{"ask-many", each(pick(1, 3)), "1 Space 3 Space Enter answered", nil},
		{"ask-many", each(agent.QuestionPick{Options: []int{2}, Text: "more"}), "2 Space 4 <more> Enter answered", nil},
		{"ask-two", each(pick(2), pick(1)), "2 1 Enter answered", nil},
		{"ask-two", option(1), "", agent.ErrAnswer},
		{"ask-two", each(pick(2)), "", agent.ErrAnswer},
	} {
		k, err := qwen.Driver{}.Keys(asked(t, calls[c.dialog]), c.answer, dialogs[c.dialog].Dialog)
		if !errors.Is(err, c.err) || err == nil && press(k) != c.want {
			t.Errorf("%s: %+v: %s %v, want %s", c.dialog, c.answer, press(k), err, c.want)
		}
		if err == nil && !k.Steps[0].Ready(dialogs[c.dialog]) {
			t.Errorf("%s: %+v: the first key isn't pressed at its own dialog", c.dialog, c.answer)
		}
		for other, r := range dialogs {
			if err == nil && other != c.dialog && k.Steps[0].Ready(r) {
				t.Errorf("%s: %+v: the first key is pressed at %s", c.dialog, c.answer, other)
			}
		}
	}
}

// TestNextCalls: below a dialog are the rows of the calls that Qwen Code asks about next. What their commands hold
// is neither the dialog nor one of its options.
func TestNextCalls(t *testing.T) {
	const asks = "  ? Shell rm -rf x ←\n\n     rm -rf x\n\n   Allow execution of: 'rm'?\n\n   › 1. Yes, allow once\n     2. Always allow run 'rm *'…\n     3. No, suggest changes (esc)\n"
	want := draw(80, 40, asks+"\n\n  ⠏ Waiting for user confirmation...").Dialog
	for _, next := range []string{
		"\n\n     touch ok\n\n    Allow execution of: 'touch'?\n\n    › 1. Yes, allow once\n      2. No, suggest changes (esc)",
		"\n    ❯ 1. Yes, allow once\n      2. No, suggest changes (esc)",
		"\n     1. Yes, allow once\n     2. No, suggest changes (esc)",
		"\n     4. No, suggest changes (esc)",
		"\n     2. No, suggest changes (esc)",
	} {
		d := draw(80, 40, asks+"\n  ? Shell cat <<EOF"+next+"\n    EOF\n  ? Shell ls\n\n  ⠏ Waiting for user confirmation...").Dialog
		if d == nil || d.Body != "rm -rf x" || strings.Join(d.Labels(), "|") != strings.Join(want.Labels(), "|") || !d.SameAs(want) {
			t.Errorf("%s is read as %+v", next, d)
		}
	}
}

// TestOwnLine: the line for words, open and with words in it.
func TestOwnLine(t *testing.T) {
	const before, after = "  ? AskUserQuestion Ask user 1 question ←\n\n   Color\n\n   Which color do you want?\n\n     1. Red\n        Choose Red\n   ❯ 2. > ", "\n\n\n   ↑/↓: Navigate | Enter: Select | Esc: Cancel\n\n\n  ⠏ Waiting for user confirmation..."
	for shown, want := range map[string]string{"Type something...": "", "mauve": "mauve"} {
		d := draw(80, 24, before+shown+after).Dialog
		if d == nil || d.Input != want || len(d.Options) != 2 || d.Options[1].Label != "Type something..." {
			t.Errorf("%s: %+v", shown, d)
		}
	}
}

// TestTabs: the pages of two questions, and the one of their answers.
func TestTabs(t *testing.T) {
	const foot = "\n\n   ↑/↓: Navigate | ←/→: Switch tabs | Enter: Select | Esc: Cancel\n\n\n  ⠏ Waiting for user confirmation..."
	const head = "  ? AskUserQuestion Ask user 2 questions ←\n\n"
	for _, c := range []struct {
		rows    string
		current int
		confirm bool
	}{
		{"   ▸ Color   Size  Submit\n\n   Which color?\n\n   ❯ 1. Red\n     2. Type something...", 0, false},
		{"     Color ✓ ▸ Size  Submit\n\n   Which size?\n\n   ❯ 1. Small\n     2. Type something...", 1, false},
		{"     Color ✓   Size ✓ ▸ Submit\n\n   Your answers:\n     Color: Red\n     Size: Small\n\n\n   Ready to submit your answers?\n\n   ❯ 1. Submit answers\n     2. Cancel", 2, true},
	} {
		d := draw(80, 24, head+c.rows+foot).Dialog
		if d == nil || strings.Join(d.Tabs, "|") != "Color|Size" || d.Current != c.current || d.Confirm != c.confirm {
			t.Errorf("%s: %+v", c.rows, d)
		}
	}
}

// TestVerdict: what the hook of a permission prints.
func TestVerdict(t *testing.T) {
	p := asked(t, calls["bash"])
	for _, c := range []struct {
		answer agent.Answer
		want   string
		err    error
	}{
		{agent.Answer{Kind: agent.Accept}, `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`, nil},
		{agent.Answer{Kind: agent.Deny, Text: "why"}, `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"why"},"hookEventName":"PermissionRequest"}}`, nil},
		{agent.Answer{Kind: agent.ChooseOption, Option: 2}, "", agent.ErrOnlyByKeys},
		{agent.Answer{Kind: agent.AnswerText, Text: "x"}, "", agent.ErrAnswer},
	} {
		v, err := qwen.Driver{}.Verdict(p, c.answer, nil)
		if !errors.Is(err, c.err) || string(v.Stdout) != c.want {
			t.Errorf("%+v: %s %v", c.answer, v.Stdout, err)
		}
	}
	if _, err := (qwen.Driver{}).Verdict(asked(t, calls["ask"]), agent.Answer{Kind: agent.Accept}, nil); !errors.Is(err, agent.ErrOnlyByKeys) {
		t.Errorf("a question: %v", err)
	}
}

// TestPlanKeys: a plan is denied by Esc, also by its option's number, because another process can have drawn the options.
func TestPlanKeys(t *testing.T) {
	d := &agent.Dialog{Type: agent.PromptPlan}
	for i, label := range []string{"Yes, restore previous mode (default)", "Yes, and auto-accept edits", "Yes, and manually approve edits", "No, keep planning (esc)"} {
		d.Options = append(d.Options, agent.Option{Number: i + 1, Label: label})
	}
	for want, answer := range map[string]agent.Answer{
		"Escape denied": {Kind: agent.Deny}, "3 accepted": {Kind: agent.Accept}, "2 answered": {Kind: agent.ChooseOption, Option: 2},
	} {
		if k, err := (qwen.Driver{}).Keys(&agent.Request{Type: agent.PromptPlan}, answer, d); err != nil || press(k) != want {
			t.Errorf("%+v: %s, %v, want %s", answer, press(k), err, want)
		}
	}
	if k, err := (qwen.Driver{}).Keys(&agent.Request{Type: agent.PromptPlan}, agent.Answer{Kind: agent.ChooseOption, Option: 4}, d); err != nil || press(k) != "Escape denied" {
		t.Errorf("option 4: %s, %v", press(k), err)
	}
}
