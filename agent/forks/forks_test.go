package forks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/forks"
)

// TestFits: an answer chooses options that the question has, and several or a text beside them only where it takes that.
func TestFits(t *testing.T) {
	for _, one := range []struct {
		pick agent.QuestionPick
		want string // which questions take it
	}{
		{agent.QuestionPick{Options: []int{2}}, "one several"},
		{agent.QuestionPick{Text: "words"}, "one several"},
		{agent.QuestionPick{Options: []int{1, 2}}, "several"},
		{agent.QuestionPick{Options: []int{1}, Text: "words"}, "several"},
		{agent.QuestionPick{Options: []int{3}}, ""},
		{agent.QuestionPick{Options: []int{0}}, ""},
	} {
		var took []string
		for _, name := range []string{"one", "several"} {
			q := &agent.Question{Options: []string{"a", "b"}, MultiSelect: name == "several"}
			switch err := forks.Fits(q, one.pick); {
			case err == nil:
				took = append(took, name)
			case !errors.Is(err, agent.ErrAnswer):
				t.Errorf("%+v: %v", one.pick, err)
			}
		}
		if got := strings.Join(took, " "); got != one.want {
			t.Errorf("%+v: taken by %q, want %q", one.pick, got, one.want)
		}
	}
}

// TestChoice: the option that opens an editor is never chosen, also when its label is cut.
func TestChoice(t *testing.T) {
	d := &agent.Dialog{Options: []agent.Option{{Number: 1, Label: "Yes"}, {Number: 2, Label: "Modify with external editor"}, {Number: 3, Label: "Modify with ext…"}, {Number: 4, Label: "No…"}}}
	var got []string
	for n := range d.Options {
		k, err := forks.Choice(agent.Answer{Kind: agent.ChooseOption, Option: n + 1}, d, 1, 4)
		got = append(got, fmt.Sprint(len(k.Steps), errors.Is(err, agent.ErrCannot)))
	}
	if want := "1 false 0 true 0 true 1 false"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFailed: the error that ends the conversation, with the rows that it continues in.
func TestFailed(t *testing.T) {
	rows := strings.Split("reply/✕ old/reply/✕ an error/  of two rows/text", "/")
	over := func(row int) bool { return rows[row] == "reply" }
	for n, want := range map[int]string{6: "an error of two rows", 4: "an error", 3: "", 0: ""} {
		if got := forks.Failed(rows[:n], "✕ ", over); got != want {
			t.Errorf("%d rows: %q, want %q", n, got, want)
		}
	}
}

// TestDrawsPath: a path is drawn from any folder on, shortened, and broken anywhere. A name is whole, and no other text counts.
func TestDrawsPath(t *testing.T) {
	for head, want := range map[string]bool{
		"WriteFile Writing to a/b/c.go":         true,
		"WriteFile Writing to b/c.go":           true,
		"WriteFile Writing to c.go":             true,
		"WriteFile Writing\n  to c.go":          true,
		"WriteFile Writing to x/.../b/c.go":     true,
		"WriteFile Writing to x/.../c.go":       true,
		"WriteFile Writing to /w/a/b/\n  c.go":  true,
		"WriteFile Writing to a/b/c.\n  go":     true,
		"WriteFile Writing to /w/a/x...y/c.go":  true,
		"Edit c.go: old => new":                 true,
		"Edit b/c.go:\n  old => new":            true,
		"Edit Create c.go":                      true,
		"Edit No file changes to c.go":          true,
		"WriteFile Writing to a/other/c.go":     false,
		"WriteFile Writing to x/.../other/c.go": false,
		"WriteFile Writing to a/b/d.go":         false,
		"WriteFile Writing to a/b/xc.go":        false,
		"WriteFile Writing to a/b/c.go2":        false,
		"WriteFile Writing to xb/c.go":          false,
		"WriteFile Writing to /v/w/a/b/c.go":    false,
		"Edit d.go: old => c.go":                false,
		"Edit d.go: ../c.go: x":                 false,
		"Edit d.go c.go":                        false,
		"":                                      false,
	} {
		if got := forks.DrawsPath(forks.HeadFile(head), "/w/a/b/c.go"); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
	for question, want := range map[string]bool{
		"Do you want to edit /srv/ws/c.go?": true, "Do you want to create /srv/\nws/c.\ngo?": true, "Do you want to edit /srv/ws/ed?": false,
		"Do you want to edit /srv/other/c.go?": false, "Do you want to read /srv/ws/c.go?": false, "Do you want to edit": false,
	} {
		if got := forks.DrawsPath(forks.AskedFile(question), "/srv/ws/c.go"); got != want {
			t.Errorf("%q: %v", question, got)
		}
	}
	for file, want := range map[string]bool{"c.go": true, "ws/c.go": true, "s/c.go": false, "other/c.go": false, "/c.go": false, "go": false, "c..go": false} {
		if got := forks.DrawsPath("/srv/ws/c.go", file); got != want {
			t.Errorf("a call for %q: %v", file, got)
		}
	}
	for _, file := range []string{"/w/\x1b[1mother/c.go", "/w/x/../other/c.go", "/w/x\u200b/c.go", "/w/other/e\u0301.go"} {
		if !forks.DrawsPath("/w/other/c.go", file) {
			t.Errorf("%q isn't drawn", file)
		}
	}
}

// TestPatchHas: a question is about a patch if it has the verb and the path of the only file that the patch changes.
func TestPatchHas(t *testing.T) {
	const a, moves = "*** Update File: /srv/ws/a.txt", "*** Update File: a.txt\n*** Move to: doc/b.txt"
	for _, c := range []struct {
		patch, question string
		want            bool
	}{
		{a, "Do you want to update /srv/ws/a.txt?", true},
		{a + "\r", "Do you want to edit /srv/ws/\na.txt?", true},
		{"*** Update File: a.txt", "Do you want to update /srv/ws/a.txt?", true},
		{"*** Add File: doc/a b.txt", "Do you want to create /srv/ws/doc/a\nb.txt?", true},
		{"*** Delete File: a.txt", "Do you want to delete /srv/ws/a.txt?", true},
		{moves, "Do you want to move and update /srv/ws/doc/b.txt?", true},
		{a, "Do you want to read /srv/ws/a.txt?", false},
		{a, "Do you want to update /srv/ws/a.txt", false},
		{a, "Do you want to update a.txt?", false},
		{a, "Do you want to update /srv/ws/other/a.txt?", false},
		{"*** Update File: a.txt", "Do you want to update /srv/ws/data.txt?", false},
		{"*** Update File: /etc/cron/a.txt", "Do you want to update /srv/ws/a.txt?", false},
		{"*** Delete File: a.txt", "Do you want to update /srv/ws/a.txt?", false},
		{moves, "Do you want to update /srv/ws/a.txt?", false},
		{moves, "Do you want to move and update /srv/ws/a.txt?", false},
		{"*** Update File: c.txt\n@@\n+# see /srv/ws/a.txt", "Do you want to update /srv/ws/a.txt?", false},
		{"*** Update File: c.txt\n@@\n *** Update File: /srv/ws/a.txt", "Do you want to update /srv/ws/a.txt?", false},
		{"*** Update File: c.txt\n@@\n-x\n*** Move to: a.txt", "Do you want to move and update /srv/ws/a.txt?", false},
		{"*** Update File: c.txt\n@@\n+*** Update File: c.txt\n*** Move to: a.txt", "Do you want to move and update /srv/ws/a.txt?", false},
		{a + "\n@@\n+x\n*** Update File: c.txt", "Do you want to update /srv/ws/a.txt?", false},
		{"*** Update File: c.txt\n@@\n+x\n" + a, "Do you want to update /srv/ws/a.txt?", false},
		{"@@", "Do you want to update /srv/ws/a.txt?", false},
	} {
		input, err := json.Marshal("*** Begin Patch\n" + c.patch + "\n@@\n-a\n+b\n*** End Patch")
		if err != nil {
			t.Fatal(err)
		}
		if got := forks.PatchHas(input, c.question); got != c.want {
			t.Errorf("%q about %q: %v", c.question, c.patch, got)
		}
	}
	if forks.PatchHas([]byte(`{"patch":"`+a+`"}`), "Do you want to update /srv/ws/a.txt?") {
		t.Error("an input that isn't a patch")
	}
}

// TestLongPath: a path that has no room in a dialog is shown whole.
func TestLongPath(t *testing.T) {
	tools := forks.Files("edit", "").LeavingOut(20, false)
	for file, want := range map[string]string{
		"/w/folder/another/a.go":      "",
		"/w/folder/another/long.go":   `file_path: "/w/folder/another/long.go"`,
		"/x/folder/another/a.go":      `file_path: "/x/folder/another/a.go"`,
		"folder/another/name.go":      `file_path: "folder/another/name.go"`,
		"/w/folder/another/ab\u200bx": `file_path: "/w/folder/another/ab\u200bx"`,
	} {
		if got := tools.LongPath(file, "/w"); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// TestUsedPath: a call's path may be another one than the file that it changes.
func TestUsedPath(t *testing.T) {
	tools := forks.Files("edit", "").LeavingOut(20, false).Escaping()
	for called, used := range map[string]string{
		`/w/a b`:            "",
		`/w/a\b`:            "",
		`/w/a\ b`:           `/w/a b`,
		"/w/\\$x\\\\;":      `/w/$x\;`,
		" /w/a\n\ufeff":     "/w/a",
		"/w/a\u0085":        "",
		"/w/.env\\\u00a0":   `/w/.env\`,
		`/w/\[id\]/x.ts`:    `/w/[id]/x.ts`,
		`/w/long\,/er.file`: `/w/long,/er.file`,
	} {
		want := ""
		if used != "" {
			want = "file_path: " + forks.Quoted(used)
		} else {
			used = called
		}
		if got := tools.Used(called); got != used {
			t.Errorf("%q: %q is used, want %q", called, got, used)
		}
		if got := tools.LongPath(called, "/w"); got != want {
			t.Errorf("%q: the line is %q, want %q", called, got, want)
		}
	}
}

// TestOldName: a file that is new had no name before, however its diff says so.
func TestOldName(t *testing.T) {
	for diff, want := range map[string]string{
		"\ndiff\n--- a/w/old.txt\n+++ b/w/new.txt\n": "/w/old.txt", "\ndiff\n--- a/dev/null\n+++ b/w/new.txt\n": "", "\n@@ -1 +1 @@\n": "",
	} {
		if got := forks.OldName(diff); got != want {
			t.Errorf("of %q: %q", diff, got)
		}
	}
}

// TestLinesEnd: a change says that its lines may get the CRs of the file's where that changes what the file does.
func TestLinesEnd(t *testing.T) {
	for _, c := range []struct {
		file, text string
		says       bool
	}{
		{"/w/a.go", "x\ny\n", false}, {"/w/a.go", "x \\\ny", true}, {"/w/a.sh", "exit", true}, {"/w/run", "exit", true}, {"/w/.env", "A=1", true},
		{"/w/a.go", "#!/bin/sh", true}, {"/w/a.txt", "cat <<EOF\n", true}, {"/w/a.sh", "", false},
	} {
		if got := forks.LinesEnd(c.file, c.text); (got != "") != c.says {
			t.Errorf("%s: %q: %q", c.file, c.text, got)
		}
	}
	if got := forks.Added("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z\n@@ -5 +5 @@\n+w\n"); len(got) != 2 || got[0] != "y" || got[1] != "w" {
		t.Errorf("added: %q", got)
	}
}
