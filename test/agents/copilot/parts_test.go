//go:build agents

package copilot

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// calls has the model make the call, and waits for a prompt whose text ends with says.
func (l *lab) calls(call modelapi.Block, says string) testbed.Shown {
	l.T.Helper()
	l.Is("idle")
	l.See(rests)
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(call), modelapi.Say(modelapi.Text("Finished."))}})
	l.Takes(fmt.Sprintf("please do %x", sha256.Sum256([]byte(says))))
	return l.PromptUntil("that says "+says, func(p testbed.Shown) bool { // at its end, or before what it says of earlier calls
		return p.Ready && p.OnScreen && (strings.HasSuffix(p.Text, says) || strings.Contains(p.Text, says+"\n\nThe dialog may be "))
	})
}

// TestPart: Copilot's dialogs about paths outside the folder, and about addresses, draw no command. The prompt's text has it.
func TestPart(t *testing.T) {
	l := newLab(t, Ready())
	dir, err := os.MkdirTemp("/var/tmp", "berth")
	check(t, err)
	defer os.RemoveAll(dir)
	bash := func(command string) modelapi.Block {
		return modelapi.Tool("bash", map[string]any{"command": command, "description": "Looks at it", "mode": "async", "detach": true})
	}
	part := func(command, quoted, title string) testbed.Shown {
		p := l.calls(bash(command), "╯\n\ncommand: "+quoted+"\ndetach: true\nmode: \"async\"")
		if p.Title != title {
			t.Errorf("it asks %+v", p)
		}
		return p
	}
	p := part("cat "+dir+"/w\u200b.txt", `"cat `+dir+`/w\u200b.txt"`, "Do you want to allow this?")
	l.Respond("keys", "denied", "--prompt", p.ID, "deny")
	p = part("curl -sS -d @secret http://127.0.0.1:9/x", `"curl -sS -d @secret http://127.0.0.1:9/x"`, "Do you want to allow this access?")
	l.Respond("keys", "denied", "--prompt", p.ID, "deny")
	p = part("touch "+dir+"/made", `"touch `+dir+`/made"`, "Do you want to allow this?")
	l.Respond("keys", "accepted", "--prompt", p.ID, "accept")
	p = l.PromptUntil("the command's", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Input == "touch "+dir+"/made" })
	if p.Text != "Looks at it\n\ndetach: true\nmode: \"async\"" {
		t.Errorf("it asks %+v", p)
	}
	l.Respond("keys", "denied", "--prompt", p.ID, "deny")
}

// TestPartWithoutItsLog: another process keeps Copilot's log from Berth, so a dialog about a path is a part of a call that isn't known.
func TestPartWithoutItsLog(t *testing.T) {
	l := newLab(t, Ready())
	dir, err := os.MkdirTemp("/var/tmp", "berth")
	check(t, err)
	defer os.RemoveAll(dir)
	touches := func(name string) modelapi.Block {
		return modelapi.Tool("bash", map[string]any{"command": "touch " + dir + "/" + name + "; touch evil", "description": "Looks at it"})
	}
	p := l.calls(touches("first"), `command: "touch `+dir+`/first; touch evil"`)
	l.Respond("keys", "denied", "--prompt", p.ID, "deny")
	l.Is("idle")
	logs, err := filepath.Glob(filepath.Join(l.home.Files, "session-state", "*", "events.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	check(t, os.Rename(logs[0], logs[0]+".old"))
	check(t, os.Symlink("/dev/null", logs[0]))
	p = l.calls(touches("made"), "╯")
	if status := l.Verb(&map[string]any{}, "", "respond", l.Name, "--prompt", p.ID, "accept"); status == 0 || p.Input != dir+"/made" {
		t.Errorf("accept: %d at %+v", status, p)
	}
	l.Respond("keys", "accepted", "--prompt", p.ID, "--unseen", "accept")
}

// TestMovedFile: the dialog of a patch that moves a file names only where the file goes. The prompt's text has where it was, and that one there is replaced, also of a file
// that isn't UTF-8, or whose permission is longer than a line that Berth reads.
func TestMovedFile(t *testing.T) {
	l := prepare(t, Ready())
	l.start("lab", "--env", "COPILOT_MODEL=gpt-5.1-codex") // which has this tool
	for name, c := range map[string]struct{ text, from string }{
		"sample.txt": {"hello\nworld\n", `"` + filepath.Join(l.Workspace, "sample.txt") + `"`},
		"bytes.txt":  {"hello\nworld\n\xff\xfe\n", `"` + filepath.Join(l.Workspace, "bytes.txt") + `"`},
		"large.txt":  {"hello\nworld\n" + strings.Repeat("some more text\n", 30_000), `["large.txt"]`},
	} {
		check(t, os.WriteFile(filepath.Join(l.Workspace, name), []byte(c.text), 0o644))
		patch := "*** Begin Patch\n*** Update File: " + name + "\n*** Move to: moved-" + name + "\n@@\n-hello\n+hello there\n world\n*** End Patch"
		p := l.calls(modelapi.Tool("apply_patch", map[string]any{"input": patch}), "movedFrom: "+c.from+"\nA file that is moved replaces one that is there.")
		if p.Title != "Do you want to move and update "+filepath.Join(l.Workspace, "moved-"+name)+"?" {
			t.Errorf("it asks %+v", p)
		}
		l.Respond("keys", "accepted", "--prompt", p.ID, "--unseen", "accept") // a part, after the line that wasn't read
		l.Is("idle")
	}
}
