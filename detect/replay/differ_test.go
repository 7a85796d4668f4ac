package replay_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/agent/codex"
	"berth/agent/gemini"
	"berth/agent/generic"
	"berth/agent/generic/rules"
	"berth/detect"
	"berth/terminal"
)

// drawing draws a dialog for a screen of that width.
type drawing func(cols int) []string

// aRuled asks by rules that read a title, a text, a tool and its input, and options.
func aRuled(t *testing.T) agent.Driver {
	ruleset, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{
		{Name: "run", Type: "permission", Lines: []string{`^\? (?P<title>.*)$`, `^  (?P<tool>\w+): (?P<input>.*)$`}, Option: `^ *(?P<focus>>)? ?(?P<key>\d)\) (?P<label>.*)$`, Choose: rules.Choose{Keys: []string{"$key"}}},
		{Name: "tell", Type: "notice", Lines: []string{`^! (?P<title>.*)$`, `^  (?P<text>.*)$`}, Option: `^ *(?P<key>\d)\) (?P<label>.*)$`, Choose: rules.Choose{Keys: []string{"$key"}}},
		{Name: "ask", Lines: []string{`^# (?P<text>.*)$`}, Option: `^ *(?P<key>\d)\) (?P<label>.*)$`, Choose: rules.Choose{Keys: []string{"$key"}}},
		{Name: "sure", Lines: []string{`^(?:(?P<text>.*\S) )?\[y/n\]$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}, {Label: "No", Keys: []string{"n"}}}},
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return generic.Driver{Ruleset: ruleset}.ForCommand([]string{"x"}, "x")
}

func ruledDrawings() map[string]drawing {
	all := map[string]drawing{}
	for _, kind := range []string{"? Run it\n  Shell: %s", "? Run it\n  Other: %s", "? Do it\n  Shell: %s", "! A hint\n  %s", "# %s", "! %s\n  text"} {
		for _, body := range []string{"ls -la", "rm -rf /", "rm -rf / x", "ls  -la", "ls\u200b -la", "ls -la ⠀"} {
			for _, options := range []string{"> 1) Yes\n  2) No", "> 1) Yes\n  2) No\n  3) Always", "> 1) No\n  2) Yes"} {
				text := fmt.Sprintf(kind, body) + "\n" + options
				all[text] = func(int) []string { return strings.Split(text, "\n") }
			}
		}
	}
	for _, text := range []string{"[y/n]", "Keep it? [y/n]", "Remove it? [y/n]"} {
		all[text] = func(int) []string { return []string{text} }
	}
	return all
}

// place takes off which of two calls a dialog is about.
var place = strings.NewReplacer("      1 of 2", "", "      2 of 2", "")

// inBox frames rows as Gemini CLI does.
func inBox(cols int, rows ...string) []string {
	out := []string{"✦ I will do it.", "", "╭" + strings.Repeat("─", cols-2) + "╮"}
	for _, text := range rows {
		for _, part := range breakRows(text, cols-4) {
			part = strings.TrimRight(part, " ")
			out = append(out, "│ "+part+strings.Repeat(" ", max(0, cols-4-terminal.StringWidth(part)))+" │")
		}
	}
	return append(out, "╰"+strings.Repeat("─", cols-2)+"╯")
}

func geminiDrawings() map[string]drawing {
	all := map[string]drawing{}
	add := func(name string, rows ...string) {
		all[name] = func(cols int) []string { return inBox(cols, rows...) }
	}
	for _, tool := range []string{"ask", "wipe", "Edit", "Shell", "a_very_long_name_of_a_tool_that_has_no_room_in_a_row"} {
		for _, place := range []string{"", "      1 of 2", "      2 of 2"} {
			for _, args := range []string{`{"a":"one"}`, `{"a":"two"}`} {
				add("server's "+tool+place+args, "Action Required"+place, "", "?  "+tool+" (lab MCP Server) "+args, "", "MCP Server: lab", "Tool: "+tool, "", "MCP Tool Details:", "(press Ctrl+O to expand MCP tool details)",
					`Allow execution of MCP tool "`+tool+`" from server "lab"?`, "", "● 1. Allow once", "  2. Allow tool for this session", "  3. No, suggest changes (esc)")
			}
		}
	}
	for _, url := range []string{"fetch a.example", "fetch b.example"} {
		add(url, "Action Required", "", "?  WebFetch Processing", "", url, "Do you want to proceed?", "", "● 1. Allow once", "  2. No, suggest changes (esc)")
	}
	for _, hint := range []string{"Keep going?", "Give up all?", "Keep\u200b going?"} {
		for _, o := range []string{"Stop", "Buy more"} {
			add("notice "+hint+o, "Usage limit reached", "", hint, "", "● 1. Keep trying", "  2. "+o)
		}
	}
	for _, text := range []string{"Read the code.", "Remove the code.", "Read\nthe code."} {
		add("plan "+text, append(append([]string{"Ready to start implementation?", ""}, strings.Split(text, "\n")...), "", "● 1.  Yes, automatically accept edits", "  2.  Yes, manually accept edits", "  3.  Type your feedback...", "", "Enter to select · Esc to cancel")...)
	}
	for _, label := range []string{"Wipe the disk", "Keep", "Wipe the disk\n     2. Keep"} {
		for _, more := range []string{"all of it", "none of it"} {
			add("question "+label+more, append(append([]string{"Answer Questions", "", "What now?", "", "● 1.  Go", "      on", "  2.  " + strings.Split(label, "\n")[0]}, strings.Split(label, "\n")[1:]...), "      "+more, "  3.  Enter a custom value", "", "Enter to select · Esc to cancel")...)
		}
	}
	for _, c := range []call{{tool: "Bash", command: "ls"}, {tool: "Bash", command: "ls\nrm -rf x"}, {tool: "Bash", command: "ls  -la"}, {tool: "Write", command: "a", about: "x"}, {tool: "Write", command: "b", about: "x"}, {tool: "Write", command: "a", about: "y"}} {
		all[c.String()] = func(cols int) []string { return geminiDialog(c, cols) }
	}
	return all
}

func codexDrawings() map[string]drawing {
	all := map[string]drawing{}
	add := func(name, head, foot string, style func(string) string, body []string, options ...string) {
		all[name] = func(cols int) []string {
			rows := []string{"• Running it", "", ""}
			for _, row := range breakRows(head, cols-4) {
				rows = append(rows, "  "+style(row))
			}
			rows = append(rows, "")
			for _, line := range body {
				for _, row := range breakRows(line, cols-4) {
					rows = append(rows, "  "+strings.TrimRight(row, " "))
				}
			}
			rows = append(rows, "", "")
			for i, o := range options {
				mark := "  "
				if i == 0 {
					mark = "› "
				}
				mark += fmt.Sprintf("%d. ", i+1)
				for _, row := range breakRows(o, cols-8) {
					rows, mark = append(rows, mark+strings.TrimRight(row, " ")), "     "
				}
			}
			return append(rows, "", foot)
		}
	}
	bold := func(s string) string { return "\x1b[1m" + s + "\x1b[22m" }
	const foot, no = "  Press enter to confirm or esc to cancel", "No, and tell Codex what to do differently (esc)"
	for _, env := range []string{"local", "production"} {
		for _, rule := range []string{"", "Permission rule: network", "Permission rule: write `/etc`"} {
			for _, prefix := range []string{"", "ls", "'a  b' c", "'a  c' c"} {
				body := []string{"Environment: " + env, "", "Reason: List", ""}
				if rule != "" {
					body = append(body, rule, "")
				}
				options := []string{"Yes, proceed (y)", no}
				if prefix != "" {
					options = []string{"Yes, proceed (y)", "Yes, and don't ask again for commands that start with `" + prefix + "` (p)", no}
				}
				add("run "+env+rule+prefix, "Would you like to run the following command?", foot, bold, append(body, "$ ls -la"), options...)
				if prefix == "" {
					add("grant "+env+rule, "Would you like to grant these permissions?", foot, bold, body, "Yes, grant these permissions for this turn (y)", "No, continue without permissions (d)")
				}
			}
		}
	}
	for _, host := range []string{"a.example", "b.example"} {
		for _, reason := range []string{"", "Reason: wants it"} {
			add("network "+host+reason, `Do you want to approve network access to "`+host+`"?`, foot, bold, []string{reason}, "Yes, just this once (y)", "Yes, and allow this host for this conversation (a)", no)
		}
	}
	for _, text := range []string{"ls\nrm -rf x", "y", "yes"} {
		add("input "+text, "Would you like to send input to the existing terminal?", foot, bold, append([]string{"Input:"}, strings.Split(text, "\n")...), "Yes, proceed (y)", no)
	}
	dim := func(s string) string { return "\x1b[2m" + s + "\x1b[22m" }
	for _, text := range []string{"Keep it?", "Wipe it?\nQuestion 1/1 (1 unanswered)\nKeep it?", "Wipe it?"} {
		for _, label := range []string{"Keep  all", "Keep  some", "Keep"} {
			for _, more := range []string{"a  b", "a c"} {
				all["question "+text+label+more] = func(cols int) []string {
					rows := []string{"• Running it", "", "  " + dim("Question 1/1 (1 unanswered)")}
					for _, line := range strings.Split(text, "\n") {
						rows = append(rows, "  "+line)
					}
					return append(rows, "", "  › 1. Go                 on", fmt.Sprintf("    2. %-17s  %s", label, more), "    3. None of the above  Optionally, add", "", "  tab to add notes | enter to submit answer", "  esc to interrupt")
				}
			}
		}
	}
	for _, c := range []call{{tool: "Bash", command: "ls\nrm -rf x", about: "List"}, {tool: "Bash", command: "ls  -la", about: "List"}, {tool: "Write", about: "x"}, {tool: "Write", about: "y"}} {
		all[c.String()] = func(cols int) []string { return codexDialog(c, cols) }
	}
	return all
}

func claudeDrawings(draw func(call, int) []string) map[string]drawing {
	all := map[string]drawing{}
	for _, c := range []call{
		{tool: "Bash", command: "ls", about: "List"}, {tool: "Bash", command: "ls\nrm -rf x", about: "List"}, {tool: "Bash", command: "ls  -la", about: "List"}, {tool: "Bash", command: "ls", about: "List", by: "Explore"},
		{tool: "Write", command: "a", about: "x"}, {tool: "Write", command: "b", about: "x"}, {tool: "Write", command: "a", about: "y"}, {tool: "Write", command: "a\nb", about: "y"},
		{tool: "Ask", command: "Keep it?", about: "Go: on|Keep: all"}, {tool: "Ask", command: "Wipe it?", about: "Go: on|Keep: all"}, {tool: "Ask", command: "Keep it?", about: "Go: on|Wipe: all"}, {tool: "Ask", command: "Keep it?", about: "Go: on|Keep: none"},
		{tool: "Form", command: "Which?", about: "Name"}, {tool: "Form", command: "Which one?", about: "Name"}, {tool: "Form", command: "Which?", about: "Password"},
	} {
		all[c.String()] = func(cols int) []string { return draw(c, cols) }
	}
	return all
}

// TestDialogsDiffer: of two dialogs that follow each other with nothing between, the second is
// another prompt with another digest, or takes no answer, unless both are drawn alike.
func TestDialogsDiffer(t *testing.T) {
	for name, c := range map[string]struct {
		driver agent.Driver
		all    map[string]drawing
	}{
		"claude":       {claude.Driver{}, claudeDrawings(claudeDialog)},
		"newer claude": {claude.Driver{}, claudeDrawings(newClaudeDialog)},
		"codex":        {codex.Driver{}, codexDrawings()},
		"gemini":       {gemini.Driver{}, geminiDrawings()},
		"rules":        {aRuled(t), ruledDrawings()},
	} {
		t.Run(name, func(t *testing.T) {
			names := slices.Sorted(maps.Keys(c.all))
			pairs, answerable := 0, 0
			for _, cols := range []int{120, 40, 28} {
				for i, first := range names {
					for _, by := range []int{1, 2, 3, 5, 8, 13, len(names) - 1} { // the next are most like it
						second := names[(i+by)%len(names)]
						if first == second || sameCall(first, second) {
							continue
						}
						pairs++
						if follow(t, c.driver, cols, first, second, c.all[first](cols), c.all[second](cols)) {
							answerable++
						}
					}
				}
			}
			t.Logf("%d pairs, and in %d both can be answered", pairs, answerable)
		})
	}
}

// sameCall says whether two dialogs are about one call, before and after another came beside it.
func sameCall(one, two string) bool {
	return place.Replace(one) == place.Replace(two) && strings.Contains(one, " of 2") != strings.Contains(two, " of 2")
}

// allows says whether a key can allow something in the dialog.
func allows(driver agent.Driver, p *agent.Request, d *agent.Dialog) bool {
	for _, a := range []agent.Answer{{Kind: agent.Accept}, {Kind: agent.ChooseOption, Option: 1}} {
		if _, err := driver.(agent.PromptAnswerer).Keys(p, a, d); err == nil {
			return true
		}
	}
	return false
}

// follow shows one dialog and then another. It reports whether both can be answered.
func follow(t *testing.T, driver agent.Driver, cols int, first, second string, one, two []string) bool {
	t.Helper()
	now := time.Unix(1000, 0)
	f := detect.New(driver, detect.Options{Start: now, Dir: "/work"})
	show := func(rows []string) (*agent.Request, bool) {
		term := terminal.New(terminal.Options{Cols: cols, Rows: 60})
		_, _ = term.Write([]byte("\x1b[?25l" + strings.Join(rows, "\r\n"))) // takes all
		var v detect.Viewer
		reading := driver.Screen(v.View(term.Snapshot(0)))
		for range 5 {
			now = now.Add(600 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: reading, Time: now})
		}
		r := f.Status().Request
		if r == nil {
			return nil, false
		}
		p, _ := f.Pending(r.ID)
		return r, p.Whole && reading.Dialog != nil && f.Asks(reading.Dialog, r.ID) && allows(driver, r, reading.Dialog)
	}
	a, can := show(one)
	b, too := show(two)
	if !can || !too || strings.Join(one, "\n") == strings.Join(two, "\n") {
		return false
	}
	if a.ID == b.ID || a.Digest == b.Digest {
		t.Errorf("at %d columns %q is prompt %s, digest %s; and %q is %s, %s", cols, first, a.ID, a.Digest, second, b.ID, b.Digest)
	}
	return true
}
