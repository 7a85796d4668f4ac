package claude_test

import (
	"testing"

	"berth/agent/claude"
)

// TestFooterMode has the footers of 2.1.197 and 2.1.330.
func TestFooterMode(t *testing.T) {
	for foot, want := range map[string]string{
		"? for shortcuts · ← for agents":                             "default",
		"⏸ manual mode on · ? for shortcuts":                         "default",
		"⏸ manual mode on · ? for shortcuts          ◐ medium · /ef": "default",
		"⏸ plan mode on (shift+tab to cycle)":                        "plan",
		"⏵⏵ accept edits on":                                         "acceptEdits",
		"⏵⏵ accept edits on (shift+tab to cycle)":                    "acceptEdits",
		"⏵⏵ bypass permissions on (shift+tab to cycle) · ← for a":    "bypassPermissions",
		"⏵⏵ auto mode on (shift+tab to cycle)":                       "auto",
		"⏵⏵ don't ask on (shift+tab to cycle)":                       "dontAsk",
		"my own status line\n  ⏵⏵ auto mode on":                      "auto",

		"esc to interrupt":               "",
		"auto mode on":                   "", // a status line of the user's
		"⏵⏵ some new mode on":            "",
		"/help      ? for shortcuts":     "",
		"main · ⏵⏵ auto mode on":         "",
		"⏵⏵ accept edits onwards":        "",
		"Press ctrl+c again to exit":     "",
		"/plan  Enable plan mode on ask": "",
	} {
		r := draw(60, 16, "● Done. ⏵⏵ plan mode on\n\n"+rule+"❯\u00a0"+caret+"\n"+rule+"  "+foot+"\n")
		if r.Composer == nil || r.Mode != want {
			t.Errorf("%q shows %q, want %q (%+v)", foot, r.Mode, want, r.Composer)
		}
	}
}

func TestHookMode(t *testing.T) {
	for payload, want := range map[string]string{
		`{"hook_event_name":"Stop","session_id":"c","permission_mode":"acceptEdits"}`: "acceptEdits",
		`{"hook_event_name":"Stop","session_id":"c"}`:                                 "",
	} {
		facts, err := claude.Driver{}.Hook([]byte(payload))
		if err != nil || facts[0].Mode != want {
			t.Errorf("%s: %+v, %v", payload, facts, err)
		}
	}
}
