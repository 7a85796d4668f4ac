package codex_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

func TestVerdict(t *testing.T) {
	asked := hook(t, "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"ls"}`)[0].Request
	trust := &agent.Request{Type: agent.PromptPermission, Subtype: agent.Pointer(agent.SubtypeTrust)}
	for name, c := range map[string]struct {
		prompt  *agent.Request
		answer  agent.Answer
		want    string
		outcome string
		err     error
	}{
		"accept":   {asked, agent.Answer{Kind: agent.Accept}, `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`, agent.OutcomeAccepted, nil},
		"deny why": {asked, agent.Answer{Kind: agent.Deny, Text: `no "<x>"`}, `{"behavior":"deny","message":"no \"<x>\""}`, agent.OutcomeDenied, nil},
		"deny":     {asked, agent.Answer{Kind: agent.Deny}, `"message":"The user does not want this`, agent.OutcomeDenied, nil},
		"option":   {asked, agent.Answer{Kind: agent.ChooseOption, Option: 2}, "", "", agent.ErrOnlyByKeys},
		"text":     {asked, agent.Answer{Kind: agent.AnswerText, Text: "x"}, "", "", agent.ErrAnswer},
		"trust":    {trust, agent.Answer{Kind: agent.Accept}, "", "", agent.ErrOnlyByKeys},
		"a plan":   {&agent.Request{Type: agent.PromptPlan}, agent.Answer{Kind: agent.Accept}, "", "", agent.ErrOnlyByKeys},
	} {
		v, err := codex.Driver{}.Verdict(c.prompt, c.answer, []byte(`{}`))
		if !errors.Is(err, c.err) || !strings.Contains(string(v.Stdout), c.want) || v.Outcome != c.outcome {
			t.Errorf("%s: %s, %s, %v", name, v.Stdout, v.Outcome, err)
		}
	}
}

// TestKeys answers the recorded dialogs. It checks the keys, and the screen that each key waits
// for.
func TestKeys(t *testing.T) {
	ref := reference(t)
	const (
		shell  = "10_notifications_auto 5.5"
		ask    = "04_plan_mode_question_plan 3"
		two    = "04_plan_mode_question_plan 6"
		second = "04_plan_mode_question_plan 7"
		typing = "04_plan_mode_question_plan 8"
		plan   = "04_plan_mode_question_plan 15"
		trust  = "16_trust_dialog 2"
		review = "01_startup_hooktrust_shell_approve_quit 0.8"
		update = "13_startup_update_notice 2.5"
		login  = "12_startup_login_apikey 1.4"
		key    = "12_startup_login_apikey 3.4"
		held   = "10_notifications_auto 4.5"
	)
	accept, deny := agent.Answer{Kind: agent.Accept}, agent.Answer{Kind: agent.Deny}
	why := agent.Answer{Kind: agent.Deny, Text: "no"}
	words := agent.Answer{Kind: agent.AnswerText, Text: "Purple, please"}
	option := func(n int) agent.Answer { return agent.Answer{Kind: agent.ChooseOption, Option: n} }
	each := func(n ...int) agent.Answer {
		a := agent.Answer{Kind: agent.AnswerEach}
		for _, o := range n {
			a.Each = append(a.Each, agent.QuestionPick{Options: []int{o}})
		}
		return a
	}
	for _, c := range []struct {
		at      string
		answer  agent.Answer
		keys    string
		outcome string
		err     error
	}{
		{shell, accept, "1", agent.OutcomeAccepted, nil},
		{shell, option(2), "2", agent.OutcomeAccepted, nil},
		{shell, deny, "Escape", agent.OutcomeDenied, nil},
		{shell, option(3), "Escape", agent.OutcomeDenied, nil},
		{shell, option(4), "", "", agent.ErrAnswer},
		{shell, why, "", "", agent.ErrCannot},
		{shell, words, "", "", agent.ErrAnswer},
		{held, accept, "", "", agent.ErrNotReady}, // it is not drawn yet: the key would be typed
		{ask, option(2), "2", agent.OutcomeAnswered, nil},
		{ask, each(3), "3", agent.OutcomeAnswered, nil},
		{ask, words, "Down Down Down Tab <Purple, please> Enter", agent.OutcomeAnswered, nil},
		{ask, deny, "Escape", agent.OutcomeDenied, nil},
		{ask, accept, "", "", agent.ErrAnswer},
		{two, option(1), "", "", agent.ErrAnswer},
		{two, each(2, 1), "Down Enter Enter", agent.OutcomeAnswered, nil},
		{two, each(1, 3), "Enter Down Down Enter", agent.OutcomeAnswered, nil},
		{two, each(1), "", "", agent.ErrAnswer},
		{two, each(1, 9), "", "", agent.ErrAnswer},
		{second, each(1, 1), "", "", agent.ErrCannot},
		{typing, deny, "", "", agent.ErrCannot}, // Esc would only clear the notes
		{plan, accept, "1", agent.OutcomeAccepted, nil},
		{plan, option(2), "2", agent.OutcomeAnswered, nil},
		{plan, deny, "Escape", agent.OutcomeDenied, nil},
		{plan, option(3), "Escape", agent.OutcomeDenied, nil},
		{plan, why, "", "", agent.ErrCannot},
		{plan, words, "", "", agent.ErrCannot},
		{trust, accept, "Enter", agent.OutcomeAccepted, nil},
		{trust, deny, "Down Enter", agent.OutcomeDenied, nil},
		{review, accept, "", "", agent.ErrAnswer},
		{review, deny, "Down Down Enter", agent.OutcomeDenied, nil},
		{review, option(2), "Down Enter", agent.OutcomeAnswered, nil},
		{update, accept, "", "", agent.ErrAnswer}, // it would run npm
		{update, deny, "2", agent.OutcomeDenied, nil},
		{update, option(1), "1", agent.OutcomeAnswered, nil},
		{login, option(3), "3", agent.OutcomeAnswered, nil},
		{login, accept, "", "", agent.ErrAnswer},
		{key, words, "", "", agent.ErrCannot},
	} {
		recording, moment, _ := strings.Cut(c.at, " ")
		at, err := strconv.ParseFloat(moment, 64)
		if err != nil {
			t.Fatal(err)
		}
		p := pendingAt(t, ref, recording, at, withHooks)
		got, err := codex.Driver{}.Keys(p.Request, c.answer, p.Dialog)
		if !errors.Is(err, c.err) || spell(got) != c.keys || err == nil && got.Outcome != c.outcome {
			t.Errorf("%s %+v: %q, %s, %v; want %q", c.at, c.answer, spell(got), got.Outcome, err, c.keys)
			continue
		}
		if len(got.Steps) == 0 {
			continue
		}
		first := got.Steps[0]
		if !first.Ready(&agent.Reading{Dialog: p.Dialog}) || first.Pause == 0 || first.Wants == "" {
			t.Errorf("%s %+v: the first key is not pressed at the dialog that is there", c.at, c.answer)
		}
		for i, s := range got.Steps {
			if s.Ready(&agent.Reading{}) || s.Ready(&agent.Reading{Composer: &agent.Composer{Empty: true}}) {
				t.Errorf("%s %+v: key %d is pressed without a dialog", c.at, c.answer, i)
			}
			if i > 0 && s.Ready(&agent.Reading{Dialog: p.Dialog}) {
				t.Errorf("%s %+v: key %d is pressed though the one before did nothing", c.at, c.answer, i)
			}
		}
	}
}

func spell(a agent.KeyAnswer) string {
	var keys []string
	for _, s := range a.Steps {
		if s.Paste != "" {
			keys = append(keys, "<"+s.Paste+">")
			continue
		}
		keys = append(keys, s.Key)
	}
	return strings.Join(keys, " ")
}

// TestModelOffer: Esc and Enter take the other model, so neither is pressed but
// on the option that was chosen for it.
func TestModelOffer(t *testing.T) {
	d := draw(offer, -1, 0).Dialog
	p := codex.Driver{}.FromDialog(d)
	got, err := codex.Driver{}.Keys(p, agent.Answer{Kind: agent.Deny}, d)
	if err != nil || spell(got) != "Down Enter" || got.Outcome != agent.OutcomeDenied {
		t.Fatalf("deny: %q, %v", spell(got), err)
	}
	moved := draw(strings.NewReplacer("› 1.", "  1.", "  2.", "› 2.").Replace(offer), -1, 0)
	if got.Steps[1].Ready(&agent.Reading{Dialog: d}) || !got.Steps[1].Ready(moved) {
		t.Error("Enter is pressed on the wrong option")
	}
	if _, err := (codex.Driver{}).Keys(p, agent.Answer{Kind: agent.Accept}, d); !errors.Is(err, agent.ErrAnswer) {
		t.Errorf("accept: %v", err)
	}
}

// TestNotice: Esc leaves a list that says so.
func TestNotice(t *testing.T) {
	for drawn, want := range map[string]string{pick: "Escape", strings.Replace(pick, "esc to go back", "nothing else", 1): ""} {
		d := draw(drawn, -1, 0).Dialog
		got, err := codex.Driver{}.Keys(codex.Driver{}.FromDialog(d), agent.Answer{Kind: agent.Deny}, d)
		if spell(got) != want || (want == "") != errors.Is(err, agent.ErrCannot) {
			t.Errorf("%q: %q, %v", drawn, spell(got), err)
		}
	}
}

// TestOwnWords follows the steps that type a free answer, over the screens that they
// lead to.
func TestOwnWords(t *testing.T) {
	page := func(chosen int, notes string) *agent.Reading {
		lines := "  \x1b[2mQuestion 1/1 (1 unanswered)\x1b[22m\n  Which colour?\n\n"
		for i, label := range []string{"Red  Warm.", "None of the above  Optionally, add details in notes (tab)"} {
			mark := "  "
			if i+1 == chosen {
				mark = "› "
			}
			lines += "  " + mark + string(rune('1'+i)) + ". " + label + "\n"
		}
		if notes != "" {
			return draw(lines+"\n  › "+notes+"\n\n  tab or esc to clear notes | enter to submit all", 6, 4)
		}
		return draw(lines+"\n  tab to add notes | enter to submit answer | esc to interrupt", -1, 0)
	}
	start := page(1, "")
	p := codex.Driver{}.FromDialog(start.Dialog)
	got, err := codex.Driver{}.Keys(p, agent.Answer{Kind: agent.AnswerText, Text: "a deep\nblue"}, start.Dialog)
	if err != nil || spell(got) != "Down Tab <a deep\nblue> Enter" {
		t.Fatalf("%q, %v", spell(got), err)
	}
	screens := []*agent.Reading{
		start, page(2, ""), page(2, "Add notes"), page(2, "a deep\n    blue"), page(2, "a deep blue"),
		page(2, "a deep blue, but not there"), page(2, "a deep blue\n    but not there"), page(2, "a person's"), // a person's notes
	}
	for i, s := range got.Steps {
		for k, screen := range screens {
			// The text may be drawn on one row or two; all else has one screen.
			if ready := s.Ready(screen); ready != (i == k || i == 3 && k == 4) {
				t.Errorf("step %d (%s) on screen %d: %v", i, s.Wants, k, ready)
			}
		}
	}
}
