package claude_test

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
)

// starts are the dialogs of a start as the real Claude Code 2.1.330 drew them, whose
// options have no numbers.
var starts = map[string]string{
	"trust": rule + ` Accessing workspace:

 /home/me/ws

 Quick safety check: Is this a project you created or one you trust?

 Security guide

 ❯ No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel
`,
	"key": rule + `  Detected a custom API key in your environment

  ANTHROPIC_API_KEY: sk-ant-...abcdefghijklmnopqrst

  Do you want to use this API key?

    Yes
  ❯ No (recommended)

  Enter to confirm · Esc to cancel
`,
	"bypass": rule + `  WARNING: Claude Code running in Bypass Permissions mode

  In Bypass Permissions mode, Claude Code will not ask for your approval.

  https://code.claude.com/docs/en/security

  ❯ No, exit
    Yes, I accept

  Enter to confirm · Esc to cancel
`,
	"theme": ` Let's get started.

 Choose the text style that looks best with your terminal
 To change this later, run /theme

 ❯ ✔ Auto (match terminal)
     Dark mode
     Light mode

 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
  1  function greet() {
  2 -  console.log("Hello, World!");
 ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌
  Syntax theme: Monokai Extended (ctrl+t to disable)
`,
	"auto mode": "● Understood.\n\n" + rule + `  Make auto mode your default permission mode?

  Auto mode lets Claude handle permission prompts automatically. Claude checks
  each tool call for risky actions, and blocks the rest.

  ❯ Yes, set auto mode as my default permission
    mode
    No, keep manual mode
`,
}

// TestStartWithoutNumbers: each is known, and answered by arrows and Enter, which is
// pressed only when the option that was meant has the mark.
func TestStartWithoutNumbers(t *testing.T) {
	accept, deny := agent.Answer{Kind: agent.Accept}, agent.Answer{Kind: agent.Deny}
	for _, c := range []struct {
		name, kind, options string
		answer              agent.Answer
		keys, outcome       string
	}{
		{"trust", "permission trust", "No, exit|Yes, I trust this folder", accept, "Down Enter", agent.OutcomeAccepted},
		{"trust", "permission trust", "No, exit|Yes, I trust this folder", deny, "Enter", agent.OutcomeDenied},
		{"trust", "permission trust", "No, exit|Yes, I trust this folder", agent.Answer{Kind: agent.ChooseOption, Option: 1}, "Enter", agent.OutcomeDenied},
		{"key", "setup api_key", "Yes|No (recommended)", accept, "Up Enter", agent.OutcomeAccepted},
		{"key", "setup api_key", "Yes|No (recommended)", deny, "Enter", agent.OutcomeDenied},
		{"bypass", "setup bypass", "No, exit|Yes, I accept", accept, "Down Enter", agent.OutcomeAccepted},
		{"bypass", "setup bypass", "No, exit|Yes, I accept", deny, "Enter", agent.OutcomeDenied},
		{"theme", "setup theme_picker", "Auto (match terminal)|Dark mode|Light mode", accept, "Enter", agent.OutcomeAccepted},
		{"theme", "setup theme_picker", "Auto (match terminal)|Dark mode|Light mode", agent.Answer{Kind: agent.ChooseOption, Option: 3}, "Down Down Enter", agent.OutcomeAnswered},
		{"auto mode", "setup auto_mode_default", "Yes, set auto mode as my default permission mode|No, keep manual mode", accept, "Enter", agent.OutcomeAccepted},
		{"auto mode", "setup auto_mode_default", "Yes, set auto mode as my default permission mode|No, keep manual mode", deny, "Down Enter", agent.OutcomeDenied},
	} {
		d := draw(80, 30, starts[c.name]).Dialog
		if d == nil {
			t.Errorf("%s: no dialog", c.name)
			continue
		}
		var options, keys []string
		for _, o := range d.Options {
			options = append(options, o.Label)
		}
		if kind := string(d.Type) + " " + d.Subtype; kind != c.kind || strings.Join(options, "|") != c.options {
			t.Errorf("%s: %s, %q", c.name, kind, options)
			continue
		}
		k, err := claude.Driver{}.Keys(claude.Driver{}.FromDialog(d), c.answer, d)
		for _, s := range k.Steps {
			keys = append(keys, s.Key)
		}
		if err != nil || strings.Join(keys, " ") != c.keys || k.Outcome != c.outcome {
			t.Errorf("%s: %+v: %q, %s, %v", c.name, c.answer, keys, k.Outcome, err)
			continue
		}
		// With the mark on the other option Enter waits.
		other := strings.Replace(starts[c.name], "❯ ", "  ", 1)
		if first := strings.Index(starts[c.name], "❯ No, exit"); first >= 0 {
			other = strings.Replace(other, "  Yes", "❯ Yes", 1)
		}
		last := k.Steps[len(k.Steps)-1]
		if r := draw(80, 30, other); last.Key == "Enter" && c.keys == "Enter" && last.Ready(r) {
			t.Errorf("%s: Enter is pressed while another option has the mark", c.name)
		}
	}
}

// TestStartInText: such words in the agent's output aren't a dialog.
func TestStartInText(t *testing.T) {
	for name, drawn := range starts {
		if d := draw(80, 40, drawn+"\n"+rule+"❯\u00a0"+caret+"\n"+rule+footer).Dialog; d != nil {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestBypassOnAPhone: at 40x20 the warning's head has no room. The dialog is known by its options,
// and says that it is cut.
func TestBypassOnAPhone(t *testing.T) {
	const shown = `  before running potentially dangerous
  commands.
  This mode should only be used in a
  sandboxed container/VM that has
  restricted internet access and can
  easily be restored if damaged.

  By proceeding, you accept all
  responsibility for actions taken
  while running in Bypass Permissions
  mode.

  https://code.claude.com/docs/en/secu
  rity

  ❯ No, exit
    Yes, I accept

  Enter to confirm · Esc to cancel
`
	d := draw(40, 20, shown).Dialog
	if d == nil || d.Type != agent.PromptSetup || d.Subtype != agent.SubtypeBypass || !d.Cut || strings.Join(d.Labels(), "|") != "No, exit|Yes, I accept" {
		t.Fatalf("%+v", d)
	}
	p := claude.Driver{}.FromDialog(d)
	for way, answer := range map[string]agent.Answer{"accept": {Kind: agent.Accept}, "deny": {Kind: agent.Deny}} {
		k, err := claude.Driver{}.Keys(p, answer, d)
		if err != nil || len(k.Steps) == 0 || k.Steps[0].Ready == nil || !k.Steps[0].Ready(draw(40, 20, shown)) {
			t.Errorf("%s: %+v, %v", way, k, err)
		}
	}
	for name, other := range map[string]string{
		"with room above it": "\n\n\n" + shown,
		"other options":      strings.Replace(shown, "Yes, I accept", "Yes, I agree", 1),
	} {
		if d := draw(40, 24, other).Dialog; d != nil && d.Subtype == agent.SubtypeBypass {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestTrustOnAPhone: at 40x20 the head of the question about the folder has no room, only the blank
// row below it.
func TestTrustOnAPhone(t *testing.T) {
	const shown = `
 /tmp/berth-record-3023093351/ws

 Quick safety check: Is this a project
 you created or one you trust? (Like
 your own code, a well-known open
 source project, or work from your
 team). If not, take a moment to review
 what's in this folder first.

 Claude Code'll be able to read, edit,
 and execute files here.

 Security guide

 ❯ No, exit
   Yes, I trust this folder

 Enter to confirm · Esc to cancel
`
	d := draw(40, 20, shown).Dialog
	if d == nil || d.Type != agent.PromptPermission || d.Subtype != agent.SubtypeTrust || !d.Cut || strings.Join(d.Labels(), "|") != "No, exit|Yes, I trust this folder" {
		t.Fatalf("%+v", d)
	}
}
