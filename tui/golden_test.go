package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/agent"
	"berth/api"
	"berth/render"
	"berth/sessions"
	"berth/sessions/worktree"
	"berth/terminal"
	"berth/terminal/paint"
)

// scenes are what a person sees of a dashboard, each at any size.
var scenes = []struct {
	name string
	make func(t *testing.T, cols, rows int) *Model
}{
	{"list", listScene},
	{"families", familiesScene},
	{"card of a change", func(t *testing.T, cols, rows int) *Model { return cardScene(t, "edit", cols, rows) }},
	{"card of a new file", func(t *testing.T, cols, rows int) *Model { return cardScene(t, "write", cols, rows) }},
	{"card of a command", func(t *testing.T, cols, rows int) *Model { return cardScene(t, "command", cols, rows) }},
	{"card of an MCP call", func(t *testing.T, cols, rows int) *Model { return cardScene(t, "tool", cols, rows) }},
	{"card of a plan", func(t *testing.T, cols, rows int) *Model { return cardScene(t, "plan", cols, rows) }},
	{"card of a question", func(t *testing.T, cols, rows int) *Model { return cardScene(t, "question", cols, rows) }},
	{"card of a long command", func(t *testing.T, cols, rows int) *Model { return cardScene(t, "long", cols, rows) }},
	{"conversation", conversationScene},
	{"form for a new session", formScene},
	{"help", func(t *testing.T, cols, rows int) *Model {
		m := listScene(t, cols, rows)
		press(m, noon, "?")
		return m
	}},
}

// listScene has a session of each state, with names of up to 32 characters, and a screen with colours.
func listScene(_ *testing.T, cols, rows int) *Model {
	asks := at("api", agent.Prompt, 2)
	asks.Request = permission()
	asks.Request.ID, asks.Request.Ready, asks.Request.OnScreen = "p1", true, true
	asks.Requests = []*agent.Request{asks.Request}
	failed := at("billing", agent.InError, 4)
	failed.Failure = &api.Failure{Class: "rate_limited", Text: "until 15:20"}
	works := at("refactor-the-payment-service-v01", agent.Working, 1)
	works.Activity, works.Title = &api.Activity{Tool: "Bash"}, "go test ./..."
	works.Tags = []string{"shop", "night"}
	other := at("refactor-the-payment-service-v02", agent.Working, 12)
	other.Agent, other.Activity = "codex", &api.Activity{Kind: "thinking"}
	rests := at("docs", agent.Idle, 35)
	rests.Agent, rests.Cwd, rests.Look = "gemini", "/home/ann/shop", &worktree.Look{Branch: "berth/docs", Changed: 3}
	ended := at("old", agent.Exited, 3000)
	code := 1
	ended.Exit = &api.Exit{Code: &code}
	w := world(asks, failed, works, other, rests, ended)
	w.May = Rights{"attach": true, "screen": true, "respond": true, "nudge": true, "kill": true, "new": true, "transcript": true, Typing: true}
	w.OwnCommand = true
	m := started(cols, rows, w)
	m.Select(works.ID)
	term := terminal.New(terminal.Options{Cols: 60, Rows: 12})
	_, _ = term.Write([]byte("\x1b[1;35m✻\x1b[0m Working on it\r\n\r\n\x1b[32m+ added\x1b[0m  \x1b[31m- removed\x1b[0m  \x1b[2mdim\x1b[0m\r\n\x1b[38;2;215;119;87mtrue colour\x1b[0m  \x1b[48;5;236mon grey\x1b[0m  漢字\r\n\r\n> ")) // never fails
	m.SetScreen(works.ID, term.Snapshot(0), "")
	return m
}

// familiesScene has agents that started others: below their parents, and one of them apart because it needs a person.
func familiesScene(_ *testing.T, cols, rows int) *Model {
	below := func(parent, name string, state agent.State, minutes int) *sessions.Status {
		s := at(name, state, minutes)
		s.Parent = "id-" + parent
		return s
	}
	asks := below("lead", "lead-docs", agent.Prompt, 2)
	asks.Request = permission()
	asks.Requests = []*agent.Request{asks.Request}
	lead := at("lead", agent.Working, 30)
	lead.Activity = &api.Activity{Tool: "Bash"}
	m := started(cols, rows, world(
		at("api", agent.Working, 4), lead, below("lead", "lead-tests", agent.Working, 6), below("lead-tests", "lead-tests-unit", agent.Working, 5),
		below("lead-tests", "lead-tests-e2e", agent.Working, 5), below("lead", "lead-build", agent.Working, 7), asks, at("zoo", agent.Working, 1),
		below("lead", "lead-old", agent.Exited, 90), below("lead-old", "lead-old-a", agent.Exited, 80)))
	m.Select("id-lead")
	return m
}

// cardScene is the card of a permission, as Claude Code's hooks report it.
func cardScene(t *testing.T, kind string, cols, rows int) *Model {
	c := cardKinds[kind]
	m := askingFor(t, cols, rows, c.tool, c.input)
	r := m.current().Request
	r.Title, r.Options = nil, []string{"Yes", "Yes, and don't ask again", "No"}
	if c.title != "" {
		r.Title = &c.title
	}
	if c.change != nil {
		c.change(r)
	}
	if of, paths := m.Unread(); paths != nil {
		m.SetFiles(of, []render.File{c.file})
	}
	return m
}

// cardKind is what an agent asks.
type cardKind struct {
	tool, title string
	input       map[string]any
	file        render.File
	change      func(*agent.Request)
}

var cardKinds = map[string]cardKind{
	"edit": {tool: "Edit", title: "Edit file",
		file:  render.File{Known: true, Exists: true, Text: "package shop\n\n// Total is the sum of the items.\nfunc Total(items []Item) int {\n\ttotal := 0\n\tfor _, i := range items {\n\t\ttotal += i.Price\n\t}\n\treturn total\n}\n"},
		input: map[string]any{"file_path": "/home/ann/shop/total.go", "old_string": "\t\ttotal += i.Price\n", "new_string": "\t\tif i.Count > 0 {\n\t\t\ttotal += i.Price * i.Count\n\t\t}\n", "replace_all": false}},
	"write":   {tool: "Write", title: "Create file", file: render.File{Known: true}, input: map[string]any{"file_path": "/home/ann/shop/VERSION", "content": "1.4.0\n"}},
	"command": {tool: "Bash", title: "Bash command", input: map[string]any{"command": "git log --oneline \"$BASE\"..HEAD | grep -v 'wip' > changes.txt && rm -rf dist", "description": "List the changes, and clean up"}},
	"tool":    {tool: "mcp__tracker__create_issue", input: map[string]any{"title": "Totals ignore the count", "labels": []string{"bug", "shop"}, "assignee": nil, "body": "Two lamps cost as much as one.\n\nSee total.go."}},
	"plan": {tool: "ExitPlanMode", title: "Ready to code?", change: func(r *agent.Request) {
		r.Type, r.Input, r.FullInput = agent.PromptPlan, nil, ""
		r.Text = agent.Pointer("# Split the parser\n\n1. Move `lex.go` to **parser/lex**\n2. Add tests for src/**/*.go\n\n```sh\ngo test ./...\n```\n\n> nothing else changes")
		r.Options = []string{"Yes, and auto-accept edits", "Yes, manually approve edits", "No, keep planning"}
	}},
	"question": {tool: "AskUserQuestion", title: "Store", change: func(r *agent.Request) {
		r.Type, r.Tool, r.Input, r.FullInput = agent.PromptQuestion, nil, nil, ""
		r.Text, r.Options = agent.Pointer("Which store should the carts use?"), []string{"Postgres", "SQLite"}
		r.Questions = []agent.Question{{Header: "Store", Text: *r.Text, Options: r.Options, Descriptions: []string{"A server that the shop has already", "A file, for one process"}}}
	}},
	"long": {tool: "Bash", title: "Bash command", input: map[string]any{"command": longCommand(), "description": "Move every service"}},
}

// longCommand has more lines than any terminal here has rows.
func longCommand() string {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "mv services/%02d/main.go cmd/%02d/\n", i, i)
	}
	return b.String() + "rm -rf services"
}

func conversationScene(t *testing.T, cols, rows int) *Model {
	m := listScene(t, cols, rows)
	press(m, later, "v")
	var c render.Conversation
	for _, e := range []agent.Entry{
		{Kind: agent.EntryMessage, Text: "Add a count to each item, and say what changed."},
		{Kind: agent.EntryThought, Text: "The total ignores counts."},
		{Kind: agent.EntryCall, Call: "1", Tool: "Bash", Input: []byte(`{"command":"go test ./..."}`), Subject: &agent.Subject{Command: "go test ./..."}},
		{Kind: agent.EntryResult, Call: "1", Text: "ok  shop  0.2s\nok  shop/cart  0.1s"},
		{Kind: agent.EntryCall, Call: "2", Tool: "Read", Input: []byte(`{"file_path":"/home/ann/shop/none.go"}`)},
		{Kind: agent.EntryResult, Call: "2", Text: "no such file", Failed: true},
		{Kind: agent.EntryReply, Text: "Done:\n\n- `Total` multiplies by **Count**\n- 日本語の文章は空白がないので、どこでも改行できます。"},
		{Kind: agent.EntryNotice, Text: "The conversation was compacted"},
	} {
		c.Add(e)
	}
	m.SetConversation(m.talk.id, &c, "")
	return m
}

func formScene(t *testing.T, cols, rows int) *Model {
	m := listScene(t, cols, rows)
	folders := map[string]sessions.Folders{"": {Exists: true}, "shop": {Exists: true, Repo: true}}
	types(m, folders, "n", "tab", "s", "h", "o", "p")
	if m.start == nil {
		t.Fatal("no form")
	}
	return m
}

// looked are the looks of the golden pictures.
var looked = []struct {
	name  string
	depth paint.Depth
	light bool
}{{"dark", paint.Depth256, false}, {"light", paint.Depth256, true}, {"16", paint.Depth16, false}, {"none", paint.DepthNone, false}}

// TestGoldenPictures compares what a terminal shows with testdata/pictures: the text of each size, and
// apart from it the styles of each size and look. go test ./tui -run TestGoldenPictures -update makes
// them anew.
func TestGoldenPictures(t *testing.T) {
	for _, size := range [][2]int{{40, 20}, {80, 24}, {120, 36}, {200, 60}} {
		cols, rows := size[0], size[1]
		var text string
		for i, l := range looked {
			var all, styles strings.Builder
			for _, s := range scenes {
				shot := shoot(s.make(t, cols, rows), cols, rows, l.depth, l.light)
				fmt.Fprintf(&all, "== %s ==\n%s\n", s.name, strings.Join(shot.Text(), "\n"))
				fmt.Fprintf(&styles, "== %s ==\n%s", s.name, stylesOf(shot))
			}
			if i == 0 {
				text = all.String()
				golden(t, fmt.Sprintf("%dx%d", cols, rows), text)
			}
			if all.String() != text {
				t.Errorf("%dx%d: the text of look %s isn't that of %s", cols, rows, l.name, looked[0].name)
			}
			golden(t, fmt.Sprintf("%dx%d-%s", cols, rows, l.name), styles.String())
		}
	}
}

// shoot is a terminal that has shown the model for a while, so its keys work.
func shoot(m *Model, cols, rows int, depth paint.Depth, light bool) *terminal.Snapshot {
	look := paint.Look{Depth: depth, UTF8: true}
	m.SetLook(look, light)
	shown(m, m.now.Add(-settleTime))
	s := newScreen(look)
	s.resize(cols, rows)
	term := terminal.New(terminal.Options{Cols: cols, Rows: rows})
	_, _ = term.Write(append(s.enter(), s.draw(m)...)) // never fails
	return term.Snapshot(0)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata/pictures", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	were, are := strings.Split(string(want), "\n"), strings.Split(got, "\n")
	for i := range max(len(were), len(are)) {
		if i >= len(were) || i >= len(are) || were[i] != are[i] {
			t.Errorf("%s: line %d is\n%s\nand was\n%s\nRun go test ./tui -run TestGoldenPictures -update, and look at the difference", path, i+1, strings.Join(are[min(i, len(are)):min(i+1, len(are))], ""), strings.Join(were[min(i, len(were)):min(i+1, len(were))], ""))
			return
		}
	}
}

// stylesOf is the styles of a picture: for each row, the columns with their style. Blanks without a
// background have none.
func stylesOf(shot *terminal.Snapshot) string {
	var b strings.Builder
	for y, line := range shot.Lines {
		var runs []string
		for x := 0; x < line.Len(); {
			from, style := x, styleOf(line.Cell(x))
			for x < line.Len() && styleOf(line.Cell(x)) == style {
				x++
			}
			if style != "" {
				runs = append(runs, fmt.Sprintf("%d+%d %s", from, x-from, style))
			}
		}
		if len(runs) > 0 {
			fmt.Fprintf(&b, "%d: %s\n", y, strings.Join(runs, ", "))
		}
	}
	return b.String()
}

func styleOf(c terminal.Cell) string {
	s := c.Style
	if (c.Rune == ' ' || c.Rune == 0) && c.Width != 0 && s.Attr&terminal.Reverse == 0 {
		s.Fg, s.Attr = terminal.DefaultColor, 0
	}
	text := colourName(s.Fg)
	if s.Bg != terminal.DefaultColor {
		text += "/" + colourName(s.Bg)
	}
	for _, a := range []struct {
		attr terminal.Attr
		name string
	}{{terminal.Bold, " bold"}, {terminal.Faint, " faint"}, {terminal.Italic, " italic"}, {terminal.Reverse, " reverse"}, {terminal.Strike, " strike"}} {
		if s.Attr&a.attr != 0 {
			text += a.name
		}
	}
	return text
}

// colourName is a colour of the palette by its number.
func colourName(c terminal.Color) string {
	switch {
	case c == terminal.DefaultColor:
		return ""
	case c&^0xff == terminal.Palette(0):
		return fmt.Sprint(uint8(c))
	}
	return fmt.Sprintf("#%06x", uint32(c)&0xffffff)
}
