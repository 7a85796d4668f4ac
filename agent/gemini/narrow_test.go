package gemini_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
)

// The rows of version 0.61.0 at other sizes than 120x40, without the box's sides.

// A command that has no room: below 80 columns the row in place of its first lines has other
// words, and on a still narrower screen these are cut.
func TestHiddenLines(t *testing.T) {
	list := []string{"Allow execution of [Shell]?", "", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"}
	for _, hidden := range []string{
		"... first 31 lines hidden (Ctrl+O to show) ...", "... first 1 line hidden (Ctrl+O to show) ...", "... 31 hidden (Ctrl+O) ...", "... 31 hidden (Ctrl…", "... 31 hi…", "... 3…", "... …",
	} {
		inner := []string{"╭" + strings.Repeat("─", 50) + "╮", "│ " + hidden + strings.Repeat(" ", 49-len([]rune(hidden))) + "│", "│ echo 2" + strings.Repeat(" ", 43) + "│", "╰" + strings.Repeat("─", 50) + "╯"}
		d := draw(box(append(append([]string{"? Shell  Runs it"}, inner...), list...)...)...).Dialog
		if d == nil || d.Type != agent.PromptPermission || !d.Cut {
			t.Errorf("%s: %+v", hidden, d)
		}
	}
	for _, hidden := range []string{"... last 5 lines hidden (Ctrl+O to show) ...", "... 5 hidden (Ctrl+O) ..."} {
		d := draw(box("Answer Questions", "", "Shall I keep", hidden, "", "● 1.  Yes", "  2.  No", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...).Dialog
		if d == nil || d.Type != agent.PromptQuestion || !d.Cut {
			t.Errorf("a question, %s: %+v", hidden, d)
		}
		d = draw(box("Ready to start implementation?", "", "Read the code.", hidden, "", "● 1.  Yes, automatically accept edits", "  2.  Yes, manually accept edits", "", "Enter to select · Esc to cancel")...).Dialog
		if d == nil || d.Type != agent.PromptPlan || !d.Cut {
			t.Errorf("a plan, %s: %+v", hidden, d)
		}
	}
}

// mcpRows are those of a dialog about a tool of an MCP server, at 40 columns.
func mcpRows(place, tool string) []string {
	return []string{
		"Action Required" + place, "", "?  " + tool + ` (lab MCP Server) {"a":"one"}`, "", "MCP Server: lab", "Tool: " + tool, "", "MCP Tool Details:", "(press Ctrl+O to expand MCP tool", "details)",
		`Allow execution of MCP tool "` + tool + `"`, `from server "lab"?`, "", "● 1. Allow once", "  2. Allow tool for this session", "  3. Allow all server tools for thi…", "  4. No, suggest changes (esc)",
	}
}

// A question that has no room in one row is asked by a permission too.
func TestLongQuestions(t *testing.T) {
	for _, place := range []string{"", "               1 of 2"} {
		for _, tool := range []string{"ask", "Edit", "WriteFile", "Shell", "Enter Plan Mode"} {
			d := draw(box(mcpRows(place, tool)...)...).Dialog
			if d == nil || d.Type != agent.PromptPermission || d.Tool != "" || !d.Alike || d.Cut || !strings.HasPrefix(d.Title, tool+" (lab MCP Server)") {
				t.Errorf("%s%s: %+v", tool, place, d)
			}
			if place != "" && d.Place != 1 {
				t.Errorf("%s: it is dialog %d", tool, d.Place)
			}
		}
	}
	d := draw(box("? Shell  ls", "╭─────────╮", "│ ls      │", "╰─────────╯", "Allow execution", "of [Shell]?", "", "● 1. Allow once", "  2. No, suggest changes (esc)")...).Dialog
	if d == nil || d.Type != agent.PromptPermission || d.Tool != "run_shell_command" || d.Cut {
		t.Errorf("a command: %+v", d)
	}
}

// A dialog about another tool is another prompt, with another digest.
func TestNextNarrowDialog(t *testing.T) {
	for name, pages := range map[string][2][]string{
		"tools":   {mcpRows("", "ask"), mcpRows("", "wipe")},
		"notices": {{"A hint", "", "Keep the files?", "", "● 1. Go on", "  2. Stop"}, {"A hint", "", "Remove the files?", "", "● 1. Go on", "  2. Stop"}},
	} {
		f := detect.New(gemini.Driver{}, detect.Options{Start: time.Unix(1000, 0)})
		now := time.Unix(1000, 0)
		shows := func(rows []string) *agent.Request {
			for range 30 {
				now = now.Add(100 * time.Millisecond)
				f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: draw(box(rows...)...), Time: now})
			}
			return f.Status().Request
		}
		one, two := shows(pages[0]), shows(pages[1])
		if one == nil || two == nil || one.ID == two.ID || one.Digest == two.Digest {
			t.Errorf("%s: %+v\nand %+v", name, one, two)
		}
	}
}

// TestNumbersInALabel: a row of a label that looks like an option isn't one: the numbers of
// options are in one column.
func TestNumbersInALabel(t *testing.T) {
	d := draw(box("Answer Questions", "", "What now?", "", "● 1.  Keep", "      all stays", "  2.  Wipe the disk", "     2. Keep most", "      one", "  3.  Enter a custom value", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...).Dialog
	if d == nil || len(d.Options) != 3 || d.Options[0].Label != "Keep" || d.Options[1].Label != "Wipe the disk 2. Keep most" || d.Options[1].More != "one" {
		t.Errorf("%+v", d)
	}
	// The first options of a scrolled list aren't in view, even if the rows above look like them.
	d = draw(box("Answer Questions", "", "What now?", "", "  1.  Keep", "  2.  Keep more", "▲", "  3.  Wipe", "● 4.  Wipe more", "▼", "", "Enter to select · ↑/↓ to navigate · Esc to cancel")...).Dialog
	if d == nil || len(d.Options) != 2 || d.Options[0].Number != 3 {
		t.Errorf("scrolled: %+v", d)
	}
}

// What is below a command's box is asked too.
func TestBesideACommand(t *testing.T) {
	rows := func(beside ...string) []string {
		rows := append([]string{"? Shell  ls", "╭─────────╮", "│ ls      │", "╰─────────╯"}, beside...)
		return box(append(rows, "", "● 1. Allow once", "  2. No, suggest changes (esc)")...)
	}
	told := gemini.Driver{}.Waiting(&agent.Fact{Tool: "run_shell_command", Input: []byte(`{"command":"ls"}`)})
	for name, c := range map[string]struct {
		beside []string
		want   agent.Match
		text   string
	}{
		"nothing":     {[]string{"Allow execution of [Shell]?"}, agent.WholeMatch, ""},
		"redirection": {[]string{"Allow execution of [Shell]?", "Redirection detected. To auto-accept, press Shift+Tab"}, agent.WholeMatch, ""},
		"two rows":    {[]string{"Allow execution of", "[Shell]?", "Redirection detected. To auto-accept,", "press Shift+Tab"}, agent.WholeMatch, ""},
		"sandbox":     {[]string{"To run [Shell], allow access to the following?", "• Network: All Urls", "• Write: /etc"}, agent.PartMatch, "• Write: /etc"},
		"a warning":   {[]string{"⚠  CAUTION: Build Configuration Was Recently Modified", "Allow execution of [Shell]?"}, agent.PartMatch, "CAUTION: Build"},
	} {
		d := draw(rows(c.beside...)...).Dialog
		if d == nil || d.Type != agent.PromptPermission {
			t.Errorf("%s: %+v", name, d)
			continue
		}
		if got := (gemini.Driver{}).Match(d, told); got != c.want {
			t.Errorf("%s: %v, not %v", name, got, c.want)
		}
		p := gemini.Driver{}.FromDialog(d)
		if p.FullInput != "ls" || !strings.Contains(agent.Value(p.Text), c.text) || c.text == "" && p.Text != nil {
			t.Errorf("%s: it asks %q, %q", name, p.FullInput, agent.Value(p.Text))
		}
	}
}

// TestTallDialogs: a dialog whose first rows have left the screen doesn't show its whole question.
func TestTallDialogs(t *testing.T) {
	for name, rows := range map[string][]string{
		"question": {"And a line", "", "Answer Questions", "", "● 1.  Keep", "  2.  Wipe", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"},
		"its head": {"Answer Questions", "", "Shall I?", "", "● 1.  Keep", "  2.  Wipe", "", "Enter to select · ↑/↓ to navigate · Esc to cancel"},
		"plan":     {"Ready to start implementation?", "", "Read.", "", "● 1.  Yes, automatically accept edits", "  2.  Yes, manually accept edits", "", "Enter to select · Esc to cancel"},
		"notice":   {"A hint", "", "● 1. Go on", "  2. Stop"},
	} {
		if d := draw(box(rows...)[3:]...).Dialog; d == nil || !d.Cut {
			t.Errorf("%s: %+v", name, d)
		}
		if d := draw(box(rows...)...).Dialog; d == nil || d.Cut {
			t.Errorf("%s, whole: %+v", name, d)
		}
	}
}

// A foot that has no room in one row is a question's too.
func TestFootOfTwoRows(t *testing.T) {
	d := draw(box("Answer Questions", "", "What now?", "", "● 1.  Keep", "  2.  Enter a custom value", "", "Enter to select · ↑/↓ to navigate ·", "Esc to cancel")...).Dialog
	if d == nil || d.Type != agent.PromptQuestion || d.Body != "What now?" {
		t.Errorf("%+v", d)
	}
	d = draw(box("Answer Questions", "", "Its name?", "", "> a short name", "", "Enter to submit ·", "Esc to cancel")...).Dialog
	if d == nil || d.Type != agent.PromptQuestion || d.Body != "Its name?" {
		t.Errorf("in words: %+v", d)
	}
}

// TestNarrowHeads: on a narrow screen a tool's name is drawn right before what it is about, or below that.
func TestNarrowHeads(t *testing.T) {
	command := []string{"╭──────────╮", "│ touch x  │", "╰──────────╯", "Allow execution of [Shell]?", "", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"}
	change := []string{"╭──────────╮", "│ 1 hello  │", "╰──────────╯", "Apply this change?", "", "● 1. Allow once", "  2. Allow for this session", "  3. Modify with external editor", "  4. No, suggest changes (esc)"}
	for _, c := range []struct {
		head        []string
		rest        []string
		tool, input string
	}{
		{[]string{"? Shelltouch quite_a_long_file_nam…"}, command, "run_shell_command", "touch x"},
		{[]string{"?         Writing to aaaaaaaaaaaaaaaaaa…", "WriteFile"}, change, "write_file", "Writing to aaaaaaaaaaaaaaaaaa…"},
		{[]string{"? WriteFileWriting to aaaa…"}, change, "write_file", "Writing to aaaa…"},
		{[]string{"? deploy  now", "          Shell"}, command, "", "now"},
		{[]string{"Action Required", "", "?         now", "Shell"}, command, "", "Shell"},
		{[]string{"Action Required", "", "? Shelltouch x"}, command, "", ""},
	} {
		d := draw(box(append(c.head, c.rest...)...)...).Dialog
		if d == nil || d.Tool != c.tool {
			t.Errorf("%q: %+v", c.head, d)
			continue
		}
		if p := (gemini.Driver{}).FromDialog(d); c.input != "" && text(p.Input) != c.input {
			t.Errorf("%q: it asks %q", c.head, text(p.Input))
		}
	}
}
