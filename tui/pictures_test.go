package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"berth/agent"
	"berth/api"
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
			samePicture(t, fmt.Sprintf("card-%s-%d.svg", kind, size.cols), cardScene(t, kind, size.cols, size.rows))
		}
	}
}

// samePicture compares what the model draws with a picture in docs/screens.
func samePicture(t *testing.T, name string, m *Model) {
	t.Helper()
	path, got := filepath.Join("../docs/screens", name), picture(m, m.cols, m.rows, false)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || string(want) != got {
		t.Errorf("%s isn't what the dashboard draws (%v): look at it, and run go test ./tui -run Picture -update\n%s", path, err, drawn(m))
	}
}

// TestWallPicture draws the Wall with six sessions.
func TestWallPicture(t *testing.T) {
	m := askingFor(t, 120, 30, "Bash", map[string]any{"command": "rm -r dist && npm run build", "description": "Build it again"})
	m.current().Name = "api"
	m.current().Request.Title, m.current().Request.Options = agent.Pointer("Bash command"), []string{"Yes", "Yes, and don't ask again", "No"}
	failing, search, parser, docs, web := at("billing", agent.InError, 4), at("search", agent.Working, 1), at("parser", agent.Working, 7), at("docs", agent.Idle, 12), at("web", agent.Exited, 30)
	failing.Failure = &api.Failure{Class: "rate_limited", Text: "until 15:20"}
	search.Activity, parser.Activity = &api.Activity{Kind: "tool", Tool: "Bash"}, &api.Activity{Kind: "thinking"}
	search.Title, docs.Title = "go test ./...", "the README is shorter"
	status := 0
	web.Exit = &api.Exit{Code: &status}
	w := m.world
	w.Sessions = append(w.Sessions, failing, search, parser, docs, web)
	m.SetWorld(w, later)
	press(m, later, "W")
	const bullet, dim, off = "\x1b[32m●\x1b[0m ", "\x1b[90m", "\x1b[0m"
	for _, c := range []struct {
		of    string
		lines []string
	}{
		{"billing", []string{bullet + "Read(invoice.go)", dim + "  ⎿  Read 212 lines" + off, "", "\x1b[31m  ⎿  API Error: 429, rate limited until 15:20" + off, "", "❯ "}},
		{"search", []string{bullet + "Bash(go test ./...)", dim + "  ⎿  ok  	shop/index	1.204s", "     ok  	shop/rank	0.377s" + off, "     \x1b[31mFAIL" + off + "	shop/query [build failed]", "", "\x1b[33m✻ Testing… (41s · esc to interrupt)" + off}},
		{"parser", []string{bullet + "Update(parser/lex.go)", dim + "  ⎿  2 lines added, 1 removed" + off, dim + "      41 " + off + "\x1b[41m-  return next(r)" + off, dim + "      41 " + off + "\x1b[42;30m+  if r == eof {", "\x1b[0m" + dim + "      42 " + off + "\x1b[42;30m+    return nil" + off, "", "\x1b[33m✻ Thinking… (9s · esc to interrupt)" + off}},
		{"docs", []string{bullet + "The README has 80 lines now. I moved the", "  reference to docs/options.md.", "", "❯ "}},
		{"web", []string{"Local: http://localhost:5173/", "", "stopped."}},
	} {
		m.SetScreen("id-"+c.of, screenOf(c.lines...), "")
	}
	samePicture(t, "wall.svg", m)
}
