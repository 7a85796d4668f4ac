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

// TestPermission answers a command's dialog in each way.
func TestPermission(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: bash touch one.txt && echo ran-one")
	l.See("Bash command", "touch one.txt && echo ran-one", proceed, `❯ 1\. Yes`, `2\. Yes, and`, `\d\. No`, cancel)
	l.key("1")
	l.See("● The command finished.")
	l.ready()
	if !l.Made("one.txt") {
		t.Error("allowed with 1, and it did not run")
	}

	l.send("MOCK: bash touch three.txt")
	l.See("touch three.txt", proceed)
	l.key(l.option("No"))
	l.Gone(proceed)
	l.See(stopped, prompt)

	l.send("MOCK: bash touch escape.txt")
	l.See("touch escape.txt", proceed)
	l.key("Escape")
	l.Gone(proceed)
	l.ready()
	if l.Made("three.txt") || l.Made("escape.txt") {
		t.Error("refused, and it ran")
	}

	// No with words: the turn goes on with them.
	message := "MOCK: bash touch feedback.txt"
	l.send(message)
	l.See("touch feedback.txt", proceed)
	l.goesTo("No")
	l.key("Tab")
	l.See("No, and tell Claude what to do differently")
	check(t, l.Type(l.Ctx, "use another file"))
	l.See("use another file")
	l.key("Enter")
	r := l.Asked(message, 1)
	if !strings.Contains(string(r.Body), "use another file") {
		t.Error("the words did not reach the model")
	}
	l.ready()

	l.send("MOCK: bash touch always.txt")
	l.See("touch always.txt", proceed, `2\. Yes, and`)
	l.key("2")
	l.Asked("MOCK: bash touch always.txt", 1)
	if !l.Made("always.txt") {
		t.Error("allowed with 2, and it did not run")
	}
}

// TestFilesAndPages answers the dialogs of the other tools.
func TestFilesAndPages(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: write hello.txt")
	l.See(`Do you want to create hello\.txt\?`, `❯ 1\. Yes`, `3\. No`, cancel)
	l.key("1")
	l.See("● The file is written.")
	if !l.Made("hello.txt") {
		t.Error("allowed, and not written")
	}
	l.ready()

	l.send("MOCK: edit sample.txt")
	l.See(`Do you want to make this edit to sample\.txt\?`, "hello", "goodbye")
	l.key("1")
	l.See("● The file is edited.")
	if text, err := os.ReadFile(filepath.Join(l.home.Workspace, "sample.txt")); err != nil || string(text) != "goodbye\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	l.ready()

	l.send("MOCK: fetch")
	l.See(`Do you want to allow Claude to fetch this content\?|Do you want to`, "berth.invalid", `❯ 1\. Yes`)
	l.key("Escape")
	l.Gone("Do you want to")
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
		l.See(way.first+" && echo", proceed, cancel)
		l.key("1")
		l.See(`^ +touch `+way.second, proceed, cancel)
		if !l.Made(way.first) || l.Made(way.second) {
			t.Errorf("%s: first %v, second %v after one answer", way.message, l.Made(way.first), l.Made(way.second))
		}
		l.key("Escape")
		l.Gone(proceed)
		if l.Made(way.second) {
			t.Error(way.message, "ran a command that was refused")
		}
		l.ready()
	}
}

// answered checks that the model got this text with the result of the turn's
// first tool.
func (l *lab) answered(message, want string) {
	l.T.Helper()
	r := l.Asked(message, 1)
	if !strings.Contains(string(r.Body), want) {
		l.T.Errorf("the model did not get %q", want)
	}
	l.ready()
}

func TestQuestions(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: ask")
	l.See("Which color do you want", `❯ 1\. Red`, `2\. Green`, `3\. Blue`, `4\. Type something`, `5\. Chat about this`)
	l.key("2")
	l.answered("MOCK: ask", "Green")

	l.send("MOCK: ask own words")
	l.See("Which color do you want", `4\. Type something`)
	l.key("4")
	l.See(`❯ 4\.`) // Claude Code would ignore a digit and text in one read
	check(t, l.Type(l.Ctx, "a dark violet"))
	l.See("a dark violet")
	l.key("Enter")
	l.answered("MOCK: ask own words", "a dark violet")

	l.send("MOCK: ask-two")
	l.See("Which color do you want", "☐ Color", "☐ Size", "Submit")
	l.key("3")
	l.See("Which size do you want", `1\. Small`)
	l.key("1")
	l.See("Review your answers", `❯ 1\. Submit answers`, `2\. Cancel`)
	l.key("1")
	l.answered("MOCK: ask-two", "Blue")

	l.send("MOCK: ask-many")
	l.See("Which features do you want", "Logging", "Tracing")
	l.key("1")
	l.See(`\[✔\] Logging`)
	l.key("3")
	l.See(`\[✔\] Tracing`)
	l.key("Tab")
	l.See("Review your answers", `❯ 1\. Submit answers`)
	l.key("1")
	l.answered("MOCK: ask-many", "Logging, Tracing")

	l.send("MOCK: ask-layout")
	l.See("Which layout do you want", "Sidebar", "Topbar")
	l.key("2")
	l.See(`❯ 2\. Topbar`)
	l.key("Enter")
	l.answered("MOCK: ask-layout", "Topbar")

	l.send("MOCK: ask nothing")
	l.See("Which color do you want", cancel)
	l.key("Escape")
	l.Gone("Type something")
	l.ready()
}

func TestPlan(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()

	l.send("MOCK: plan")
	l.See("Claude has written up a plan", planning, `❯ 1\. Yes`, `2\. Yes, manually approve edits`, `3\. Tell Claude what to change`)
	l.key("Escape")
	l.Gone(planning)
	l.See(prompt, "⏸ plan mode on")

	message := "MOCK: plan-now"
	l.send(message)
	l.See(planning, `3\. Tell Claude`)
	l.key("3")
	l.See(`❯ 3\.`) // Claude Code would ignore a digit and text in one read
	check(t, l.Type(l.Ctx, "use python"))
	l.See("use python")
	l.key("Enter")
	if r := l.Asked(message, 2); !strings.Contains(string(r.Body), "use python") {
		t.Error("the words did not reach the model")
	}
	l.See("● The plan was answered.")
	l.See(prompt, "⏸ plan mode on")

	l.send("MOCK: plan-now again")
	l.See(planning, `2\. Yes, manually`)
	l.key("2")
	if r := l.Asked("MOCK: plan-now again", 2); !strings.Contains(string(r.Body), "has approved your plan") {
		t.Error("the request to the model does not say that the plan is approved")
	}
	l.Gone(planning)
	l.Gone("plan mode on")
}

// TestSubagents asks on behalf of a subagent.
func TestSubagents(t *testing.T) {
	l := newLab(t, Ready())
	l.ready()
	l.send("MOCK: agent MOCK: bash touch by-subagent.txt")
	l.See("Bash command · from the general-purpose agent", "touch by-subagent.txt", proceed)
	l.key("1")
	l.See("● The subagent is done.")
	// Newer versions do not wait for it.
	l.Poll(func() bool { return l.Made("by-subagent.txt") }, func() string { return "allowed, and it did not run" })
}
