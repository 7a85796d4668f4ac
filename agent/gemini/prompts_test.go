package gemini_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
	"berth/detect/replay"
)

const alone = true // the screen and the title, without hooks and log

// TestPrompts checks the prompt at moments of the recordings: as all sources report
// it together, and as the screen shows it without hooks.
func TestPrompts(t *testing.T) {
	ref := reference(t)
	colour := []string{"Red", "Green", "Blue"}
	allow := []string{"Allow once", "Allow for this session", "No, suggest changes (esc)"}
	plan := []string{"Yes, automatically accept edits", "Yes, manually accept edits", "Type your feedback..."}
	const q2, planFile = "Are you sure?", "/home/agents/project/homes/ask/.gemini/tmp/work/9b6955fd-da5d-4f21-bcf9-cc5e136c6632/plans/mock-plan.md"
	for _, c := range []struct {
		recording string
		at        float64
		alone     bool
		kind      string // type, subtype, tool
		title     string
		text      string // begins with
		input     string
		options   []string
		current   int
		questions int
	}{
		{"01_startup_trust_auth", 5.9, false, "permission trust", "Do you trust the files in this folder?", "Do you trust", "", []string{"Trust folder (work)", "Trust parent folder (setup)", "Don't trust"}, 0, 0},
		{"01_startup_trust_auth", 11, false, "setup auth", "How would you like to authenticate for this project?", "? Get started", "", []string{"Sign in with Google", "Use Gemini API Key", "Vertex AI"}, 0, 0},
		{"01_startup_trust_auth", 14.9, false, "setup api_key", "Enter Gemini API Key", "Enter Gemini API Key\n\nPlease enter", "", nil, 0, 0},
		{"02_approval_keys", 4, false, "permission run_shell_command", "Shell", "", "touch k0; echo key0", allow, 0, 0},
		{"02_approval_keys", 4, alone, "permission run_shell_command", "Shell", "", "touch k0; echo key0", allow, 0, 0},
		{"04_ask_user_plan", 3.3, false, "question ask_user", "", "Which colour should the mock use?", "", colour, 0, 1},
		{"04_ask_user_plan", 3.3, alone, "question ask_user", "", "Which colour should the mock use?", "", colour, 0, 1},
		{"04_ask_user_plan", 6.5, false, "question ask_user", "Colour", "Which colour should the mock use?", "", colour, 0, 3},
		{"04_ask_user_plan", 7.3, false, "question ask_user", "Sure", q2, "", []string{"Yes", "No", "Enter a custom value"}, 1, 3},
		{"04_ask_user_plan", 7.3, alone, "question ask_user", "Sure", q2, "", []string{"Yes", "No", "Enter a custom value"}, 1, 3},
		{"04_ask_user_plan", 8.5, false, "question ask_user", "Name", "What name?", "", nil, 2, 3},
		{"04_ask_user_plan", 8.5, alone, "question ask_user", "Name", "What name?", "", nil, 2, 3},
		{"04_ask_user_plan", 9.5, false, "question ask_user", "", "Review your answers:\n\nColour → Red", "", nil, 3, 3},
		{"04_ask_user_plan", 9.5, alone, "question ask_user", "", "Review your answers:\n\nColour → Red", "", nil, 3, 3},
		{"04_ask_user_plan", 13.2, false, "question ask_user", "", "Which colour should the mock use?", "", colour, 0, 1},
		{"04_ask_user_plan", 16, false, "permission enter_plan_mode", "Enter Plan Mode", "", "This will restrict the agent to read-only tools to allow for safe planning.", allow, 0, 0},
		{"04_ask_user_plan", 16, alone, "permission enter_plan_mode", "Enter Plan Mode", "", "mock wants to plan", allow, 0, 0},
		{"04_ask_user_plan", 20.5, false, "plan exit_plan_mode", "Ready to start implementation?", "Mock plan\n\n 1. Read the code.", planFile, plan, 0, 0},
		{"04_ask_user_plan", 20.5, alone, "plan exit_plan_mode", "Ready to start implementation?", "Mock plan\n\n 1. Read the code.", "", plan, 0, 0},
		{"09_system_settings_merge", 8, false, "permission run_shell_command", "Shell", "", "touch mock_touched && echo touched", allow, 0, 0},
		{"12_beforetool_hook_allow", 7, false, "permission run_shell_command", "Shell", "", "touch bt; echo bt", allow, 0, 0},
		{"27_quota", 2.8, false, "notice", "Usage limit reached for gemini-3.8-flash.", "/stats model for usage details", "", []string{"Keep trying", "Stop"}, 0, 0},
		{"27_quota", 3.8, false, "notice", "Usage limit reached for gemini-3.8-flash.", "/stats model for usage details", "", []string{"Keep trying", "Stop"}, 0, 0},
	} {
		p := promptAt(t, ref.Recording(t, c.recording), c.at, c.alone)
		name := fmt.Sprint(c.recording, " ", c.at, " alone ", c.alone)
		if p == nil {
			t.Errorf("%s: nothing is asked", name)
			continue
		}
		kind := strings.Join(strings.Fields(strings.Join([]string{string(p.Type), text(p.Subtype), text(p.Tool)}, " ")), " ")
		if kind != c.kind || text(p.Title) != c.title || text(p.Input) != c.input {
			t.Errorf("%s: is %q, %q, input %q; want %q, %q, %q", name, kind, text(p.Title), text(p.Input), c.kind, c.title, c.input)
		}
		if !strings.HasPrefix(text(p.Text), c.text) {
			t.Errorf("%s: says %q", name, text(p.Text))
		}
		if strings.Join(p.Options, "|") != strings.Join(c.options, "|") || p.OptionsFallback {
			t.Errorf("%s: offers %q, want %q", name, p.Options, c.options)
		}
		if p.QuestionCurrent != c.current || len(p.Questions) != c.questions {
			t.Errorf("%s: question %d of %d, want %d of %d", name, p.QuestionCurrent, len(p.Questions), c.current, c.questions)
		}
		if !p.Ready || !p.OnScreen || !p.Modal || p.Channel != agent.ChannelKeys || len(p.Lines) == 0 {
			t.Errorf("%s: ready %v, on screen %v, channel %s, %d lines", name, p.Ready, p.OnScreen, p.Channel, len(p.Lines))
		}
		if all := text(p.Text) + strings.Join(p.Lines, "\n"); strings.Contains(all, "AIzaMockKey") {
			t.Errorf("%s: the prompt holds the key that was typed", name)
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

type asked struct {
	at     time.Duration
	prompt *agent.Request
}

var runs = map[string][]asked{}

// promptAt returns the prompt at a moment of the recording.
func promptAt(t *testing.T, rec *replay.Recording, at float64, without bool) *agent.Request {
	t.Helper()
	key := fmt.Sprint(rec.Name, without)
	if runs[key] == nil {
		o := replay.Options{Each: func(now time.Duration, f *detect.Fold) {
			runs[key] = append(runs[key], asked{now, f.Status().Request})
		}}
		if without {
			o.Without = map[agent.Source]bool{agent.SourceHook: true, agent.SourceLog: true}
		}
		replay.Run(rec, gemini.Driver{}, o)
	}
	var p *agent.Request
	for _, one := range runs[key] {
		if one.at.Seconds() <= at {
			p = one.prompt
		}
	}
	return p
}

// TestPromptKeepsItsID: turning its pages keeps a prompt what it is; another
// one is another.
func TestPromptKeepsItsID(t *testing.T) {
	rec := reference(t).Recording(t, "04_ask_user_plan")
	for _, without := range []bool{false, alone} {
		first := promptAt(t, rec, 6.5, without)
		for _, at := range []float64{7.3, 8.5, 9.5} {
			if p := promptAt(t, rec, at, without); p == nil || p.ID != first.ID {
				t.Errorf("alone %v: at %v it is %+v, at first it was %s", without, at, p, first.ID)
			}
		}
		if p := promptAt(t, rec, 13.2, without); p == nil || p.ID == first.ID {
			t.Errorf("alone %v: the next prompt has the first one's id", without)
		}
	}
}

// TestActivities looks at what Gemini is at, at moments of the recordings.
func TestActivities(t *testing.T) {
	ref := reference(t)
	for _, c := range []struct {
		recording string
		at        float64
		want      agent.Activity
	}{
		{"25_thought", 3, agent.Activity{Kind: agent.Thinking}},
		{"14_all_hooks_steps", 3.3, agent.Activity{Kind: agent.UsingTool, Tool: "run_shell_command", Input: "echo step-one"}},
		{"14_all_hooks_steps", 3.6, agent.Activity{Kind: agent.Thinking}},
	} {
		var got *agent.Activity
		replay.Run(ref.Recording(t, c.recording), gemini.Driver{}, replay.Options{Each: func(now time.Duration, f *detect.Fold) {
			if now.Seconds() <= c.at {
				got = f.Status().Activity
			}
		}})
		if got == nil || *got != c.want {
			t.Errorf("%s at %v: %+v, want %+v", c.recording, c.at, got, c.want)
		}
	}
}
