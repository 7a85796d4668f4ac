//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Phrases of the dialogs, each at the bottom of the screen while it is open.
const (
	cancel   = "Esc to cancel"
	proceed  = `Do you want to proceed\?`
	stopped  = `Interrupted · What should Claude do instead\?`
	planning = `Would you like to proceed\?`
)

// made says whether the program has made a file in its workspace.
func (l *lab) made(name string) bool {
	_, err := os.Stat(filepath.Join(l.home.Workspace, name))
	return err == nil
}

// TestPermission answers a command's dialog in each way.
func TestPermission(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: bash touch one.txt && echo ran-one")
	l.see("Bash command", "touch one.txt && echo ran-one", proceed, `❯ 1\. Yes`, `2\. Yes, and`, `\d\. No`, cancel)
	l.key("1")
	l.see("● The command finished.")
	l.ready()
	if !l.made("one.txt") {
		t.Error("allowed with 1, and it did not run")
	}

	l.send("MOCK: bash touch three.txt")
	l.see("touch three.txt", proceed)
	l.key(l.option("No"))
	l.gone(proceed)
	l.see(stopped, prompt)

	l.send("MOCK: bash touch escape.txt")
	l.see("touch escape.txt", proceed)
	l.key("Escape")
	l.gone(proceed)
	l.ready()
	if l.made("three.txt") || l.made("escape.txt") {
		t.Error("refused, and it ran")
	}

	// No with words: the turn goes on with them.
	message := "MOCK: bash touch feedback.txt"
	l.send(message)
	l.see("touch feedback.txt", proceed)
	l.goesTo("No")
	l.key("Tab")
	l.see("No, and tell Claude what to do differently")
	check(t, l.Type(l.ctx, "use another file"))
	l.see("use another file")
	l.key("Enter")
	r := l.asked(message, 1)
	if !strings.Contains(string(r.Body), "use another file") {
		t.Error("the words did not reach the model")
	}
	l.ready()

	l.send("MOCK: bash touch always.txt")
	l.see("touch always.txt", proceed, `2\. Yes, and`)
	l.key("2")
	l.asked("MOCK: bash touch always.txt", 1)
	if !l.made("always.txt") {
		t.Error("allowed with 2, and it did not run")
	}
}

// TestFilesAndPages answers the dialogs of the other tools.
func TestFilesAndPages(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: write hello.txt")
	l.see(`Do you want to create hello\.txt\?`, `❯ 1\. Yes`, `3\. No`, cancel)
	l.key("1")
	l.see("● The file is written.")
	if !l.made("hello.txt") {
		t.Error("allowed, and not written")
	}
	l.ready()

	l.send("MOCK: edit sample.txt")
	l.see(`Do you want to make this edit to sample\.txt\?`, "hello", "goodbye")
	l.key("1")
	l.see("● The file is edited.")
	if text, err := os.ReadFile(filepath.Join(l.home.Workspace, "sample.txt")); err != nil || string(text) != "goodbye\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	l.ready()

	l.send("MOCK: fetch")
	l.see(`Do you want to allow Claude to fetch this content\?|Do you want to`, "berth.invalid", `❯ 1\. Yes`)
	l.key("Escape")
	l.gone("Do you want to")
	l.ready()
}

// TestTwoInARow checks that one key answers one dialog.
func TestTwoInARow(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	for _, way := range []struct{ message, first, second string }{
		{"MOCK: bash2", "first.txt", "second.txt"}, {"MOCK: parallel", "p1.txt", "p2.txt"},
	} {
		l.send(way.message)
		l.see(way.first+" && echo", proceed, cancel)
		l.key("1")
		l.see(`^ +touch `+way.second, proceed, cancel)
		if !l.made(way.first) || l.made(way.second) {
			t.Errorf("%s: first %v, second %v after one answer", way.message, l.made(way.first), l.made(way.second))
		}
		l.key("Escape")
		l.gone(proceed)
		if l.made(way.second) {
			t.Error(way.message, "ran a command that was refused")
		}
		l.ready()
	}
}

// answered checks that the model got this text with the result of the turn's
// first tool.
func (l *lab) answered(message, want string) {
	l.t.Helper()
	r := l.asked(message, 1)
	if !strings.Contains(string(r.Body), want) {
		l.t.Errorf("the model did not get %q", want)
	}
	l.ready()
}

func TestQuestions(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: ask")
	l.see("Which color do you want", `❯ 1\. Red`, `2\. Green`, `3\. Blue`, `4\. Type something`, `5\. Chat about this`)
	l.key("2")
	l.answered("MOCK: ask", "Green")

	l.send("MOCK: ask own words")
	l.see("Which color do you want", `4\. Type something`)
	l.key("4")
	l.see(`❯ 4\.`) // a digit and text in one read would both be ignored
	check(t, l.Type(l.ctx, "a dark violet"))
	l.see("a dark violet")
	l.key("Enter")
	l.answered("MOCK: ask own words", "a dark violet")

	l.send("MOCK: ask-two")
	l.see("Which color do you want", "☐ Color", "☐ Size", "Submit")
	l.key("3")
	l.see("Which size do you want", `1\. Small`)
	l.key("1")
	l.see("Review your answers", `❯ 1\. Submit answers`, `2\. Cancel`)
	l.key("1")
	l.answered("MOCK: ask-two", "Blue")

	l.send("MOCK: ask-many")
	l.see("Which features do you want", "Logging", "Tracing")
	l.key("1")
	l.see(`\[✔\] Logging`)
	l.key("3")
	l.see(`\[✔\] Tracing`)
	l.key("Tab")
	l.see("Review your answers", `❯ 1\. Submit answers`)
	l.key("1")
	l.answered("MOCK: ask-many", "Logging, Tracing")

	l.send("MOCK: ask-layout")
	l.see("Which layout do you want", "Sidebar", "Topbar")
	l.key("2")
	l.see(`❯ 2\. Topbar`)
	l.key("Enter")
	l.answered("MOCK: ask-layout", "Topbar")

	l.send("MOCK: ask nothing")
	l.see("Which color do you want", cancel)
	l.key("Escape")
	l.gone("Type something")
	l.ready()
}

func TestPlan(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: plan")
	l.see("Claude has written up a plan", planning, `❯ 1\. Yes`, `2\. Yes, manually approve edits`, `3\. Tell Claude what to change`)
	l.key("Escape")
	l.gone(planning)
	l.see(prompt, "⏸ plan mode on")

	message := "MOCK: plan-now"
	l.send(message)
	l.see(planning, `3\. Tell Claude`)
	l.key("3")
	l.see(`❯ 3\.`) // a digit and text in one read would both be ignored
	check(t, l.Type(l.ctx, "use python"))
	l.see("use python")
	l.key("Enter")
	if r := l.asked(message, 2); !strings.Contains(string(r.Body), "use python") {
		t.Error("the words did not reach the model")
	}
	l.see("● The plan was answered.")
	l.see(prompt, "⏸ plan mode on")

	l.send("MOCK: plan-now again")
	l.see(planning, `2\. Yes, manually`)
	l.key("2")
	if r := l.asked("MOCK: plan-now again", 2); !strings.Contains(string(r.Body), "has approved your plan") {
		t.Error("the model was not told that the plan is approved")
	}
	l.gone(planning)
	l.gone("plan mode on")
}

// TestSubagents asks on behalf of a subagent.
func TestSubagents(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: agent MOCK: bash touch by-subagent.txt")
	l.see("Bash command · from the general-purpose agent", "touch by-subagent.txt", proceed)
	l.key("1")
	l.see("● The subagent is done.")
	// Newer versions do not wait for it.
	l.until(func() bool { return l.made("by-subagent.txt") }, func() string { return "allowed, and it did not run" })
}
