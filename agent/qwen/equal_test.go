package qwen_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
)

// TestCallsThatWereNotAsked: of two equal calls a dialog is about one, and any process of the session can name a call's
// id in a hook about another, and report the call's end. So the dialog of the call that hasn't asked yet is compared
// with what the session log has of it.
func TestCallsThatWereNotAsked(t *testing.T) {
	const list, there, who = `{"command":"ls"}`, `{"command":"ls","directory":"/etc"}`, `{"command":"id","directory":"/etc"}`
	asks := func(command string) *agent.Reading {
		return draw(80, 24, "  ? Shell "+command+" ←\n\n     "+command+"\n\n   Allow execution of: '"+command+"'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
	}
	rule := strings.Repeat("─", 80)
	works := draw(80, 24, "  ⠏ Working (esc to cancel, 3s)\n\n"+rule+"\n> \n"+rule+"\n  ⏸ Ask permissions (shift + tab to cycle)")
	over := func(call, input string) agent.Fact {
		return hook(t, `"hook_event_name":"PostToolUse","tool_name":"run_shell_command","tool_call_id":"`+call+`","tool_input":`+input)
	}
	for name, c := range map[string]struct {
		first, about string // the first call's input, and what its hook says
		early        bool   // the second call's end is reported while the first one's dialog is open
	}{
		"equal calls":         {there, there, false},
		"equal calls, early":  {there, there, true},
		"equal calls, named":  {there, there + `,"tool_call_id":"second"`, true},
		"another's id":        {who, who + `,"tool_call_id":"second"`, false},
		"another's id, early": {who, who + `,"tool_call_id":"second"`, true},
	} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
		apply := func(facts ...agent.Fact) {
			for _, f := range facts {
				now = now.Add(200 * time.Millisecond)
				f.Time = now
				fold.Apply(f)
			}
		}
		asked := func(input, command string) (text string, keyed bool) {
			f := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"run_shell_command","tool_input":`+input)
			f.Hook = command
			apply(f, agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: command})
			r := asks(command)
			for range 12 {
				apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
			}
			for _, p := range fold.Status().Requests {
				if d, ok := fold.Pending(p.ID); ok && d.Whole && !p.Contested && fold.Asks(r.Dialog, p.ID) {
					return agent.Value(p.Text), true
				}
			}
			return "", false
		}
		apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
		logged, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"first","name":"run_shell_command","args":` + c.first + `}},` +
			`{"functionCall":{"id":"second","name":"run_shell_command","args":` + there + `}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		apply(logged...)
		want, command := `directory: "/etc"`, c.first[len(`{"command":"`):][:2]
		if command != "ls" { // the second call is drawn otherwise
			want += "\n\nThe dialog may be that of a call of run_shell_command, with\n" + there
		}
		if text, keyed := asked(c.about, command); !keyed || text != want {
			t.Errorf("%s: of the first call a key answers %q, %v", name, text, keyed)
		}
		if c.early {
			apply(over("second", there))
		}
		for range 6 {
			apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: works})
		}
		if apply(over("first", c.first)); !c.early {
			apply(over("second", there))
		}
		if open := fold.Status().Requests; len(open) > 0 {
			t.Fatalf("%s: %+v", name, open)
		}
		if text, keyed := asked(list, "ls"); keyed && !strings.HasSuffix(text, "may be that of a call with\ndirectory: \"/etc\"") {
			t.Errorf("%s: of the second call a key answers %q", name, text)
		}
	}
}

// TestCallWhoseDialogWasCut: a dialog without room may be another call's, so the call that it may show still counts
// after a forged end.
func TestCallWhoseDialogWasCut(t *testing.T) {
	const here, there = `{"command":"touch a\ntouch b\nls"}`, `{"command":"touch a\ntouch b\nls","directory":"/etc"}`
	const list = "\n\n   Allow execution of: 'touch, ls'?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n" + waiting
	rule := strings.Repeat("─", 80)
	cut, whole := draw(80, 24, "  ? Shell touch a touch b ls ←\n\n     ... first 2 lines hidden ...\n     ls"+list), draw(80, 24, "  ? Shell touch a touch b ls ←\n\n     touch a\n     touch b\n     ls"+list)
	works := draw(80, 24, "  ⠏ Working (esc to cancel, 3s)\n\n"+rule+"\n> \n"+rule+"\n  ⏸ Ask permissions (shift + tab to cycle)")
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
	apply := func(facts ...agent.Fact) {
		for _, f := range facts {
			now = now.Add(200 * time.Millisecond)
			f.Time = now
			fold.Apply(f)
		}
	}
	show := func(r *agent.Reading) {
		for range 10 {
			apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
		}
	}
	logged, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"c","name":"run_shell_command","args":` + there + `}}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
	apply(logged...)
	apply(hook(t, `"hook_event_name":"PermissionRequest","tool_name":"run_shell_command","tool_input":`+there))
	show(cut)
	show(works)
	apply(hook(t, `"hook_event_name":"PostToolUse","tool_name":"run_shell_command","tool_call_id":"c","tool_input":`+there))
	apply(hook(t, `"hook_event_name":"PermissionRequest","tool_name":"run_shell_command","tool_input":`+here))
	show(whole)
	for _, p := range fold.Status().Requests {
		if d, ok := fold.Pending(p.ID); ok && d.Whole && !p.Contested && fold.Asks(whole.Dialog, p.ID) && !strings.HasSuffix(agent.Value(p.Text), `directory: "/etc"`) {
			t.Errorf("a key answers %q", agent.Value(p.Text))
		}
	}
}
