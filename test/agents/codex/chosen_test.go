//go:build agents

package codex

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestShellOfACommand: the model chooses the shell of a command, which no hook reports and no dialog draws. This command makes a
// file in dash, and not in bash. The first id of the prompt shows the shell, which the session log has, also at the dialog.
func TestShellOfACommand(t *testing.T) {
	for _, way := range []string{"hook", "keys"} {
		for _, shell := range []string{"sh", ""} {
			t.Run(strings.TrimSuffix(way+" "+shell, " "), func(t *testing.T) {
				l := newLab(t, Ready())
				l.Is("idle")
				in := map[string]any{"cmd": "false &>/dev/null && touch made.txt", "sandbox_permissions": "require_escalated", "justification": "May it?"}
				want := "May it?"
				if shell != "" {
					in["shell"], want = shell, want+"\n\nshell: \"sh\""
				}
				l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", in)), modelapi.Say(modelapi.Text("Finished."))}})
				l.Nudge("please make it")
				p := l.PromptUntil("with its shell", func(p testbed.Shown) bool { return p.Tool == "Bash" })
				words := []string{"--prompt", p.ID, "accept"}
				if way == "keys" {
					l.Attach()
					words = append([]string{"--takeover"}, words...)
					p = l.PromptUntil("at its dialog, with its shell", func(now testbed.Shown) bool {
						return now.ID == p.ID && now.Ready && now.Channel == way
					})
				}
				if p.Text != want {
					t.Errorf("it asks %q, want %q", p.Text, want)
				}
				l.Respond(way, "accepted", words...)
				l.Is("idle")
				if _, err := os.Stat(filepath.Join(l.home.Workspace, "made.txt")); (err == nil) != (shell != "") {
					t.Errorf("in the shell %q: %v", shell, err)
				}
			})
		}
	}
}

// TestShellOfALongCall: the call's line in the session log is longer than Berth reads, so the prompt says that it may be about a call
// that isn't known, by hook and at the dialog.
func TestShellOfALongCall(t *testing.T) {
	for _, way := range []string{"hook", "keys"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			in := map[string]any{"cmd": "false &>/dev/null && touch made.txt", "shell": "sh", "sandbox_permissions": "require_escalated", "justification": "May it?", "prefix_rule": []any{strings.Repeat("x", 1_200_000)}}
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", in)), modelapi.Say(modelapi.Text("Finished."))}})
			l.Nudge("please make it")
			p := l.PromptUntil("by its hook", func(p testbed.Shown) bool { return p.Tool == "Bash" })
			words := []string{"--prompt", p.ID, "accept"}
			if way == "keys" {
				l.Attach()
				words = append([]string{"--takeover"}, words...)
				p = l.PromptUntil("at its dialog", func(now testbed.Shown) bool { return now.ID == p.ID && now.Ready && now.Channel == way })
			}
			if !strings.HasPrefix(p.Text, "May it?\n\nThe dialog may be that of a call that Berth had no room to keep") {
				t.Errorf("it asks %q", p.Text)
			}
			l.Respond(way, "accepted", words...)
			l.Is("idle")
		})
	}
}

const byHook = "workdir: reported by a hook alone, which another process can have sent"

// TestShellOfASubagent: Berth doesn't read the log that has the shell of a subagent's command. The prompt says so, by hook and at the
// dialog, which Codex draws with the subagent's name. There it names the main agent's call that runs.
func TestShellOfASubagent(t *testing.T) {
	for _, way := range []string{"hook", "keys"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			l.Nudge("MOCK: agent MOCK: bash touch made.txt")
			p := l.PromptUntil("by its hook", func(p testbed.Shown) bool { return p.Tool == "Bash" })
			words := []string{"--prompt", p.ID, "accept"}
			if way == "keys" {
				l.Attach()
				p = l.PromptUntil("at its dialog", func(now testbed.Shown) bool { return now.Ready && now.OnScreen && now.Channel == way })
				words = []string{"--takeover", "--prompt", p.ID, "accept"}
				if screen, err := l.Screen(l.Ctx); err != nil || !strings.Contains(screen, "Thread: Agent") {
					t.Errorf("%v: it shows %s", err, screen)
				}
			}
			own, running, _ := strings.Cut(p.Text, "\n\nThe dialog may be that of a call of Bash, with\n")
			if !strings.HasSuffix(own, "\nshell: chosen by the subagent, and not known here\n"+byHook) || strings.Contains(running, "sleep 4") != (way == "keys") {
				t.Errorf("it asks %q", p.Text)
			}
			l.Respond(way, "accepted", words...)
			l.Is("idle")
			if !l.Made("made.txt") {
				t.Error("accepted, and it did not run")
			}
		})
	}
}

// TestOpenedThread: a person opens the thread of a subagent whose hooks don't run. Codex draws its command without the thread's name. The
// main agent has run the same command, and the prompt says that the shell and the folder may be others.
func TestOpenedThread(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	const second = "touch second.txt && echo second" // of the subagent too
	in := map[string]any{"cmd": second, "sandbox_permissions": "require_escalated", "justification": "The lab wants to run " + second}
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", in)), modelapi.Say(modelapi.Text("Finished."))}})
	l.Nudge("please make it")
	l.Respond("hook", "accepted", "--prompt", l.PromptUntil("by its hook", func(p testbed.Shown) bool { return p.Tool == "Bash" }).ID, "accept")
	l.Is("idle")
	l.Attach()
	l.Nudge("MOCK: agent MOCK: bash2", "--takeover")
	drawn := func(command string) func(p testbed.Shown) bool {
		return func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Channel == "keys" && p.Input == command }
	}
	l.PromptUntil("about the first command", drawn("touch first.txt && echo first"))
	hold, err := filepath.Glob(filepath.Join(l.Dir, "state", "sessions", "*", "berth-hold"))
	if err != nil || len(hold) != 1 {
		t.Fatalf("%v: %q", err, hold)
	}
	check(t, os.Remove(hold[0])) // which runs the hooks
	l.Call("keys", l.Name, "--takeover", "o")
	l.Gone("Thread: Agent")
	first := l.PromptUntil("about the first command, in its thread", drawn("touch first.txt && echo first"))
	l.Respond("keys", "accepted", "--takeover", "--prompt", first.ID, "accept")
	p := l.PromptUntil("about the second command", drawn(second))
	if want := "The dialog may be that of a call in a thread that was opened at the terminal."; !strings.Contains(p.Text, want) {
		t.Errorf("it asks %q", p.Text)
	}
	l.Respond("keys", "accepted", "--takeover", "--prompt", p.ID, "accept")
}

// TestCommandWithoutHooks: without hooks Berth doesn't know the session log. The prompt of a command says that neither its shell nor its
// folder is known.
func TestCommandWithoutHooks(t *testing.T) {
	l := newLab(t, Ready(), agent.NoHooks...)
	l.Is("idle")
	check(t, os.Mkdir(filepath.Join(l.Workspace, "other"), 0o755))
	in := map[string]any{"cmd": "touch made.txt", "sandbox_permissions": "require_escalated", "justification": "May it?", "shell": "sh", "workdir": "other"}
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", in)), modelapi.Say(modelapi.Text("Finished."))}})
	l.Nudge("please make it")
	p := l.PromptUntil("at its dialog", func(p testbed.Shown) bool { return p.Ready && p.OnScreen })
	if !strings.Contains(p.Text, "\n\nshell: not known here, ") || !strings.Contains(p.Text, "\nworkdir: not known here, ") {
		t.Errorf("it asks %q", p.Text)
	}
	l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
	l.Is("idle")
	if !l.Made("other/made.txt") {
		t.Error("accepted, and it did not run")
	}
}

// TestShellOfARewrittenCommand: a hook of the user's rewrites each command, so no call in the log is the one that Codex asks about. The
// prompt says that the shell isn't known, also at the dialog. There it names the logged call, under another id.
func TestShellOfARewrittenCommand(t *testing.T) {
	seed := Ready()
	seed.Hooks = `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sed -E 's/.*\"command\": ?\"([^\"]*)\".*/{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\": rtk; \\1\"}}}/'"}]}]}}`
	l := newLab(t, seed)
	review := l.PromptUntil("about the hooks", func(p testbed.Shown) bool { return p.Ready })
	l.Answer("--prompt", review.ID, "option", "2")
	l.Is("idle")
	for _, way := range []string{"hook", "keys"} {
		in := map[string]any{"cmd": "touch " + way + ".txt", "sandbox_permissions": "require_escalated", "justification": "May it?", "shell": "sh"}
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("exec_command", in)), modelapi.Say(modelapi.Text("Finished."))}})
		l.Nudge("please make it for " + way)
		p := l.PromptUntil("by its hook", func(p testbed.Shown) bool { return p.Tool == "Bash" })
		words := []string{"--prompt", p.ID, "accept"}
		if way == "keys" {
			l.Attach()
			p = l.PromptUntil("at its dialog", func(now testbed.Shown) bool { return now.Ready && now.OnScreen && now.Channel == way })
			words = []string{"--takeover", "--prompt", p.ID, "accept"}
		}
		own, logged, _ := strings.Cut(p.Text, "\n\nThe dialog may be that of a call of Bash, with\n")
		if strings.Contains(logged, `"touch keys.txt"`) != (way == "keys") {
			t.Errorf("it names %q", logged)
		}
		if p.Input != ": rtk; touch "+way+".txt" || own != "May it?\n\nshell: not known here, because Berth has read no call of this command in a session log\n"+byHook {
			t.Errorf("it asks %q, %q", p.Input, p.Text)
		}
		l.Respond(way, "accepted", words...)
		l.Is("idle")
		if !l.Made(way + ".txt") {
			t.Error("accepted, and it did not run")
		}
	}
}
