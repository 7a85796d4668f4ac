//go:build agents

package gemini

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestServerTool: the dialog of a server's tool shows the tool's input on one row. An answer by keys needs all
// of it there.
func TestServerTool(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	large := map[string]any{"message": "Which one?"}
	for i := range 10 {
		large[fmt.Sprintf("arg%02d", i)] = fmt.Sprintf("value %d", i)
	}
	for name, c := range map[string]struct {
		input map[string]any
		size  string
		taken bool
	}{
		"with room": {map[string]any{"message": "Which one?"}, "80x30", true},
		"cut off":   {large, "80x30", false},
		"wide":      {large, "300x30", true},
	} {
		t.Run(name, func(t *testing.T) {
			seed := Ready()
			seed.Settings = map[string]any{"mcpServers": map[string]any{"lab": map[string]any{"command": server}}}
			l := prepare(t, seed)
			check(t, l.Host.Start())
			l.start("lab", nil, "--size", c.size)
			l.See("1 MCP server")
			l.Is("idle")
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("mcp_lab_ask", c.input)), modelapi.Say(modelapi.Text("Finished."))}})
			l.Takes("please ask")
			l.Is("prompt")
			if !c.taken {
				l.See("Tool: ask")
				p := l.PromptUntil("its dialog", func(p testbed.Shown) bool { return p.Ready && p.OnScreen })
				if !strings.Contains(p.Input, "arg09") {
					t.Errorf("it asks %+v", p)
				}
				l.Refuses("NOT_READY", "--prompt", p.ID, "accept")
				return
			}
			p := l.PromptUntil("as it is drawn", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && strings.Contains(p.Title, "Which one?") })
			l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
		})
	}
}

// TestServerToolBesideAnother: the prompt of a server's tool has the characters that its dialog doesn't draw, also beside another call.
func TestServerToolBesideAnother(t *testing.T) {
	server := filepath.Join(t.TempDir(), "mcpserver")
	if out, err := exec.Command("go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seed := Ready()
	seed.Settings = map[string]any{"mcpServers": map[string]any{"lab": map[string]any{"command": server}}}
	l := prepare(t, seed)
	check(t, l.Host.Start())
	l.start("lab", nil, "--size", "100x40")
	l.See("1 MCP server")
	l.Is("idle")
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
		modelapi.Say(modelapi.Tool("mcp_lab_ask", map[string]any{"message": "delete \u200b\u3164/"}), modelapi.Tool("read_file", map[string]any{"file_path": "sample.txt"})),
		modelapi.Say(modelapi.Text("Finished.")),
	}})
	l.Takes("please ask")
	p := l.PromptUntil("its dialog", func(p testbed.Shown) bool {
		return p.Ready && p.OnScreen && strings.Contains(p.Title, "delete") && strings.Contains(p.Text, `delete \u200b\u3164/`)
	})
	l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
}

// TestHookThatChangesACall: a hook of the user's changes the folder of a command. The prompt has the folder that it runs in.
func TestHookThatChangesACall(t *testing.T) {
	seed := Ready()
	hook := filepath.Join(t.TempDir(), "hook")
	check(t, os.WriteFile(hook, []byte(`#!/bin/sh
echo '{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":"touch made","dir_path":"sub"}}}'
`), 0o755))
	seed.Hooks = map[string]string{"BeforeTool": hook}
	l := newLab(t, seed)
	l.Is("idle")
	check(t, os.Mkdir(filepath.Join(l.Workspace, "sub"), 0o755))
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
		modelapi.Say(modelapi.Tool("run_shell_command", map[string]any{"command": "touch made"})), modelapi.Say(modelapi.Text("Finished.")),
	}})
	l.Takes("please do it")
	p := l.PromptUntil("its dialog", func(p testbed.Shown) bool { return p.Ready && p.OnScreen })
	if want := `dir_path: "sub"`; p.Text != want {
		t.Errorf("it shows %q, not %q", p.Text, want)
	}
	l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
	l.Is("idle")
	if !l.Made("sub/made") {
		t.Error("the command ran in another folder")
	}
}

// TestAlternateScreen: a project can turn the alternate screen on, which scrolls a dialog's rows out of view. Such
// a dialog takes no key.
func TestAlternateScreen(t *testing.T) {
	l := prepare(t, Ready())
	check(t, os.Mkdir(filepath.Join(l.home.Workspace, ".gemini"), 0o700))
	check(t, host.WriteJSON(filepath.Join(l.home.Workspace, ".gemini", "settings.json"), map[string]any{"ui": map[string]any{"useAlternateBuffer": true}}))
	check(t, l.Host.Start())
	l.start("lab", nil, "--size", "80x24")
	l.Is("idle")
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("question %d", i))
	}
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(modelapi.Tool("ask_user", map[string]any{"questions": []any{map[string]any{
		"question": strings.Join(lines, "\n"), "header": "H", "type": "choice",
		"options": []any{map[string]any{"label": "A", "description": "first"}, map[string]any{"label": "B", "description": "second"}},
	}}})), modelapi.Say(modelapi.Text("Finished."))}})
	l.Takes("please ask")
	l.Is("prompt")
	l.See("question 39", "█")
	p := l.PromptUntil("its dialog", func(p testbed.Shown) bool { return p.OnScreen })
	l.Refuses("NOT_READY", "--prompt", p.ID, "option", "2")
}

// TestUndrawnCharacters: the dialog of an edit leaves control characters out, and the prompt shows their line.
func TestUndrawnCharacters(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
		modelapi.Say(modelapi.Tool("write_file", map[string]any{"file_path": "a.txt", "content": "good\nkey\x1b[8mhidden\x1b[0m\n"})), modelapi.Say(modelapi.Text("Finished.")),
	}})
	l.Takes("please write")
	l.Is("prompt")
	p := l.PromptUntil("its dialog", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Text != "" })
	if want := `content: "key\x1b[8mhidden\x1b[0m"`; p.Text != want {
		t.Errorf("it shows %q, not %q", p.Text, want)
	}
	l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
}
