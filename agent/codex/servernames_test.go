package codex_test

import (
	"strings"
	"testing"

	"berth/agent"
)

// TestNamesOfAServer: the dialog of a server's tool leaves characters out, also in the names of fields, and draws a text as it draws
// a boolean. Once its hook has ended, the prompt's text says what the dialog doesn't draw.
func TestNamesOfAServer(t *testing.T) {
	for what, c := range map[string]struct{ input, row, says string }{
		"zero width in a name":  {`{"dry_run\u200b":true,"path":"/srv"}`, "dry_run: true\n  path: /srv", `"dry_run\u200b": true`},
		"a tab in a name":       {`{"dry_run\t":true,"path":"/srv"}`, "dry_run: true\n  path: /srv", `"dry_run\t": true`},
		"a line in a name":      {`{"a: 1\nb":"x"}`, "a: 1\n  b: x", `"a: 1\nb": "x"`},
		"a no-break space":      {`{"message":"rm\u00a0-rf x"}`, "message: rm -rf x", `"message": "rm\u00a0-rf x"`},
		"blanks at the ends":    {`{"message":" rm "}`, "message: rm", `"message": " rm "`},
		"a text, not a boolean": {`{"force":"false"}`, "force: false", `"force": "false"`},
		"nothing of these":      {`{"force":false,"path":"/a b"}`, "force: false\n  path: /a b", ""},
	} {
		s, r := newSeen(), asksServer(c.row)
		for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"mcp__lab__ask","tool_input":`+c.input) {
			f.Hook, f.Time = "7", s.now
			s.f.Apply(f)
		}
		s.release("7")
		p := s.show(r)
		if p == nil {
			t.Fatalf("%s: no prompt", what)
		}
		if text := agent.Value(p.Text); !strings.Contains(text, c.says) || c.says == "" && strings.Contains(text, `"force"`) {
			t.Errorf("%s: %q", what, text)
		}
	}
}

// TestServerByItsDialogAlone: without a hook, the prompt of a server's tool says what its dialog can't show.
func TestServerByItsDialogAlone(t *testing.T) {
	s := newSeen()
	p := s.show(asksServer("message: ls rm -rf x"))
	if p == nil || !strings.Contains(agent.Value(p.Text), "message: ls rm -rf x") || !strings.Contains(agent.Value(p.Text), "can't show them") {
		t.Errorf("%+v", p)
	}
}

// TestServerWithoutItsHook: any process of the session can end a call's hook before it reports. Where other hooks report, the dialog
// of a server's tool then takes no key: it doesn't draw all of the call.
func TestServerWithoutItsHook(t *testing.T) {
	s, r := newSeen(), asksServer("dry_run: true")
	for _, f := range hook(t, "PreToolUse", `,"cwd":"/w","tool_name":"mcp__lab__ask","tool_use_id":"c1","tool_input":{"dry_run\u200b":true}`) {
		f.Time = s.now
		s.f.Apply(f)
	}
	for range 3 { // its hook may come later than the dialog
		s.show(r)
	}
	if p := s.f.Status().Request; p == nil || !p.Contested || s.keyed(p.ID, r.Dialog) {
		t.Errorf("a key answers %+v", p)
	}
}

// TestInputOfATerminal: the dialog about input for a terminal leaves out characters without a width. Once its hook has ended, the prompt's
// text has them, and without its hook no key answers it.
func TestInputOfATerminal(t *testing.T) {
	r := draw("  \x1b[1mWould you like to send input to terminal 567?\x1b[22m\n\n  Environment: local\n\n  Reason: none\n\n  Input: \"rm build\\n\"\n\n\n"+
		"› 1. Yes, proceed (y)\n  2. No, and tell Codex what to do differently (esc)"+confirm, -1, 0)
	for _, event := range []string{"PermissionRequest", "PreToolUse"} {
		s := newSeen()
		for _, f := range hook(t, event, `,"cwd":"/w","tool_name":"write_stdin","tool_use_id":"c1","tool_input":{"session_id":567,"chars":"rm bu`+"\u3164"+`ild\n"}`) {
			if f.Time = s.now; event == "PermissionRequest" {
				f.Hook = "7"
			}
			s.f.Apply(f)
		}
		s.release("7")
		for range 3 {
			s.show(r)
		}
		p := s.f.Status().Request
		if asked := event == "PermissionRequest"; p == nil || s.keyed(p.ID, r.Dialog) != asked || asked && !strings.Contains(agent.Value(p.Text), `"chars": "rm bu\u3164ild\n"`) {
			t.Errorf("after %s: %+v", event, p)
		}
	}
}
