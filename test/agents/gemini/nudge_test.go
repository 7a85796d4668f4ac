//go:build agents

package gemini

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const shield = "\u2060"

// TestNudges gives messages of all kinds. Each arrives once, exactly, and with a
// true verdict.
func TestNudges(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	check(t, os.WriteFile(filepath.Join(l.home.Workspace, "notes.txt"), []byte("secret notes\n"), 0o600))
	deep := filepath.Join(l.home.Workspace, "some", "where")
	check(t, os.MkdirAll(deep, 0o700))
	check(t, os.WriteFile(filepath.Join(deep, "of.example.org.txt"), []byte("secret notes\n"), 0o600))
	for _, c := range [][2]string{
		{"fix the login bug", ""},
		{"x", ""},
		{"!touch ran.txt", shield + "!touch ran.txt"},
		{"/help", shield + "/help"},
		{" /clear", shield + " /clear"},
		{"exit", shield + "exit"},
		{"quit", shield + "quit"},
		{"?", shield + "?"},
		{"@notes.txt", "@" + shield + "notes.txt"},
		{"read @notes.txt now", "read @" + shield + "notes.txt now"},
		{"ping @no", "ping @" + shield + "no"},
		{"mail a@notes.txt now", "mail a@" + shield + "notes.txt now"},
		{"mail a@b.example", "mail a@" + shield + "b.example"},
		{"mail bob@example.org now", "mail bob@" + shield + "example.org now"},         // which is in the name of a file, deep down
		{"@codebase_investigator, look", "@" + shield + "codebase_investigator, look"}, // an agent of Gemini's
		{"an @, an (@) and an @.", ""},
		{`as \\@notes.txt says`, `as \\@notes.txt says`},
		{"./notes.txt", shield + "./notes.txt"}, // a paste of it would be a file dropped on the terminal
		{"'./notes.txt' ./sample.txt", shield + "'./notes.txt' ./sample.txt"},
		{"two\nlines", ""},
		{"three\n\nlines", ""},
		{"a\nb\nc\nd\ne", ""},
		{"first\n/second\n!third\nexit", ""},
		{"tab\there", ""},
		{"trailing blanks  \n\n", "trailing blanks"},
		{"e\u0301te\u0301", ""},
		{"an ESC \x1b[201~\r!touch ran.txt", "an ESC [201~\n!touch ran.txt"},
		{"修复登录错误，然后运行测试。", ""},
		{"日本語のメッセージ\nと二行目", ""},
		{"emoji 👨‍👩‍👧 🇩🇪 👍🏽 done", ""},
		{"don't \"quote\" $HOME `x` \\ * ~", ""},
		{strings.Repeat("word ", 60) + "end", ""},
		{strings.Repeat("漢", 300), ""},
		{strings.TrimSpace(strings.Repeat("a line of text\n", 40)), ""},
		{strings.Repeat("0123456789", 100), ""},
		{strings.Repeat("0123456789", 1000), ""},
		{strings.TrimSpace(strings.Repeat("a line of a long message, with words in it\n", 240)), ""},
	} {
		arrives := c[1]
		if arrives == "" {
			arrives = c[0]
		}
		l.confirmed(c[0], arrives)
		if t.Failed() {
			return
		}
	}
	if l.Made("ran.txt") {
		t.Error("a message ran as a command")
	}
	for _, r := range l.API.Requests() {
		if strings.Contains(string(r.Body), "secret notes") || strings.Contains(string(r.Body), "has explicitly selected the following agent") {
			t.Fatal("a file was attached, or an agent chosen")
		}
	}
}
