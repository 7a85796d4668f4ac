//go:build agents

package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// prompt sends a message and returns the prompt that it leads to, once its dialog is on the screen.
func prompt(l *testbed.Lab, channel, message string) testbed.Shown {
	l.T.Helper()
	if n := l.Nudge(message, "--takeover"); n.Status != 0 && (n.Error == nil || n.Error.Code != "UNCONFIRMED") {
		l.T.Fatalf("%s: %+v %+v", message, n, n.Error)
	}
	return l.PromptUntil("on the screen, answered by "+channel, func(p testbed.Shown) bool { return p.Channel == channel && p.Ready && p.OnScreen })
}

// TestAnswers gives each dialog each answer that it offers, through the plugin.
func TestAnswers(t *testing.T) {
	l := begin(t)
	for i, c := range []struct {
		message, kind, tool, outcome string
		answer                       []string
		made                         string // the file that the answer makes; with - in front, that it doesn't
		got                          string // what the model gets
	}{
		{"shell touch a1.txt", "permission", "bash", "accepted", []string{"accept"}, "a1.txt", ""},
		{"shell touch a2.txt", "permission", "bash", "accepted", []string{"option", "1"}, "a2.txt", ""},
		{"shell touch a3.txt", "permission", "bash", "denied", []string{"deny"}, "-a3.txt", ""},
		{"shell touch a4.txt", "permission", "bash", "denied", []string{"option", "3"}, "-a4.txt", ""},
		{"shell touch a5.txt", "permission", "bash", "denied", []string{"deny", "use make instead"}, "-a5.txt", "use make instead"},
		{"write w1.txt", "permission", "edit", "accepted", []string{"accept"}, "w1.txt", ""},
		{"write w2.txt", "permission", "edit", "denied", []string{"deny"}, "-w2.txt", ""},
		{"edit", "permission", "edit", "accepted", []string{"accept"}, "", ""},
		{"fetch", "permission", "webfetch", "denied", []string{"deny", "no network"}, "", "no network"},
		{"folder", "permission", "external_directory", "denied", []string{"deny"}, "", ""},
		{"ask", "question", "question", "answered", []string{"option", "2"}, "", "Green"},
		{"ask", "question", "question", "answered", []string{"text", "violet"}, "", "violet"},
		{"ask", "question", "question", "denied", []string{"deny"}, "", ""},
		{"ask-two", "question", "question", "answered", []string{"answer", "1=Blue", "2=Logging,Tracing"}, "", "Tracing"},
		{"ask-two", "question", "question", "denied", []string{"deny"}, "", ""},
		{"task MOCK: shell touch t1.txt", "permission", "bash", "accepted", []string{"accept"}, "t1.txt", ""},
		{"shell mkdir a6", "permission", "bash", "accepted", []string{"option", "2"}, "a6", ""},
	} {
		message := "MOCK: " + c.message
		if !strings.HasPrefix(c.message, "task") && strings.Count(c.message, " ") == 0 {
			message += fmt.Sprintf(" n%d.txt", i)
			message = strings.TrimSuffix(message, map[bool]string{true: fmt.Sprintf(" n%d.txt", i)}[c.message == "edit" || c.message == "fetch"])
		}
		p := prompt(l, "hook", message)
		if p.Type != c.kind || p.Tool != c.tool {
			t.Errorf("%s: it asks %+v", c.message, p)
		}
		l.Respond("hook", c.outcome, append([]string{"--prompt", p.ID}, c.answer...)...)
		if c.got != "" {
			l.ModelGot(message, c.got)
		}
		l.Is("idle")
		l.Refuses("STALE_PROMPT", "--prompt", p.ID, "accept")
		if name, not := strings.CutPrefix(c.made, "-"); c.made != "" && l.Made(name) == not {
			t.Errorf("%s: %s is made: %v", c.message, name, !not)
		}
	}
	l.Takes("MOCK: shell mkdir a7") // "Allow always" covers it
	l.Asked("MOCK: shell mkdir a7", 1)
	l.Is("idle")
	if !l.Made("a7") {
		t.Error("a7 was not made unasked")
	}
}

// TestKeysWithoutPlugin gives answers by keys, and never to another dialog.
func TestKeysWithoutPlugin(t *testing.T) {
	l := begin(t, "--isolate", "none")
	for _, c := range []struct {
		message, outcome string
		answer           []string
		made             string
	}{
		{"shell touch k1.txt", "accepted", []string{"accept"}, "k1.txt"},
		{"shell touch k2.txt", "denied", []string{"deny"}, "-k2.txt"},
		{"shell touch k3.txt", "denied", []string{"option", "3"}, "-k3.txt"},
		{"ask", "answered", []string{"option", "2"}, ""},
		{"ask", "denied", []string{"deny"}, ""},
	} {
		p := prompt(l, "keys", "MOCK: "+c.message)
		l.Respond("keys", c.outcome, append([]string{"--prompt", p.ID}, c.answer...)...)
		l.Is("idle")
		if name, not := strings.CutPrefix(c.made, "-"); c.made != "" && l.Made(name) == not {
			t.Errorf("%s: %s is made: %v", c.message, name, !not)
		}
	}
	// The second page of "Allow always" is a prompt of its own.
	p := prompt(l, "keys", "MOCK: shell touch k4.txt")
	l.Verb(&struct{}{}, "", "respond", l.Name, "--prompt", p.ID, "option", "2")
	page := l.PromptUntil("the second page", func(p testbed.Shown) bool { return p.Ready && p.OnScreen && p.Title == "Always allow" })
	if page.ID == p.ID || l.Made("k4.txt") {
		t.Fatalf("the second page is %+v", page)
	}
	l.Respond("keys", "answered", "--prompt", page.ID, "option", "1")
	l.Is("idle")
	if !l.Made("k4.txt") {
		t.Error("k4.txt was not made")
	}
}

// TestNudges sends 100 messages of 1 byte to 10 KB. Each arrives once and exactly.
func TestNudges(t *testing.T) {
	l := begin(t)
	words := "the quick brown fox jumps over the lazy dog 漢字 and 修复 "
	for i := range 100 {
		size := 1 + i*i*10240/(99*99)
		text := fmt.Sprintf("%d %s", i, strings.Repeat(words, size/len(words)+1))
		text = strings.TrimSpace(strings.ToValidUTF8(text[:max(size, len(fmt.Sprint(i)))], ""))
		if i%3 == 1 {
			text = strings.ReplaceAll(text, "dog ", "dog\n")
		}
		text = strings.TrimSpace(text)
		l.Confirmed(text, text)
		if t.Failed() {
			return
		}
	}
}

// TestOffsets sends a nudge at 40 times around a dialog's appearance, or at 200 with BERTH_SOAK=5. None answers it.
func TestOffsets(t *testing.T) {
	l := begin(t)
	for i := range 40 * host.Soak() {
		file := fmt.Sprintf("o%d.txt", i)
		l.Takes("MOCK: shell touch " + file)
		time.Sleep(time.Duration(i) * 400 * time.Millisecond / time.Duration(40*host.Soak())) // the offset itself is what is tried
		if n := l.Nudge("a stray message"); n.Status == 0 {
			t.Fatalf("%d: a nudge was taken into a turn: %+v", i, n)
		}
		l.PromptUntil("on the screen", func(p testbed.Shown) bool { return p.Ready && p.OnScreen })
		if l.Made(file) {
			t.Fatalf("%d: the dialog was answered", i)
		}
		l.Respond("hook", "denied", "deny")
		l.Is("idle")
	}
	if n := l.API.Arrivals("a stray message"); n != 0 {
		t.Errorf("%d stray messages arrived", n)
	}
}

// TestCallsOfOneID: the commands of two subagents have one id, as some models give it. Each prompt has the folder of its own.
func TestCallsOfOneID(t *testing.T) {
	l := begin(t)
	folders := []string{"one", "two"}
	for _, folder := range folders {
		testbed.Check(t, os.Mkdir(filepath.Join(l.Workspace, folder), 0o755))
	}
	last := prompt(l, "hook", "MOCK: tasks")
	for i := range folders {
		if i > 0 {
			last = l.PromptUntil("the other one's", func(p testbed.Shown) bool { return p.ID != last.ID && p.Ready && p.OnScreen })
		}
		at := slices.IndexFunc(folders, func(folder string) bool { return strings.Contains(last.Text, `workdir: "`+folder+`"`) })
		if at < 0 || l.Made(filepath.Join(folders[at], "listed.txt")) {
			t.Fatalf("it asks %+v", last)
		}
		l.Respond("hook", "accepted", "--prompt", last.ID, "accept")
		l.Poll(func() bool { return l.Made(filepath.Join(folders[at], "listed.txt")) }, func() string { return "nothing ran in " + folders[at] })
		if other := folders[1-at]; i == 0 && l.Made(filepath.Join(other, "listed.txt")) {
			t.Errorf("the answer for %s allowed %s", folders[at], other)
		}
	}
	l.Is("idle")
}

// TestSeveralOfOneID: a step writes one file and reads another, by calls of one id. opencode doesn't say which one it asks about, so each
// of the two prompts names both, and each answer allows one call.
func TestSeveralOfOneID(t *testing.T) {
	l := begin(t, "--env", `OPENCODE_CONFIG_CONTENT={"permission":{"edit":"allow"}}`)
	dir, err := os.MkdirTemp("/var/tmp", "berth-beside-")
	testbed.Check(t, err)
	t.Cleanup(func() { testbed.Check(t, os.RemoveAll(dir)) })
	notes, written := filepath.Join(dir, "notes.txt"), filepath.Join(dir, "written.txt")
	testbed.Check(t, os.WriteFile(notes, []byte("notes\n"), 0o644))
	writes := modelapi.Tool("write", map[string]any{"filePath": written, "content": "text\n"})
	reads := modelapi.Tool("read", map[string]any{"filePath": notes})
	writes.ID, reads.ID = "functions.x:0", "functions.x:0"
	l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(writes, reads), modelapi.Say(reads), modelapi.Say(modelapi.Text("Finished."))}})
	last := testbed.Shown{}
	for i := range 3 {
		if i == 0 {
			last = prompt(l, "hook", "please go")
		} else {
			last = l.PromptUntil("the next one", func(p testbed.Shown) bool { return p.ID != last.ID && p.Ready && p.OnScreen })
		}
		if both := i < 2; !strings.Contains(last.Text, notes) || strings.Contains(last.Text, "one of these calls") != both || strings.Contains(last.Text, written) != both {
			t.Errorf("prompt %d asks %+v", i, last)
		}
		l.Respond("hook", "accepted", "--prompt", last.ID, "accept")
	}
	l.Is("idle")
	if _, err := os.Stat(written); err != nil {
		t.Error(err)
	}
}

// TestReplacedFile: a patch that adds or moves a file replaces one that is there, and its diff doesn't say so. The prompt does.
func TestReplacedFile(t *testing.T) {
	const conf = `{"model":"mock/gpt-5-mock","provider":{"mock":{"models":{"gpt-5-mock":{"name":"Mock","tool_call":true,"limit":{"context":128000,"output":4096}}}}}}`
	l := begin(t, "--env", "OPENCODE_CONFIG_CONTENT="+conf) // which has this tool
	for _, name := range []string{"keep.txt", "moved.txt"} {
		testbed.Check(t, os.WriteFile(filepath.Join(l.Workspace, name), []byte("old\n"), 0o644))
	}
	for _, head := range []string{"*** Add File: keep.txt\n", "*** Update File: moved.txt\n*** Move to: keep.txt\n@@\n-old\n"} {
		patch := modelapi.Tool("apply_patch", map[string]any{"patchText": "*** Begin Patch\n" + head + "+new\n*** End Patch"})
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(patch), modelapi.Say(modelapi.Text("Finished."))}})
		p := prompt(l, "hook", "please go: "+head[:9])
		if !strings.HasSuffix(p.Text, "\nA file that is added or moved replaces one that is there.") {
			t.Errorf("it asks %+v", p)
		}
		l.Respond("hook", "accepted", "--prompt", p.ID, "accept")
		l.Is("idle")
	}
	if text, err := os.ReadFile(filepath.Join(l.Workspace, "keep.txt")); string(text) != "new\n" || l.Made("moved.txt") {
		t.Errorf("keep.txt has %q, %v", text, err)
	}
}

// TestLink: an edit of a link changes the file that it leads to, which the dialog doesn't draw. The prompt does.
func TestLink(t *testing.T) {
	l := begin(t)
	target := filepath.Join(t.TempDir(), "target.txt")
	testbed.Check(t, os.Symlink(target, filepath.Join(l.Workspace, "link.txt")))
	for _, says := range []string{"is a link to ", ""} {
		writes := modelapi.Tool("write", map[string]any{"filePath": filepath.Join(l.Workspace, map[bool]string{true: "link.txt", false: "plain.txt"}[says != ""]), "content": "new\n"})
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{modelapi.Say(writes), modelapi.Say(modelapi.Text("Finished."))}})
		p := prompt(l, "hook", "please write: "+says)
		if strings.Contains(p.Text, "link") != (says != "") || says != "" && !strings.HasSuffix(p.Text, says+`"`+target+`".`) {
			t.Errorf("it asks %+v", p)
		}
		l.Respond("hook", "accepted", "--prompt", p.ID, "accept")
		l.Is("idle")
	}
	if text, err := os.ReadFile(target); string(text) != "new\n" {
		t.Errorf("the link's target has %q, %v", text, err)
	}
}
