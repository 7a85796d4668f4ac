package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
	"berth/detect/replay"
)

const noHooks = true

// TestPrompts checks the prompt at moments of the recordings: as the hooks and the screen
// report it together, and as the screen shows it alone.
func TestPrompts(t *testing.T) {
	ref := reference(t)
	color := []string{"Red", "Green", "Blue", "Type something.", "Chat about this"}
	bash := []string{"Yes", "Yes, and always allow access to ws/ from this project", "No"}
	plan := []string{"Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"}
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
	}{
		{"01_startup_first_run", 1.4, false, "setup theme_picker", "Choose the text style", "Choose the text style", "", []string{
			"Auto (match terminal)", "Dark mode ✔", "Light mode", "Dark mode (colorblind-friendly)", "Light mode (colorblind-friendly)",
			"Dark mode (ANSI colors only)", "Light mode (ANSI colors only)"}, 0, 0},
		{"01_startup_first_run", 2.39, false, "setup api_key", "Detected a custom API key in your environment", "ANTHROPIC_API_KEY: sk-ant-", "", []string{"Yes", "No (recommended)"}, 0, 0},
		{"01_startup_first_run", 3.4, false, "setup security_notes", "Security notes", "1. Claude can make mistakes.", "", []string{"Press Enter to continue"}, 0, 0},
		{"01_startup_first_run", 4.9, false, "permission trust", "Accessing workspace", "/home/", "", []string{"Yes, I trust this folder", "No, exit"}, 0, 0},
		{"02_startup_login", 2.4, false, "setup login_method", "Select login method", "", "", []string{
			"Claude account with subscription · Pro, Max, Team, or Enterprise", "Anthropic Console account · API usage billing",
			"3rd-party platform · Amazon Bedrock, Microsoft Foundry, or Vertex AI"}, 0, 0},
		{"02_startup_login", 5.4, false, "setup oauth_login", "Sign in", "Opening browser to sign in…", "", nil, 0, 0},
		{"03_startup_bypass_warning", 3.5, false, "setup bypass", "Bypass Permissions mode", "WARNING:", "", []string{"No, exit", "Yes, I accept"}, 0, 0},
		{"05_permission_bash", 2.3, false, "permission Bash", "Bash command", "", "touch made-by-bash.txt && echo ran-bash", bash, 0, 0},
		{"05_permission_bash", 2.3, noHooks, "permission Bash", "Bash command", "", "touch made-by-bash.txt && echo ran-bash", bash, 0, 0},
		{"07_ask_single", 9.1, false, "question AskUserQuestion", "Color", "Which color should the button be?", "", color, 0, 1},
		{"07_ask_single", 9.5, false, "question AskUserQuestion", "Color", "Which color should the button be?", "", color, 0, 1}, // typing into 4
		{"08_ask_multi", 2.5, false, "question AskUserQuestion", "Color", "Which color should the button be?", "", color, 0, 3},
		{"08_ask_multi", 3.2, false, "question AskUserQuestion", "Size", "Which size should it have?", "", []string{"Small", "Large", "Type something.", "Chat about this"}, 1, 3},
		{"08_ask_multi", 3.2, noHooks, "question AskUserQuestion", "Size", "Which size should it have?", "", []string{"Small", "Large", "Type something.", "Chat about this"}, 1, 3},
		{"08_ask_multi", 6.0, false, "question AskUserQuestion", "Features", "Which features do you want?", "", []string{"Logging", "Metrics", "Tracing", "Caching", "Type something.", "Chat about this"}, 2, 3},
		{"08_ask_multi", 6.0, noHooks, "question AskUserQuestion", "Features", "Which features do you want?", "", []string{"Logging", "Metrics", "Tracing", "Caching", "Type something.", "Chat about this"}, 2, 3},
		{"08_ask_multi", 6.78, false, "question AskUserQuestion", "Review your answers", "● Which color should the button be?", "", []string{"Submit answers", "Cancel"}, 3, 3},
		{"08_ask_multi", 6.78, noHooks, "question AskUserQuestion", "Review your answers", "● Which color should the button be?", "", []string{"Submit answers", "Cancel"}, 3, 3},
		{"08_ask_multi", 21.9, false, "question AskUserQuestion", "Layout", "Which layout?", "", []string{"Sidebar", "Topbar", "Chat about this"}, 0, 1},
		{"08_ask_multi", 21.9, noHooks, "question AskUserQuestion", "Layout", "Which layout?", "", []string{"Sidebar", "Topbar", "Chat about this"}, 0, 1},
		{"10_plan", 3.3, false, "plan ExitPlanMode", "Ready to code?", "# Plan: add a greeting\n\n## Steps\n1. Create `hello.txt`", "/home/agents/project/work/runs/plan/cfg/plans/eventual-napping-manatee.md", plan, 0, 0},
		{"10_plan", 3.3, noHooks, "plan ExitPlanMode", "Ready to code?", "Plan: add a greeting\n\nSteps\n\n1. Create hello.txt", "", plan, 0, 0},
		{"10_plan", 12.6, false, "plan ExitPlanMode", "Ready to code?", "# Plan", "/home/agents/project/work/runs/plan/cfg/plans/eventual-napping-manatee.md", plan, 0, 0},
		{"10_plan", 19.2, false, "permission Write", "Create file", "", "hello.txt", []string{"Yes", "Yes, allow all edits during this session (shift+tab)", "No"}, 0, 0},
		{"22_hook_coverage", 11.8, false, "permission Edit", "Edit file", "", "sample.txt", []string{"Yes", "Yes, allow all edits during this session (shift+tab)", "No"}, 0, 0},
		{"22_hook_coverage", 21.8, false, "permission WebFetch", "Fetch", "", "https://example.com/", []string{"Yes", "Yes, and don't ask again for example.com", "No, and tell Claude what to do differently (esc)"}, 0, 0},
		{"22_hook_coverage", 24.0, noHooks, "permission mcp__elic__askme", "Tool use", "", "elic - askme (MCP)", []string{
			"Yes", "Yes, and don't ask again for elic - askme commands in /home/agents/project/work/runs/cov_ws/.claude/worktrees/rippling-humming-pixel", "No"}, 0, 0},
		{"22_hook_coverage", 25.3, false, "form", "MCP server “elic” requests your input", "Please give your name", "", []string{"Accept", "Decline"}, 0, 0},
		{"22_hook_coverage", 25.3, noHooks, "form", "MCP server “elic” requests your input", "Please give your name", "name: not set\nok: not set", []string{"Accept", "Decline"}, 0, 0},
		{"16_nudge_prefixes", 60, false, "notice", "Help", "Claude understands your codebase", "", nil, 0, 0},
		{"30_fullscreen_renderer", 2.9, false, "permission Bash", "Bash command", "", "touch made-by-bash.txt && echo ran-bash", bash, 0, 0},
		{"19_focus_resize", 14.0, noHooks, "permission Bash", "Bash command", "", "touch made-by-bash.txt && echo ran-bash", bash, 0, 0}, // at 60x20
	} {
		p := promptAt(t, ref.Recording(t, c.recording), c.at, c.without)
		name := c.recording + " " + time.Duration(c.at*float64(time.Second)).String()
		if p == nil {
			t.Errorf("%s: nothing is asked", name)
			continue
		}
		kind := strings.TrimSpace(strings.Join([]string{string(p.Type), text(p.Subtype), text(p.Tool)}, " "))
		if strings.Join(strings.Fields(kind), " ") != c.kind || text(p.Title) != c.title || text(p.Input) != c.input {
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
		channel := agent.ChannelKeys
		if p.Type == agent.PromptForm && !c.without { // its recorded hook didn't wait, so Berth hasn't released it
			channel = agent.ChannelNone
		}
		if c.recording == "19_focus_resize" { // it was drawn for another size, so it may be another dialog
			channel = agent.ChannelNone
		}
		if !p.Ready || !p.OnScreen || !p.Modal || p.Channel != channel || len(p.Lines) == 0 {
			t.Errorf("%s: ready %v, on screen %v, channel %s, %d lines", name, p.Ready, p.OnScreen, p.Channel, len(p.Lines))
		}
	}
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// asked are the prompts of a run, each with the moment from which on it was so.
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
		replay.Run(rec, claude.Driver{}, o)
	}
	var p *agent.Request
	for _, one := range runs[key] {
		if one.at.Seconds() <= at {
			p = one.prompt
		}
	}
	return p
}

// TestPromptKeepsItsID: filling in its options, turning its pages, keeps a
// prompt what it is; another one is another.
func TestPromptKeepsItsID(t *testing.T) {
	ref := reference(t)
	for _, without := range []bool{false, noHooks} {
		rec := ref.Recording(t, "08_ask_multi")
		first := promptAt(t, rec, 2.5, without)
		for _, at := range []float64{3.2, 6.0, 6.78} {
			if p := promptAt(t, rec, at, without); p == nil || p.ID != first.ID {
				t.Errorf("without hooks %v: at %v it is %+v, at first it was %s", without, at, p, first.ID)
			}
		}
		if p := promptAt(t, rec, 9.9, without); p == nil || p.ID == first.ID {
			t.Errorf("without hooks %v: the second prompt has the first one's id", without)
		}
	}
}

// TestActivities looks at what the agent is at, at moments of the recordings.
func TestActivities(t *testing.T) {
	ref := reference(t)
	for _, c := range []struct {
		recording string
		at        float64
		want      agent.Activity
	}{
		{"12_error_401", 21.3, agent.Activity{Kind: agent.Retrying, Attempt: 6, Of: 10, DelayMS: 15000}},
		{"22_hook_coverage", 35.8, agent.Activity{Kind: agent.Compacting}},
		{"22_hook_coverage", 9.5, agent.Activity{
			Kind: agent.UsingTool, Tool: "Agent", Input: "description: Sub task prompt: SCENARIO:text please run_in_background: false subagent_type: general-purpose",
		}},
		{"22_hook_coverage", 7.0, agent.Activity{Kind: agent.Thinking}},
		{"04_text_slow_think", 3.5, agent.Activity{Kind: agent.Thinking}},
	} {
		var got *agent.Activity
		replay.Run(ref.Recording(t, c.recording), claude.Driver{}, replay.Options{Each: func(now time.Duration, f *detect.Fold) {
			if now.Seconds() <= c.at {
				got = f.Status().Activity
			}
		}})
		if got == nil || *got != c.want {
			t.Errorf("%s at %v: %+v, want %+v", c.recording, c.at, got, c.want)
		}
	}
}
