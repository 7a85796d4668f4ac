package tui

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/agent"
	"berth/api"
	"berth/sessions"
	"berth/sessions/worktree"
	"berth/terminal/paint"
	"berth/test/screens"
)

var update = flag.Bool("update", false, "draw the pictures in docs/screens anew")

// picture draws what a person's terminal shows of the model.
func picture(m *Model, cols, rows int, light bool) string {
	return screens.SVG(shoot(m, cols, rows, paint.Depth256, light), light)
}

// TestCardPictures draws one card of each kind, at a phone's size and beside the list, and compares
// them with the pictures in docs/screens. -update draws these anew.
func TestCardPictures(t *testing.T) {
	for _, kind := range []string{"edit", "write", "command", "tool", "plan", "question", "long"} {
		for _, size := range []struct{ cols, rows int }{{40, 20}, {120, 30}} {
			samePicture(t, fmt.Sprintf("card-%s-%d.svg", kind, size.cols), cardScene(t, kind, size.cols, size.rows), false)
		}
	}
}

// samePicture compares what the model draws with a picture in docs/screens.
func samePicture(t *testing.T, name string, m *Model, light bool) {
	t.Helper()
	path, got := filepath.Join("../docs/screens", name), picture(m, m.cols, m.rows, light)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("%s isn't what the dashboard draws (%v): look at it, and run go test ./tui -run Picture -update\n%s", path, err, drawn(m))
	}
}

// shopScene has six sessions of a shop's project, with what each agent has drawn. The first one asks.
func shopScene(t *testing.T, cols, rows int) *Model {
	m := askingFor(t, cols, rows, "Bash", map[string]any{"command": "rm -r dist && npm run build", "description": "Build it again"})
	m.current().Name = "api"
	m.current().Request.Title, m.current().Request.Options = agent.Pointer("Bash command"), []string{"Yes", "Yes, and don't ask again", "No"}
	failing, search, parser, docs, web := at("billing", agent.InError, 4), at("search", agent.Working, 1), at("parser", agent.Working, 7), at("docs", agent.Idle, 12), at("web", agent.Exited, 30)
	failing.Failure = &api.Failure{Class: "rate_limited", Text: "until 15:20"}
	search.Activity, parser.Activity = &api.Activity{Kind: "tool", Tool: "Bash"}, &api.Activity{Kind: "thinking"}
	search.Title, docs.Title = "go test ./...", "the README is shorter"
	status := 0
	web.Exit = &api.Exit{Code: &status}
	for of, s := range map[string]*sessions.Status{"main": m.current(), "refund": failing, "fix/rank": search, "berth/parser": parser, "berth/docs": docs} {
		s.Cwd, s.Look = "/home/ann/shop", &worktree.Look{Branch: of}
	}
	search.Look.Changed, parser.Look.Changed, parser.Agent, docs.Agent, web.Agent = 3, 2, "codex", "gemini", "generic"
	w := m.world
	w.May = Rights{"respond": true, "nudge": true, "new": true}
	for _, d := range actions() {
		w.May[d.verb] = true
	}
	maps.Copy(w.May, everything)
	w.OwnCommand = true
	m.person.Role = "admin"
	w.Sessions = append(w.Sessions, failing, search, parser, docs, web)
	m.SetWorld(w, later)
	const bullet, dim, off = "\x1b[32m●\x1b[0m ", "\x1b[90m", "\x1b[0m"
	for _, c := range []struct {
		of    string
		lines []string
	}{
		{"alpha", []string{bullet + "Bash(rm -r dist && npm run build)", dim + "  ⎿  Waiting…" + off, "", "Bash command", "", "  rm -r dist && npm run build", dim + "  Build it again" + off, "", "Do you want to proceed?", "❯ 1. Yes", "  2. Yes, and don't ask again", "  3. No"}},
		{"billing", []string{bullet + "Read(invoice.go)", dim + "  ⎿  Read 212 lines" + off, "", "\x1b[31m  ⎿  API Error: 429, rate limited until 15:20" + off, "", "❯ "}},
		{"search", []string{bullet + "Bash(go test ./...)", dim + "  ⎿  ok  	shop/index	1.204s", "     ok  	shop/rank	0.377s" + off, "     \x1b[31mFAIL" + off + "	shop/query [build failed]", "", "\x1b[33m✻ Testing… (41s · esc to interrupt)" + off}},
		{"parser", []string{bullet + "Update(parser/lex.go)", dim + "  ⎿  2 lines added, 1 removed" + off, dim + "      41 " + off + "\x1b[41m-  return next(r)" + off, dim + "      41 " + off + "\x1b[42;30m+  if r == eof {", "\x1b[0m" + dim + "      42 " + off + "\x1b[42;30m+    return nil" + off, "", "\x1b[33m✻ Thinking… (9s · esc to interrupt)" + off}},
		{"docs", []string{bullet + "The README has 80 lines now. I moved the", "  reference to docs/options.md.", "", "❯ "}},
		{"web", []string{"Local: http://localhost:5173/", "", "stopped."}},
	} {
		m.SetScreen("id-"+c.of, screenOf(c.lines...), "")
	}
	return m
}

// TestScreens draws the pictures of the docs that have several sessions: the list, the Wall, a card, the help,
// and a phone.
func TestScreens(t *testing.T) {
	for name, c := range map[string]struct {
		cols, rows int
		keys       string
	}{
		"wall": {120, 30, "W"}, "list": {120, 30, ""}, "card": {80, 24, ""}, "help": {80, 24, "?"}, "phone": {40, 20, ""},
	} {
		m := shopScene(t, c.cols, c.rows)
		press(m, later, strings.Fields(c.keys)...)
		samePicture(t, name+".svg", m, false)
	}
	samePicture(t, "list-light.svg", shopScene(t, 120, 30), true)
}
