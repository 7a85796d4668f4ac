package tui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"berth/agent"
	"berth/render"
	"berth/terminal"
	"berth/terminal/paint"
	"berth/test/screens"
)

var update = flag.Bool("update", false, "draw the pictures in docs/screens anew")

// picture draws what a person's terminal shows of the model.
func picture(m *Model, cols, rows int, light bool) string {
	look := paint.Look{Depth: paint.Depth256, UTF8: true}
	m.SetLook(look, light)
	s := newScreen(look)
	s.resize(cols, rows)
	term := terminal.New(terminal.Options{Cols: cols, Rows: rows})
	_, _ = term.Write(append(s.enter(), s.draw(m)...)) // never fails
	return screens.SVG(term.Snapshot(0), light)
}

// TestCardPictures draws one card of each kind, at a phone's size and beside the list, and compares
// them with the pictures in docs/screens. -update draws these anew.
func TestCardPictures(t *testing.T) {
	goFile := "package shop\n\n// Total is the sum of the items.\nfunc Total(items []Item) int {\n\ttotal := 0\n\tfor _, i := range items {\n\t\ttotal += i.Price\n\t}\n\treturn total\n}\n"
	plan := "# Split the parser\n\n1. Move `lex.go` to **parser/lex**\n2. Add tests for src/**/*.go\n\n```sh\ngo test ./...\n```\n\n> nothing else changes"
	for _, c := range []struct {
		name, tool string
		input      map[string]any
		file       render.File
		change     func(*agent.Request)
	}{
		{name: "edit", tool: "Edit", file: render.File{Known: true, Exists: true, Text: goFile},
			input: map[string]any{"file_path": "/home/ann/shop/total.go", "old_string": "\t\ttotal += i.Price\n", "new_string": "\t\tif i.Count > 0 {\n\t\t\ttotal += i.Price * i.Count\n\t\t}\n", "replace_all": false}},
		{name: "write", tool: "Write", file: render.File{Known: true}, input: map[string]any{"file_path": "/home/ann/shop/VERSION", "content": "1.4.0\n"}},
		{name: "command", tool: "Bash", input: map[string]any{"command": "git log --oneline \"$BASE\"..HEAD | grep -v 'wip' > changes.txt && rm -rf dist", "description": "List the changes, and clean up"}},
		{name: "tool", tool: "mcp__tracker__create_issue", input: map[string]any{"title": "Totals ignore the count", "labels": []string{"bug", "shop"}, "assignee": nil, "body": "Two lamps cost as much as one.\n\nSee total.go."}},
		{name: "plan", tool: "ExitPlanMode", change: func(r *agent.Request) {
			r.Type, r.Title, r.Text, r.Input, r.FullInput = agent.PromptPlan, agent.Pointer("Ready to code?"), &plan, nil, ""
			r.Options = []string{"Yes, and auto-accept edits", "Yes, manually approve edits", "No, keep planning"}
		}},
	} {
		for _, size := range []struct{ cols, rows int }{{40, 20}, {120, 30}} {
			m := askingFor(t, size.cols, size.rows, c.tool, c.input)
			r := m.current().Request
			r.Title = agent.Pointer(map[string]string{"Edit": "Edit file", "Write": "Create file", "Bash": "Bash command"}[c.tool])
			r.Options = []string{"Yes", "Yes, and don't ask again", "No"}
			if c.change != nil {
				c.change(r)
			}
			if of, paths := m.Unread(); paths != nil {
				m.SetFiles(of, []render.File{c.file})
			}
			name := fmt.Sprintf("card-%s-%d.svg", c.name, size.cols)
			path := filepath.Join("../docs/screens", name)
			got := picture(m, size.cols, size.rows, false)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(path); err != nil || string(want) != got {
				t.Errorf("%s isn't what the dashboard draws (%v): look at it, and run go test ./tui -run TestCardPictures -update\n%s", path, err, drawn(m))
			}
		}
	}
}
