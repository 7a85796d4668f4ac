package codex_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/codex"
	"berth/detect"
	"berth/detect/replay"
	"berth/test/agents/truth"
)

const (
	withHooks = false
	noHooks   = true
)

// asked is the prompt that is pending from a moment of a recording on.
type asked struct {
	at      time.Duration
	pending detect.Pending
}

var runsOf = map[string][]asked{}

// pendingAt returns the prompt that is pending at a moment of a recording.
func pendingAt(t *testing.T, ref *truth.Reference, name string, at float64, without bool) detect.Pending {
	t.Helper()
	key := fmt.Sprint(name, without)
	if runsOf[key] == nil {
		o := replay.Options{Each: func(now time.Duration, f *detect.Fold) {
			p, _ := f.Pending("")
			runsOf[key] = append(runsOf[key], asked{now, p})
		}}
		if without {
			o.Without = map[agent.Source]bool{agent.SourceHook: true, agent.SourceLog: true}
		}
		replay.Run(ref.Recording(t, name), codex.Driver{}, o)
	}
	var p detect.Pending
	for _, one := range runsOf[key] {
		if one.at.Seconds() <= at {
			p = one.pending
		}
	}
	return p
}

var (
	shellOptions = []string{"Yes, proceed (y)", "Yes, and don't ask again for commands that start with `touch nn` (p)", "No, and tell Codex what to do differently (esc)"}
	colours      = []string{"Red (Recommended)", "Green", "Blue", "None of the above"}
	sizes        = []string{"Small (Recommended)", "Large", "None of the above"}
)

// TestPrompts checks the prompt at moments of the recordings: as all sources report it
// together, and as only the screen and the state sequence report it.
func TestPrompts(t *testing.T) {
	ref := reference(t)
	const asks = "Do you want to allow the mock to run this command?"
	const run = "Would you like to run the following command?"
	for _, c := range []struct {
		recording string
		at        float64
		without   bool
		kind      string // type, subtype, tool
		title     string
		text      string // begins with
		input     string
		options   []string
		current   int
		questions int
		dialog    bool
	}{
		{"01_startup_hooktrust_shell_approve_quit", 0.8, withHooks, "setup hook_review", "Hooks need review", "Hooks need review\n14 hooks are new", "",
			[]string{"Review hooks", "Trust all and continue", "Continue without trusting (hooks won't run)"}, 0, 0, true},
		{"12_startup_login_apikey", 1.4, withHooks, "setup login_method", "Choose how you want to use Codex", "Welcome to Codex", "",
			[]string{"Sign in with ChatGPT", "Sign in with Device Code", "Sign in another way"}, 0, 0, true},
		{"12_startup_login_apikey", 2.3, withHooks, "setup login_method", "Sign in another way", "Welcome to Codex", "",
			[]string{"Use an OpenAI API key", "Use Amazon Bedrock"}, 0, 0, true},
		{"12_startup_login_apikey", 3.4, withHooks, "setup api_key", "API key", "> Use your own OpenAI API key for usage-based billing\n\nPaste or type your API key below.", "", nil, 0, 0, true},
		{"12_startup_login_apikey", 4.9, withHooks, "setup api_key", "API key", "> Use your own OpenAI API key for usage-based billing\n\nPaste or type your API key below.", "", nil, 0, 0, true},
		{"13_startup_update_notice", 2.5, withHooks, "setup update", "Update available", "Update available · 0.169.0 → 9.9.9", "",
			[]string{"Update now (runs `npm install -g @openai/codex`)", "Skip", "Skip until next version"}, 0, 0, true},
		{"16_trust_dialog", 2.0, withHooks, "permission trust", "Folder access", "Folder access\n/home/agent/", "", []string{"Trust and continue", "Back to Agent Command Center"}, 0, 0, true},
		{"10_notifications_auto", 4.5, withHooks, "permission Bash", run, asks, "touch nn", nil, 0, 0, false}, // withheld still
		{"10_notifications_auto", 5.5, withHooks, "permission Bash", run, asks, "touch nn", shellOptions, 0, 0, true},
		{"10_notifications_auto", 5.5, noHooks, "permission Bash", run, asks, "touch nn", shellOptions, 0, 0, true},
		{"11_no_alt_screen", 6.2, noHooks, "permission Bash", run, asks, "touch nn", shellOptions, 0, 0, true},
		{"04_plan_mode_question_plan", 3.0, withHooks, "question request_user_input", "Question 1/1", "Which colour should the mock use?", "", colours, 0, 1, true},
		{"04_plan_mode_question_plan", 3.0, noHooks, "question request_user_input", "Question 1/1", "Which colour should the mock use?", "", colours, 0, 1, true},
		{"04_plan_mode_question_plan", 6.0, withHooks, "question request_user_input", "Question 1/2", "Which colour should the mock use?", "", colours, 0, 2, true},
		{"04_plan_mode_question_plan", 7.0, withHooks, "question request_user_input", "Question 2/2", "Which size?", "", sizes, 1, 2, true},
		{"04_plan_mode_question_plan", 7.0, noHooks, "question request_user_input", "Question 2/2", "Which size?", "", sizes, 1, 2, true},
		{"04_plan_mode_question_plan", 8.0, noHooks, "question request_user_input", "Question 2/2", "Which size?", "", sizes, 1, 2, true}, // notes are open
		{"04_plan_mode_question_plan", 15.0, withHooks, "plan", "Implement this plan?", "# Mock plan\n\n1. Read the code.\n2. Change the code.\n3. Test the code.", "",
			[]string{"Yes, implement this plan", "Yes, clear context and implement", "No, stay in Plan mode"}, 0, 0, true},
		{"14_permission_hook_deny", 4.0, withHooks, "permission Bash", run, asks, "touch prx; echo prx", nil, 0, 0, false},
	} {
		name := c.recording + " " + time.Duration(c.at*float64(time.Second)).String()
		pending := pendingAt(t, ref, c.recording, c.at, c.without)
		p := pending.Request
		if p == nil {
			t.Errorf("%s: nothing is asked", name)
			continue
		}
		kind := strings.Join(strings.Fields(strings.Join([]string{string(p.Type), text(p.Subtype), text(p.Tool)}, " ")), " ")
		if kind != c.kind || text(p.Title) != c.title || !strings.HasPrefix(text(p.Text), c.text) || text(p.Input) != c.input {
			t.Errorf("%s: %s %q %q %q\nwant %s %q %q %q", name, kind, text(p.Title), text(p.Text), text(p.Input), c.kind, c.title, c.text, c.input)
		}
		if got := strings.Join(p.Options, "|"); got != strings.Join(c.options, "|") || p.QuestionCurrent != c.current || len(p.Questions) != c.questions {
			t.Errorf("%s: options %s, question %d of %d", name, got, p.QuestionCurrent, len(p.Questions))
		}
		if p.OnScreen != c.dialog || p.Ready != c.dialog || (pending.Dialog != nil) != c.dialog || p.OptionsFallback == c.dialog || !p.Modal || p.Channel != agent.ChannelKeys {
			t.Errorf("%s: on screen %v, ready %v, fallback %v, channel %s", name, p.OnScreen, p.Ready, p.OptionsFallback, p.Channel)
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestNoSecret: no field of the prompt has what is typed into the dialog for a key.
func TestNoSecret(t *testing.T) {
	p := pendingAt(t, reference(t), "12_startup_login_apikey", 4.95, withHooks)
	all := fmt.Sprintf("%+v %+v %q %s", p.Request, p.Dialog, p.Request.Lines, text(p.Request.Text))
	if strings.Contains(all, "sk-mock") || !strings.Contains(all, "Press enter to save") {
		t.Errorf("the prompt shows the key: %s", all)
	}
}

// TestNothingAsked: at these moments something on the screen or in the title
// could be taken for a question.
func TestNothingAsked(t *testing.T) {
	ref := reference(t)
	for name, at := range map[string]float64{
		"21_async_question_gpt6":     5.0,  // "Action Required", of a question that is not modal
		"17_codex_queue_cmd":         22.6, // a question that is refused in this mode
		"13_startup_update_notice":   3.37, // a banner of the update
		"09_resume":                  12.1, // a menu of commands
		"04_plan_mode_question_plan": 12.9, // a question that was interrupted
	} {
		if p := pendingAt(t, ref, name, at, withHooks); p.Request != nil {
			t.Errorf("%s at %v: %+v", name, at, p.Request)
		}
	}
}
