package codex_test

import (
	"strings"
	"testing"

	"berth/agent"
)

// The dialogs here are those of version 0.169.0 at 80x24, without the conversation above them.
const (
	elidedRow = "\n  [… 46 lines] ^a view all"
	answers   = "\n› 1. Yes, proceed (y)\n  2. Yes, and don't ask again for commands that start with `echo 0` (p)\n  3. No, and tell Codex what to do differently (esc)\n  Press enter to confirm or esc to cancel"
	asksRun   = "  \x1b[1mWould you like to run the following command?\x1b[22m\n\n  Environment: local\n\n"
	asksEdit  = "  \x1b[1mWould you like to make the following edits?\x1b[22m\n\n  Description: Apply proposed file edits\n"
	asksGrant = "  \x1b[1mWould you like to grant these permissions?\x1b[22m\n\n  Environment: local\n\n"
)

// TestElided: where a dialog has no room, Codex draws a row in place of its last rows. Such a dialog
// takes no key, because it allows more than it shows.
func TestElided(t *testing.T) {
	for name, c := range map[string]struct {
		screen string
		keyed  bool
	}{
		"a command":                    {asksRun + "  Reason: May it?\n\n  $ echo 0\n  echo 1" + elidedRow + answers, false},
		"a command that just has room": {asksRun + "  Reason: May it?\n\n  $ echo 0\n  echo 1" + answers, true},
		"a command without a row":      {"  \x1b[1mWould you like to run the following command?\x1b[22m" + elidedRow + answers, false},
		"a reason":                     {asksRun + "  Reason: because of this and" + elidedRow + answers, false},
		"on a narrow screen":           {asksRun + "  $ echo 0\n  [… 4" + answers, false},
		"files":                        {asksEdit + "  Destination: /a\n  Destination: /b" + elidedRow + answers, false},
		"permissions":                  {asksGrant + "  Permission rule: write `/a`," + elidedRow + answers, false},
		"edits of no files":            {asksEdit + answers, true},
		"a command like that row":      {asksRun + "  $ echo '\n  [… 46 lines] ^a view all\n  '\n\n" + answers, true},
	} {
		s, r := newSeen(), draw(c.screen, -1, 0)
		p := s.show(r)
		if p == nil || p.Type != agent.PromptPermission || s.keyed(p.ID, r.Dialog) != c.keyed {
			t.Errorf("%s: answered by keys %v: %+v", name, !c.keyed, p)
		} else if p.InPart() != (agent.Value(p.Tool) == "apply_patch") { // the dialog of edits shows the files alone
			t.Errorf("%s: it has a part %v: %+v", name, p.InPart(), p)
		}
	}
}

// TestElidedCall: a dialog that shows the start of a reported call is that call's, and takes no key. A
// hook that reports the row about missing rows as a part of the command takes none either.
func TestElidedCall(t *testing.T) {
	const whole = "echo 0\necho 1\necho 2"
	screen := asksRun + "  Reason: May it?\n\n  $ echo 0\n  echo 1" + elidedRow + answers
	for name, c := range map[string]struct {
		told, screen string
		tool         string
		shown        bool
	}{
		"the call":    {whole, screen, "Bash", true},
		"the rows":    {"echo 0\necho 1\n[… 46 lines] ^a view all", screen, "Bash", true},
		"another one": {"echo 1\necho 0", screen, "Bash", false},
		"edits":       {"*** Begin Patch\n*** Add File: /a\n+x\n*** Add File: /b\n+y\n*** End Patch", asksEdit + "  Destination: /a" + elidedRow + answers, "apply_patch", true},
	} {
		s, r := newSeen(), draw(c.screen, -1, 0)
		input := `{"command":"` + strings.ReplaceAll(c.told, "\n", `\n`) + `","description":"May it?"}`
		for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"`+c.tool+`","tool_input":`+input) {
			f.Hook, f.Time = "7", s.now
			s.f.Apply(f)
		}
		told, _ := s.f.HeldBy("7")
		s.release("7")
		p := s.show(r)
		if p == nil || s.keyed(p.ID, r.Dialog) {
			t.Errorf("%s: %+v is answered by keys", name, p)
			continue
		}
		if (p.ID == told.ID) != c.shown || p.Contested == c.shown {
			t.Errorf("%s: it is shown as %+v", name, p)
		}
	}
}
