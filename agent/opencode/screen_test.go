package opencode_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/opencode"
)

// screens are the texts of the screens that the real opencode drew in terminals of four sizes, by
// name and size. They have no colors, so no button is known to be the chosen one.
func screens(t testing.TB) map[string]map[string]*agent.View {
	t.Helper()
	data, err := os.ReadFile("testdata/screens.txtar")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]*agent.View{}
	for _, f := range txtar.Parse(data).Files {
		at := strings.LastIndexByte(f.Name, ' ')
		name, size := f.Name[:at], f.Name[at+1:]
		v := &agent.View{}
		if _, err := fmt.Sscanf(size, "%dx%d", &v.Cols, &v.Rows); err != nil {
			t.Fatal(f.Name, err)
		}
		for line := range strings.SplitSeq(strings.TrimSuffix(string(f.Data), "\n"), "\n") {
			v.Lines = append(v.Lines, agent.Row{Text: strings.TrimRight(line, " ")})
		}
		if all[name] == nil {
			all[name] = map[string]*agent.View{}
		}
		all[name][size] = v
	}
	return all
}

// TestDialogs: each dialog is read alike at each size. What has no room is not known, and the
// reading says so.
func TestDialogs(t *testing.T) {
	const (
		allows = "Allow once|Allow always|Reject"
		colors = "Red|Green|Blue|Type your own answer"
		ticks  = "Logging|Metrics|Tracing|Type your own answer"
		small  = "40x20 60x20 "
	)
	all := screens(t)
	for name, want := range map[string]struct {
		kind                 agent.PromptType
		tool, title, options string
		body                 string // without blanks; empty where it isn't compared
		cut                  string // the sizes that cut it off, or where it may be cut off
	}{
		"bash":          {agent.PromptPermission, "bash", "# Shell command", allows, "$ touch one.txt && echo ran-one", ""},
		"cjk":           {agent.PromptPermission, "bash", "# Shell command", allows, "", small},
		"steps":         {agent.PromptPermission, "bash", "# Shell command", allows, "", small + "80x24 200x50"},
		"steps-full":    {agent.PromptPermission, "bash", "# Shell command", allows, "", small + "80x24 200x50"},
		"lines":         {agent.PromptPermission, "bash", "# Shell command", allows, "$ touch lines.txt\n\n\necho done\nls", small + "80x24 200x50"},
		"always":        {agent.PromptPermission, "bash", "# Shell command", allows, "$ touch a_rather_long_file_name.txt && echo x | sort", "40x20"},
		"always-page":   {agent.PromptPermission, "", "Always allow", "Confirm|Cancel", "", small},
		"edit":          {agent.PromptPermission, "edit", "→ Edit sample.txt", allows, "", ""},
		"write":         {agent.PromptPermission, "edit", "", allows, "", small + "80x24 200x50"},
		"folder":        {agent.PromptPermission, "external_directory", "← Access external directory /tmp", allows, "Patterns\n\n- /tmp/*", small},
		"fetch":         {agent.PromptPermission, "webfetch", "", allows, "", small},
		"question":      {agent.PromptQuestion, "question", "", colors, "Which color do you want?", ""},
		"questions":     {agent.PromptQuestion, "question", "", colors, "Which color do you want?", ""},
		"questions-2":   {agent.PromptQuestion, "question", "", ticks, "Which features do you want? (select all that apply)", ""},
		"question-long": {agent.PromptQuestion, "question", "", "A rather long label that has to wrap on a phone, at least|Short|Type your own answer", "", ""},
	} {
		for _, size := range sizes {
			t.Run(name+" "+size, func(t *testing.T) {
				r := opencode.Driver{}.Screen(all[name][size])
				d := r.Dialog
				if d == nil || r.Composer != nil || d.Type != want.kind || d.Tool != want.tool || want.title != "" && drawn.Flat(d.Title) != want.title {
					t.Fatalf("read %+v", d)
				}
				if got := strings.Join(d.Labels(), "|"); got != want.options && name != "question-long" {
					t.Errorf("options %s", got)
				}
				if want.body != "" && drawn.Squeeze(d.Body) != drawn.Squeeze(want.body) {
					t.Errorf("body %q", d.Body)
				}
				cut := strings.Contains(want.cut, size)
				if small := size == "40x20" || size == "60x20"; (want.kind == agent.PromptPermission || !small) && d.Cut != cut {
					t.Errorf("cut is %v", d.Cut)
				}
			})
		}
	}
	for _, size := range sizes {
		if d := (opencode.Driver{}).Screen(all["questions-review"][size]).Dialog; d == nil || !d.Confirm || d.Current != 2 || strings.Join(d.Tabs, " ") != "Color Features" {
			t.Errorf("%s: the review is read as %+v", size, d)
		}
	}
}

// TestBlankLines: blank rows above the buttons may be a command's own lines, with more of it below
// them.
func TestBlankLines(t *testing.T) {
	for size, v := range screens(t)["lines"] {
		hides := *v
		hides.Lines = slices.Clone(v.Lines)
		for i, row := range hides.Lines {
			if text := strings.TrimLeft(row.Text, " ┃"); text == "echo done" || text == "ls" {
				hides.Lines[i].Text = "  ┃"
			}
		}
		if d := (opencode.Driver{}).Screen(&hides).Dialog; d == nil || d.Body != "$ touch lines.txt" || !d.Cut {
			t.Errorf("%s: %+v", size, d)
		}
	}
}

// TestComposer: an empty composer, one with text and one with a long paste; work, and messages that wait.
func TestComposer(t *testing.T) {
	all := screens(t)
	for _, size := range sizes {
		for name, want := range map[string]string{
			"plain": "", "end": "", "bang": "", "slash": "/", "at": "@sam", "pasted": "[Pasted ~12 lines]", "pasted-cleared": "", "slow-ended": "", "err401": "",
		} {
			r := opencode.Driver{}.Screen(all[name][size])
			if c := r.Composer; c == nil || c.Text != want || c.Empty != (want == "") || r.Dialog != nil || r.Busy != "" {
				t.Errorf("%s %s: %+v, busy %q, dialog %+v", name, size, c, r.Busy, r.Dialog)
			} else if (c.Mode == agent.ModeShell) != (name == "bang") {
				t.Errorf("%s %s: mode %s", name, size, c.Mode)
			}
		}
		for _, name := range []string{"slow", "slow-esc", "queued"} {
			if r := (opencode.Driver{}).Screen(all[name][size]); r.Composer == nil || r.Busy == "" {
				t.Errorf("%s %s: no work in %+v", name, size, r)
			}
		}
	}
	if r := (opencode.Driver{}).Screen(all["queued"]["40x20"]); len(r.Queued) != 1 || r.Queued[0] != "MOCK: text second" {
		t.Errorf("queued: %q", r.Queued)
	}
}

// TestCommandWithBars: bars in a command are text of the dialog, also at the end of a row, where a menu over the
// composer has them. No row below starts another dialog.
func TestCommandWithBars(t *testing.T) {
	for _, row := range []string{"┃", "┃  △ Permission required", "ls" + strings.Repeat(" ", 70) + "┃"} {
		v := &agent.View{Cols: 80, Rows: 24}
		for _, line := range []string{
			"", "△ Permission required", "  # Shell command", "", "$ rm file", row, "△ Permission required", "  # Shell command", "", "$ ls", "", "",
			" Allow once   Allow always   Reject", "",
		} {
			v.Lines = append(v.Lines, agent.Row{Text: strings.TrimRight("  ┃  "+line, " ")})
		}
		d := (opencode.Driver{}).Screen(v).Dialog
		if d == nil || !strings.HasPrefix(d.Body, "$ rm file\n"+row+"\n△ Permission required\n") {
			t.Errorf("%q is read as %+v", row, d)
		}
	}
}

// TestDrawnOptions: the text of a question may draw rows like options, and a text that is wider than opencode reckons
// may draw anything in the next row. Such a dialog is cut.
func TestDrawnOptions(t *testing.T) {
	options := []string{"  1. Keep it", "  2. Remove it", "  3. Type your own answer"}
	for name, c := range map[string]struct {
		text   []string
		broken bool
		cut    bool
	}{
		"plain":      {[]string{"  What now?"}, false, false},
		"drawn":      {[]string{"  What now?", "  1. Remove it"}, false, true},
		"broken row": {[]string{"  What now?"}, true, true},
	} {
		v := &agent.View{Cols: 80, Rows: 30}
		for range 10 {
			v.Lines = append(v.Lines, agent.Row{})
		}
		rows := slices.Concat([]string{""}, c.text, []string{""}, options, []string{"", "  ↑↓ select  enter submit  esc dismiss"})
		for i, row := range rows {
			v.Lines = append(v.Lines, agent.Row{Text: strings.TrimRight("┃"+row, " "), Wrapped: c.broken && i == 3})
		}
		for len(v.Lines) < v.Rows {
			v.Lines = append(v.Lines, agent.Row{})
		}
		if d := (opencode.Driver{}).Screen(v).Dialog; d == nil || d.Cut != c.cut {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestTitleOfSeveralRows: the end of a row may be within the name of a file. A blank in its place would name another one.
func TestTitleOfSeveralRows(t *testing.T) {
	v := &agent.View{Cols: 60, Rows: 24}
	for _, line := range []string{"", "  ┃", "  ┃  △ Permission required", "  ┃    → Read /ws/a-folder-with-a-name/and-a-file-", "  ┃      of-mine.txt", "  ┃", "  ┃   Allow once   Allow always   Reject", "  ┃", "  ┃  ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃"} {
		v.Lines = append(v.Lines, agent.Row{Text: line})
	}
	if d := (opencode.Driver{}).Screen(v).Dialog; d == nil || d.Title != "→ Read /ws/a-folder-with-a-name/and-a-file-\nof-mine.txt" {
		t.Errorf("%+v", d)
	}
}

// TestOptionsLikeOpencodesOwn: a model may name its options like the one that takes words. The prompt shows each.
func TestOptionsLikeOpencodesOwn(t *testing.T) {
	for _, labels := range [][]string{{"Type your own answer", "Wipe it"}, {"Wipe it", "Type your own answer"}} {
		v := &agent.View{Cols: 80, Rows: 30}
		for range 10 {
			v.Lines = append(v.Lines, agent.Row{})
		}
		for _, row := range []string{"", "  What now?", "", "  1. " + labels[0], "  2. " + labels[1], "  3. Type your own answer", "", "  ↑↓ select  enter submit  esc dismiss"} {
			v.Lines = append(v.Lines, agent.Row{Text: strings.TrimRight("┃"+row, " ")})
		}
		for len(v.Lines) < v.Rows {
			v.Lines = append(v.Lines, agent.Row{})
		}
		d := (opencode.Driver{}).Screen(v).Dialog
		p := opencode.Driver{}.FromDialog(d)
		if m := (opencode.Driver{}).Match(d, p); !slices.Equal(p.Questions[0].Options, labels) || m != agent.WholeMatch {
			t.Errorf("%q: match %v, %+v", labels, m, p.Questions)
		}
	}
}
