//go:build agents

package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// calls has the model call these tools at once, and gives the message.
func (l *lab) calls(what string, blocks ...modelapi.Block) {
	l.T.Helper()
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(blocks...), modelapi.Say(modelapi.Text("done " + what))}})
	l.send("please " + what)
}

// TestNextSkill: two skills that are called at once have the same dialog, which hides their arguments.
// An answer to the first doesn't reach the second.
func TestNextSkill(t *testing.T) {
	l := newStartLab(t, Ready(), nil)
	dir := filepath.Join(l.home.Workspace, ".claude", "skills", "deploy")
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: deploy\ndescription: Deploys the project\nallowed-tools: Bash(rm:*)\n---\n\nDeploy $ARGUMENTS\n"), 0o600))
	l.start("lab", nil, []string{"--isolate", "none"}, manual(nil)...)
	l.Is("idle")
	l.calls("deploy", modelapi.Tool("Skill", map[string]any{"skill": "deploy", "args": "staging"}), modelapi.Tool("Skill", map[string]any{"skill": "deploy", "args": "production"}))
	was := l.PromptUntil("with its arguments", func(p testbed.Shown) bool {
		return p.OnScreen && p.Ready && strings.Contains(p.Text, "staging") && strings.Contains(p.Text, "production")
	})
	l.key("1")
	next := l.PromptUntil("the second skill's", func(p testbed.Shown) bool {
		return p.ID != was.ID && p.OnScreen && p.Ready && strings.Contains(p.Text, "production")
	})
	if r, status := l.Try("", "--prompt", was.ID, "accept"); status == 0 || r.Delivered {
		t.Errorf("accepting the first at the second: status %d, %+v", status, r)
	}
	l.Respond("keys", "accepted", "--prompt", next.ID, "accept")
	l.See("done deploy")
	l.Is("idle")
}

// TestFolderOfCommands: a command changes the folder that later ones run in, also in a later turn, and no dialog draws that folder. The
// session's own folder is given as a link, and has no line.
func TestFolderOfCommands(t *testing.T) {
	for _, isolate := range []string{"hooks", "none"} {
		t.Run(isolate, func(t *testing.T) {
			l := newStartLab(t, Ready(), nil)
			ws := l.home.Workspace
			check(t, os.MkdirAll(filepath.Join(ws, "sub"), 0o755))
			link := filepath.Join(t.TempDir(), "link")
			check(t, os.Symlink(ws, link))
			l.start("lab", nil, []string{"--isolate", isolate, "--cwd", link}, manual(nil)...)
			l.Is("idle")
			bash := func(command string) modelapi.Block {
				return modelapi.Tool("Bash", map[string]any{"command": command, "description": "Makes"})
			}
			for i, blocks := range [][]modelapi.Block{{bash("touch 0.txt")}, {bash("cd sub"), bash("touch 1.txt")}, {bash("touch 2.txt")}} {
				file := fmt.Sprintf("%d.txt", i)
				steps := []modelapi.Step{}
				for _, b := range blocks {
					steps = append(steps, modelapi.Say(b))
				}
				l.API.Queue(modelapi.Scenario{Name: file, Steps: append(steps, modelapi.Say(modelapi.Text("made "+file)))})
				l.send("please make " + file)
				line := fmt.Sprintf("workdir: %q", filepath.Join(ws, "sub"))
				p := l.PromptUntil(file, func(p testbed.Shown) bool {
					return p.Input == "touch "+file && p.OnScreen && p.Ready && strings.Contains(p.Text, line) == (i > 0)
				})
				if i == 0 && strings.Contains(p.Text, "workdir") {
					t.Errorf("in the session's folder it asks %q", p.Text)
				}
				l.Respond(p.Channel, "accepted", "--prompt", p.ID, "accept")
				l.See("made " + file)
				l.Is("idle")
				if i > 0 != l.Made("sub/"+file) {
					t.Errorf("%s was made elsewhere", file)
				}
			}
		})
	}
}

// TestHiddenText: without hooks a key allows only what its prompt shows. 2.1.197 draws no text that has
// no room after tabs, so a dialog can look like that of a call beside it. The text of a question can draw another dialog.
func TestHiddenText(t *testing.T) {
	root := newStartLab(t, Ready(), nil)
	tabs, rule := strings.Repeat("\t", 40), strings.Repeat("─", 120)
	bash := func(command string) modelapi.Block {
		return modelapi.Tool("Bash", map[string]any{"command": command, "description": "Lists"})
	}
	asks := func(text, yes string) modelapi.Block {
		options := []any{map[string]any{"label": yes, "description": "x"}, map[string]any{"label": "No", "description": "y"}}
		return modelapi.Tool("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": text, "header": "Deploy", "multiSelect": false, "options": options}}})
	}
	for name, calls := range map[string][]modelapi.Block{
		"shown":         {bash("touch hidden-x")},
		"tabs":          {bash("ls" + tabs + "; touch hidden-x")},
		"tab":           {bash("ls" + strings.Repeat("\t", 14) + "; touch hidden-x")},
		"soft-hyphens":  {bash("touch hidden-x" + strings.Repeat("\u00ad", 120))},
		"file":          {modelapi.Tool("Write", map[string]any{"file_path": filepath.Join(root.home.Workspace, "x.txt"), "content": "a" + tabs + "hidden-x\n"})},
		"question":      {asks("Which color?"+tabs+"hidden-x", "Yes")},
		"like-a-dialog": {asks("hidden-x?\n"+rule+"\n Bash command\n\n   ls\n   Lists\n\n Do you want to proceed?", "Yes")},
		"like-another":  {asks("hidden-x?\n"+rule+"\n ☐ Color\n\nWhich color?", "Red")},
		"beside":        {bash("touch seen" + tabs + "; touch hidden-x"), bash("touch seen")},
	} {
		root.start(name, nil, []string{"--isolate", "none"}, manual(nil)...)
		l := root.with(name)
		l.Is("idle")
		root.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(calls...), modelapi.Say(modelapi.Text("done " + name))}})
		l.send("please " + name)
		p := l.PromptUntil("on the screen", func(p testbed.Shown) bool { return p.OnScreen && p.Ready })
		answer := []string{"accept"}
		if p.Type == "question" {
			answer = []string{"option", "1"}
		}
		shown := l.Text("prompt", name, "--full", "--text")
		r, status := l.Try("", append([]string{"--prompt", p.ID}, answer...)...)
		if strings.Contains(shown, "hidden-x") {
			if name == "shown" && status != 0 {
				t.Errorf("%s: status %d, %+v", name, status, r)
			}
		} else if r.Delivered || status == 0 {
			t.Errorf("%s: answered, and the prompt showed\n%s", name, shown)
		}
		l.Call("kill", name)
	}
}

// TestNamesWithoutRoom: the dialog of a server's tool draws the names of fields as they are, and nothing that has no room after tabs.
// Another process ends the hook that has the whole call. What keys then answer shows it too.
func TestNamesWithoutRoom(t *testing.T) {
	if newer(330) {
		t.Skip("SKIPPED: the dialog of 2.1.330 draws the other fields, and says that a name has no room")
	}
	config := mcpConfig(t)
	l := newStartLab(t, Ready(), nil)
	l.start("lab", nil, nil, append([]string{"--mcp-config", config}, manual(nil)...)...)
	l.Is("idle")
	l.untilFile(toolsKnown(config), "listed")
	l.offersTheModel("mcp__lab__ask")
	l.calls("names", modelapi.Tool("mcp__lab__ask", map[string]any{`a: 1, message: "hi") (MCP)` + strings.Repeat("\t", 40): 1, "message": "hidden"}))
	l.hookWaits()
	l.endHooks()
	p := l.PromptUntil("the whole call", func(p testbed.Shown) bool {
		return p.Channel == "keys" && p.OnScreen && strings.Contains(p.Text, "hidden")
	})
	if shown := l.Text("screen", l.Name, "--text"); strings.Contains(shown, "hidden") {
		t.Errorf("the dialog draws all:\n%s", shown)
	}
	l.Respond("keys", "denied", "--prompt", p.ID, "deny")
	l.Is("idle")
}

// TestNote: what Claude says below a command is a part of the prompt that its hook reported.
func TestNote(t *testing.T) {
	since(t, 330)
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.calls("clean", modelapi.Tool("Bash", map[string]any{"command": "cd /tmp && git status > z && rm -rf $(cat z)", "description": "Clean"}))
	p := l.PromptUntil("one with its note", func(p testbed.Shown) bool { return p.Channel == "hook" && p.OnScreen && p.Ready })
	if out := l.Text("prompt", "lab", "--json"); !strings.Contains(out, "Dangerous rm operation") {
		t.Errorf("the prompt is %s", out)
	}
	l.Respond("hook", "denied", "--prompt", p.ID, "deny")
	l.Is("idle")
}

// TestJapanese: dialogs full of Japanese take their answers at usual sizes, by their hook and by keys.
func TestJapanese(t *testing.T) {
	t.Parallel()
	const folder = "日本語のとても長い名前のフォルダ"
	for _, size := range []string{"80x40", "40x40"} {
		for isolate, channel := range map[string]string{"hooks": "hook", "none": "keys"} {
			t.Run(size+" "+isolate, func(t *testing.T) {
				l := newStartLab(t, Ready(), nil)
				l.start("lab", nil, []string{"--isolate", isolate}, manual(nil)...)
				l.Is("idle")
				l.resized(size)
				check(t, os.MkdirAll(filepath.Join(l.home.Workspace, folder), 0o755))
				for i, call := range []modelapi.Block{
					modelapi.Tool("Bash", map[string]any{"command": "touch " + folder + "/ファイル.txt", "description": "ファイルを作る"}),
					modelapi.Tool("Bash", map[string]any{"command": "echo 日本語のコマンドはとても長いのでこの行には入りきりません && touch " + folder + "/二つ目のファイル.txt", "description": "とても長い説明文なのでこの行には入りきらないと思いますがどうでしょうか、もっと長くしてみましょう"}),
					modelapi.Tool("Write", map[string]any{"file_path": filepath.Join(l.home.Workspace, folder, "新しいファイル.txt"), "content": "これは日本語の文章です。とても長い行なので、この端末の幅には入りきらないはずです。もう少し書いておきましょう。\n二行目\n"}),
				} {
					what := fmt.Sprint("日本語", i)
					l.calls(what, call)
					l.PromptUntil("answered by "+channel, func(p testbed.Shown) bool { return p.Channel == channel && p.OnScreen && p.Ready })
					l.Respond(channel, "accepted", "accept")
					l.See("done " + what)
					l.Is("idle")
				}
			})
		}
	}
}
