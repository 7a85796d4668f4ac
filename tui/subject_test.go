package tui

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/claude"
	"berth/render"
)

// askingFor is a model whose session asks for a tool's use, as Claude Code's hook reports it.
func askingFor(t *testing.T, cols, rows int, tool string, input map[string]any) *Model {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	r := &agent.Request{Type: agent.PromptPermission, Tool: &tool, Title: agent.Pointer("Permission"), Raw: raw, Options: []string{"Yes", "No"}}
	r.SetInput(agent.Compact(raw))
	s := at("alpha", agent.Prompt, 1)
	r.ID, r.Ready, r.OnScreen = "p1", true, true
	s.Request, s.Requests = r, []*agent.Request{r}
	if about, ok := (claude.Driver{}).Subject(r); ok {
		s.Subject = &about
	}
	w := world(s)
	w.May = Rights{"attach": true, "screen": true, "respond": true, "nudge": true}
	m := started(cols, rows, w)
	if !m.carded() {
		m.Press(Key{Name: "enter"}, later)
	}
	return m
}

// An edit is judged by its lines, at a phone's size too.
func TestCardOfAnEdit(t *testing.T) {
	m := askingFor(t, 40, 20, "Edit", map[string]any{"file_path": "/home/ann/shop/a.go", "old_string": "a := 1\nb := 2", "new_string": "a := 1\nb := 3", "replace_all": false})
	got := readThrough(t, m)
	for _, want := range []string{"edit /home/ann/shop/a.go", "  a := 1", "- b := 2", "+ b := 3"} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %q:\n%s", want, got)
		}
	}
	if _, card, _ := strings.Cut(got, "alpha ·"); strings.Contains(card, "old_string") || strings.Contains(card, "{") {
		t.Errorf("the card shows JSON:\n%s", got)
	}
}

// TestCardOfArguments: the arguments of an unknown tool are shown as a table, and none is left out.
func TestCardOfArguments(t *testing.T) {
	got := readThrough(t, askingFor(t, 60, 24, "mcp__shop__buy", map[string]any{"item": "lamp", "count": 2, "note": "two\nlines", "to": map[string]any{"city": "Graz"}}))
	for _, want := range []string{"item: lamp", "count: 2", "note:", "two", `"city": "Graz"`} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %q:\n%s", want, got)
		}
	}
	got = readThrough(t, askingFor(t, 60, 24, "Bash", map[string]any{"command": "make | tee log", "description": "Build it", "dangerouslyDisableSandbox": true}))
	for _, want := range []string{"make | tee log", "description: Build it", "dangerouslyDisableSandbox: true"} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %q:\n%s", want, got)
		}
	}
}

// An input that no driver reads is indented, and has its line ends as lines.
func TestCardOfUnreadInput(t *testing.T) {
	m := askingFor(t, 40, 20, "mcp__shop__buy", map[string]any{"item": "lamp"})
	s := m.current()
	s.Subject, s.Request.Raw = nil, json.RawMessage(`{"to":{"note":"one\ntwo"},"to":[1]}`)
	s.Request.SetInput(agent.Compact(s.Request.Raw))
	for width, wants := range map[int][]string{37: {"{", `  "to": {`, `    "note": "one`, `two"`, "  },", `  "to": [`, "    1", "  ]", "}"}} {
		var rows []string
		for _, l := range m.subject(s, s.Request, width) {
			rows = append(rows, l.text)
		}
		if !slices.Equal(rows, wants) {
			t.Errorf("%d columns: %q", width, rows)
		}
	}
	s.Request.Raw = nil // a dialog's text isn't the agent's JSON
	s.Request.SetInput(`{"a":1}`)
	if rows := m.subject(s, s.Request, 37); len(rows) != 1 || rows[0].text != `{"a":1}` {
		t.Errorf("a dialog's text: %+v", rows)
	}
}

// Two changes that differ are never drawn the same, wherever a row ends.
func TestChangesThatDiffer(t *testing.T) {
	long := strings.Repeat("x", 33)
	texts := []string{"", "a", "a\n", "a\n\n", " a", "a ", "+a", "- a", "a\n+ b", "a\nb", long, long + "y", long + " y", long + "\ny", long + "\n  y", "\ta", "a\u200bb", "2 + b", "a\n2 + b", "e: f"}
	for _, cols := range []int{30, 40, 41, 60, 100} {
		seen := map[string]string{}
		for _, was := range texts {
			for _, is := range texts {
				all := readThrough(t, askingFor(t, cols, 40, "Edit", map[string]any{"file_path": "/f", "old_string": was, "new_string": is, "replace_all": false}))
				key := fmt.Sprintf("%q → %q", was, is)
				if other, same := seen[all]; same {
					t.Fatalf("%d columns: %s is drawn like %s:\n%s", cols, key, other, all)
				}
				seen[all] = key
			}
			all := readThrough(t, askingFor(t, cols, 40, "Write", map[string]any{"file_path": "/f", "content": was}))
			if other, same := seen[all]; same {
				t.Fatalf("%d columns: writing %q is drawn like %s:\n%s", cols, was, other, all)
			}
			seen[all] = fmt.Sprintf("write %q", was)
		}
	}
}

// The tones change no text: rows in tones have the characters that rows of one tone have.
func TestTonesChangeNoText(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	parts := []string{"a", "é", "e\u0301", "\u0301", "日本", "|", "'", "\"", " ", "  ", "\n", "$x", "\u202e", "👩‍👩‍👧", "\t", "\xff", "⟨", "word"}
	m := askingFor(t, 80, 24, "Bash", map[string]any{"command": "x"})
	for range 3000 {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		width := 1 + r.IntN(20)
		rows := m.lay(b.String(), width)
		for i, l := range m.laid(render.Shell(b.String()), width) {
			var text strings.Builder
			for _, run := range l.runs {
				text.WriteString(run.text)
			}
			if i >= len(rows) || text.String() != rows[i] {
				t.Fatalf("%q in %d columns: row %d is %q, want %q", b.String(), width, i, text.String(), rows)
			}
		}
	}
}

// A mark in a quoted text has the tone of the text around it.
func TestTonesFollowTheirText(t *testing.T) {
	m := askingFor(t, 80, 24, "Bash", map[string]any{"command": "x"})
	tones := map[string]tone{}
	for _, l := range m.laid(render.Shell("grep -r 'a b\u202e c'   /some/very/long/path | head"), 14) {
		for _, run := range l.runs {
			tones[strings.TrimSpace(run.text)] = run.tone
		}
	}
	for text, want := range map[string]tone{"b⟨U+202E⟩ c'": quoted, "|": operator, "head": plain} {
		if tones[text] != want {
			t.Errorf("%q has tone %d, want %d; all: %v", text, tones[text], want, tones)
		}
	}
}

// The file on disk gives an edit its line numbers and its surroundings. The card is then to be read
// anew: it shows something else.
func TestCardReadsTheFile(t *testing.T) {
	m := askingFor(t, 60, 30, "Edit", map[string]any{"file_path": "/f", "old_string": "b := 2", "new_string": "b := 3", "replace_all": false})
	of, paths := m.Unread()
	if len(paths) != 1 || paths[0] != "/f" {
		t.Fatalf("files to read: %q", paths)
	}
	if _, again := m.Unread(); again != nil {
		t.Errorf("they are asked for twice")
	}
	readThrough(t, m)
	other := of
	other.digest = "another"
	m.SetFiles(other, []render.File{{Known: true, Exists: true, Text: "of another prompt"}})
	if !m.readAll() {
		t.Errorf("files of another prompt are taken in")
	}
	m.SetFiles(of, []render.File{{Known: true, Exists: true, Text: "package a\n\nfunc f() {\n\ta := 1\n\tb := 2\n}\n"}})
	if m.readAll() {
		t.Errorf("a card that shows something else counts as read")
	}
	got := readThrough(t, m)
	for _, want := range []string{"3   func f() {", "5 - ", "5 + ", "6   }"} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %q:\n%s", want, got)
		}
	}

	m = askingFor(t, 60, 30, "Edit", map[string]any{"file_path": "/f", "old_string": "b", "new_string": "c"})
	m.world.May["screen"] = false
	if _, paths := m.Unread(); paths != nil {
		t.Errorf("a person who may not see the screen has %q read", paths)
	}
}

// TestLargeSubject: a draw doesn't lay out a large subject again. A change of the width does.
func TestLargeSubject(t *testing.T) {
	m := askingFor(t, 120, 30, "Write", map[string]any{"file_path": "/home/ann/shop/a.go", "content": strings.Repeat("a line of the file that is longer than a phone is wide\n", 5000)})
	f := NewFrame(120, 30)
	m.Draw(f)
	if n := testing.AllocsPerRun(3, func() { m.Draw(f) }); n > 2000 {
		t.Errorf("a draw of a subject of 5000 lines allocates %v times", n)
	}
	s := m.current()
	if wide, narrow := len(m.subject(s, s.Request, 100)), len(m.subject(s, s.Request, 30)); narrow <= wide {
		t.Errorf("at 30 columns it has %d rows, at 100 %d", narrow, wide)
	}
}
