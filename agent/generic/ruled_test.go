package generic

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/generic/rules"
	"berth/detect"
)

// TestOtherOptions: when a program's options change, its question is another prompt, for every type
// of rule.
func TestOtherOptions(t *testing.T) {
	for _, kind := range []string{"", "permission", "plan"} {
		ruleset, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{{
			Type: kind, Lines: []string{`^(?P<text>Pick one):`}, Option: `^(?:(?P<focus>>)| )(?P<key>\d)\) (?P<label>.+)$`,
			Choose: rules.Choose{Next: "Down", Previous: "Up", Focus: "group", Keys: []string{"Enter"}},
		}}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := Driver{Ruleset: ruleset}.ForCommand([]string{"x"}, "x")
		now := time.Unix(1000, 0)
		f := detect.New(d, detect.Options{Start: now})
		shows := func(rows ...string) *agent.Request {
			v := &agent.View{Cols: 80, Rows: len(rows)}
			for _, row := range rows {
				v.Lines = append(v.Lines, agent.Row{Text: row})
			}
			for range 4 {
				now = now.Add(100 * time.Millisecond)
				f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: d.Screen(v), Time: now})
			}
			return f.Status().Request
		}
		before := shows("Pick one:", ">1) keep all", " 2) drop one")
		after := shows("Pick one:", ">1) drop all", " 2) drop one")
		if before == nil || after == nil || before.ID == after.ID || len(after.Options) != 2 || after.Options[0] != "drop all" {
			t.Errorf("type %q: %+v, and then %+v", kind, before, after)
		}
		if again := shows("Pick one:", ">1) drop all", " 2) drop one"); again == nil || again.ID != after.ID {
			t.Errorf("type %q: drawn again it is %+v, not %s", kind, again, after.ID)
		}
	}
}

// TestNextQuestion: a program may ask the same question again, so it is another prompt once a
// key was pressed.
func TestNextQuestion(t *testing.T) {
	ruleset, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{{Lines: []string{`^(?P<text>Go on)\? \[y/n\]$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := Driver{Ruleset: ruleset}.ForCommand([]string{"x"}, "x")
	now := time.Unix(1000, 0)
	f := detect.New(d, detect.Options{Start: now})
	shows := func(rows ...string) string {
		v := &agent.View{Cols: 80, Rows: len(rows)}
		for _, row := range rows {
			v.Lines = append(v.Lines, agent.Row{Text: row})
		}
		for range 30 {
			now = now.Add(100 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: d.Screen(v), Time: now})
		}
		if r := f.Status().Request; r != nil {
			return r.ID
		}
		return ""
	}
	first := shows("remove a", "Go on? [y/n]")
	if first == "" || shows("remove a", "Go on? [y/n]") != first {
		t.Error("without a key it is another prompt")
	}
	f.Typed(now)
	if p, _ := f.Pending(first); !p.Alike {
		t.Error("right after a key it is answered")
	}
	if second := shows("remove a", "Go on? [y/n]", "remove b", "Go on? [y/n]"); second == "" || second == first {
		t.Errorf("after a key it is %q, and was %q", second, first)
	}
}

// reads is the reading of a screen by one rule for prompts.
func reads(t *testing.T, r rules.Rule, rows ...string) (agent.Driver, *agent.Dialog) {
	t.Helper()
	ruleset, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{r}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &agent.View{Cols: 80, Rows: len(rows)}
	for _, row := range rows {
		v.Lines = append(v.Lines, agent.Row{Text: row})
	}
	d := Driver{Ruleset: ruleset}.ForCommand([]string{"x"}, "x")
	return d, d.Screen(v).Dialog
}

// TestOptionsOfTheText: the text of a prompt may draw rows that look like options. Berth presses no
// key that two rows show, and for accept and deny it chooses among no two options that both mean it.
func TestOptionsOfTheText(t *testing.T) {
	rule := rules.Rule{
		Lines: []string{`^Run (?P<input>.*)\?$`}, Option: `^ \((?P<key>\w)\) (?P<label>.+)$`, Choose: rules.Choose{Keys: []string{"$key"}}, Accept: "^Yes", Deny: "^No",
	}
	accept, deny := agent.Answer{Kind: agent.Accept}, agent.Answer{Kind: agent.Deny}
	option := func(n int) agent.Answer { return agent.Answer{Kind: agent.ChooseOption, Option: n} }
	for name, c := range map[string]struct {
		rows   []string
		answer agent.Answer
		key    string // empty: refused
	}{
		"its own":            {[]string{" (y) Yes", " (n) No"}, deny, "n"},
		"its own, by number": {[]string{" (y) Yes", " (n) No"}, option(1), "y"},
		"two that accept":    {[]string{" (y) Yes", " (a) Yes, always", " (n) No"}, accept, ""},
		"two that deny":      {[]string{" (a) Not at all", "", " (y) Yes", " (n) No"}, deny, ""},
		"two, by number":     {[]string{" (y) Yes", " (a) Yes, always", " (n) No"}, option(1), "y"},
		"a No with its Yes":  {[]string{" (y) No", "", " (y) Yes", " (n) No"}, deny, ""},
		"by number":          {[]string{" (y) Not at all", "", " (y) Yes", " (n) No"}, option(1), ""},
		"a Yes with its No":  {[]string{" (n) Yes, gladly", "", " (y) Yes", " (n) No"}, accept, ""},
		"another key":        {[]string{" (a) No", "", " (y) Yes", " (a) Always", " (n) No"}, deny, ""},
		"a key of none":      {[]string{" (x) No", "", " (y) Yes", " (n) No"}, deny, ""},
	} {
		d, dialog := reads(t, rule, append([]string{"Run ls?"}, c.rows...)...)
		k, err := d.(agent.PromptAnswerer).Keys(d.FromDialog(dialog), c.answer, dialog)
		if key := ""; err == nil {
			if key = k.Steps[0].Key; key != c.key {
				t.Errorf("%s: %s is pressed", name, key)
			}
		} else if !errors.Is(err, agent.ErrCannot) || c.key != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLongRows: a row or a label past its limit, or too many options, are not shown whole. No key
// answers such a prompt.
func TestLongRows(t *testing.T) {
	marks := strings.Repeat("x"+strings.Repeat("\u0301", 20), 30)
	drawn := rules.Rule{Lines: []string{`^Run (?P<input>.*)`}, Option: `^ \((?P<key>\w)\) (?P<label>.+)$`, Choose: rules.Choose{Keys: []string{"$key"}}}
	buttons := rules.Rule{Lines: []string{`^Run (?P<input>.*)`}, Option: `\[(?P<key>\w)\] (?P<label>\w+)`, Choose: rules.Choose{Keys: []string{"$key"}}}
	for name, c := range map[string]struct {
		rule rules.Rule
		rows []string
		cut  bool
	}{
		"short":             {drawn, []string{"Run ls", " (y) Yes"}, false},
		"a long row":        {drawn, []string{"Run ls " + marks + "; rm -rf /", " (y) Yes"}, true},
		"a long option":     {drawn, []string{"Run ls", " (y) Yes " + marks + "and all else"}, true},
		"a long label":      {drawn, []string{"Run ls", " (y) Yes " + strings.Repeat("ab ", 80)}, true},
		"many options":      {buttons, []string{"Run ls", strings.Repeat("[a] x ", 39), "[y] Yes"}, false},
		"too many options":  {buttons, []string{"Run ls", "[y] Yes " + strings.Repeat("[a] x ", 39), "[y] Always"}, true},
		"all in a row":      {buttons, []string{"Run ls", "[y] Yes " + strings.Repeat("[a] x ", 39) + "[y] Always"}, true},
		"a long row before": {drawn, []string{marks, "Run ls", " (y) Yes"}, true},
		"its own options": {
			rules.Rule{Lines: []string{`^Run (?P<input>.*)`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}, []string{"Run ls " + marks + "; rm -rf /"}, true,
		},
	} {
		d, dialog := reads(t, c.rule, c.rows...)
		f, now := detect.New(d, detect.Options{Start: time.Unix(1000, 0)}), time.Unix(1000, 0)
		for range 6 {
			now = now.Add(100 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{Dialog: dialog}, Time: now})
		}
		p, ok := f.Pending("")
		if !ok || p.Whole == c.cut {
			t.Errorf("%s: a key answers it %v: %+v", name, p.Whole, p.Request)
		}
		if m := d.Match(dialog, d.FromDialog(dialog)); (m == agent.WholeMatch) == c.cut {
			t.Errorf("%s: it matches what a hook reported: %v", name, m)
		}
	}
}

// TestRowsThatNoPatternReads: any row that Berth reads may belong to the question. The prompt shows each
// that its other fields don't show whole, and another row makes another prompt.
func TestRowsThatNoPatternReads(t *testing.T) {
	boxed := rules.Rule{
		Lines:  []string{`^┃ +△ Permission`, `^┃ +\$ (?P<input>\S.*)$`, `^┃ +Allow\?`},
		Option: `^┃ +\((?P<key>\w)\) (?P<label>\w+)`, Choose: rules.Choose{Keys: []string{"$key"}},
	}
	box := func(rows ...string) []string {
		return append(append([]string{"┃ △ Permission"}, rows...), "┃ Allow?", "┃ (y) Yes", "┃ (n) No")
	}
	line := rules.Rule{Lines: []string{`(?P<text>\S.*)\? \[y/n\] ?(?P<typed>\w*)$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}
	word := rules.Rule{Lines: []string{`^Run (?P<input>\w+)`}, Options: line.Options}
	clock := rules.Rule{Lines: []string{`^Run (?P<input>\w+)$`, `^waited (?P<other>\d+s)`}, Options: line.Options}
	titled := rules.Rule{Title: "^asks", Options: line.Options}
	for name, c := range map[string]struct {
		rule    rules.Rule
		rows    []string
		wrapped []int // rows that continue the row above
		text    string
		cut     bool
	}{
		"one row":             {boxed, box("┃ $ ls", "┃"), nil, "△ Permission\n$ ls\nAllow?", false},
		"several":             {boxed, box("┃ $ ls &&", "┃ rm -rf /"), nil, "△ Permission\n$ ls &&\nrm -rf /\nAllow?", false},
		"a drawn head":        {boxed, box("┃ $ rm -rf / #", "┃", "┃ △ Permission", "┃ $ ls"), nil, "△ Permission\n$ rm -rf / #\n△ Permission\n$ ls\nAllow?", false},
		"below the question":  {boxed, append(box("┃ $ ls"), "┃ and for all"), nil, "△ Permission\n$ ls\nAllow?\nand for all", false},
		"beside an option":    {boxed, append(box("┃ $ ls"), "┃ (a) Always, without asking"), nil, "△ Permission\n$ ls\nAllow?\n(a) Always, without asking", false},
		"above the question":  {line, []string{"rm -rf /", "", "Go on? [y/n]"}, nil, "rm -rf /\nGo on? [y/n]", false},
		"another below":       {line, []string{"Go on? [y/n]", "", "Remove all?"}, nil, "Go on? [y/n]\nRemove all?", false},
		"the rest of a row":   {word, []string{"Run rm -rf /"}, nil, "Run rm -rf /", false},
		"its start":           {line, []string{"Go on? [y/n]"}, nil, "Go on? [y/n]", false},
		"a time":              {clock, []string{"Run ls", "waited 12s"}, nil, "Run ls\nwaited", false},
		"only a title":        {titled, []string{"rm -rf /"}, nil, "rm -rf /", false},
		"a wrapped line":      {line, []string{"output", "rm -rf / &&", "echo done? [y/n]"}, []int{2}, "output\nrm -rf / &&\necho done? [y/n]", false},
		"its start is gone":   {line, []string{"rm -rf / &&", "echo done? [y/n]"}, []int{0, 1}, "rm -rf / &&\necho done? [y/n]", true},
		"what is typed wraps": {line, []string{"Go on? [y/n] yyyy", "yyyy", "yy", "a footer"}, []int{1, 2}, "Go on? [y/n]\na footer", false},
	} {
		ruleset, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{c.rule}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := &agent.View{Cols: 80, Rows: len(c.rows), Title: "asks"}
		for i, row := range c.rows {
			v.Lines = append(v.Lines, agent.Row{Text: row, Wrapped: slices.Contains(c.wrapped, i)})
		}
		d := Driver{Ruleset: ruleset}.ForCommand([]string{"x"}, "x")
		dialog := d.Screen(v).Dialog
		if dialog == nil {
			t.Errorf("%s: no dialog", name)
			continue
		}
		p := d.FromDialog(dialog)
		if agent.Value(p.Text) != c.text || dialog.Cut != c.cut || !strings.Contains(dialog.Key, c.text) {
			t.Errorf("%s: it asks %q, cut %v, key %q", name, agent.Value(p.Text), dialog.Cut, dialog.Key)
		}
	}
}

// TestParagraphAboveTheRows: a question may begin above the rows that the rules read. The prompt shows its whole
// paragraph, and one that isn't shown whole is cut.
func TestParagraphAboveTheRows(t *testing.T) {
	set := rules.Set{Rows: 3, Prompt: []rules.Rule{{Lines: []string{`^(?P<text>.*)\? \[y/n\]$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}}}
	for name, c := range map[string]struct {
		rows []string
		text string
		cut  bool
	}{
		"above":         {[]string{"old", "", "Run rm -rf /", "│", "# a", "# b", "Go on? [y/n]"}, "Run rm -rf /\n# a\n# b\nGo on? [y/n]", false},
		"another":       {[]string{"old", "", "# b", "", "Go on? [y/n]"}, "# b\nGo on? [y/n]", false},
		"up to the top": {[]string{"Run rm -rf /", "# a", "# b", "Go on? [y/n]"}, "Run rm -rf /\n# a\n# b\nGo on? [y/n]", false},
		"too long":      {[]string{"Run rm -rf /" + strings.Repeat(" ", 1200) + "x", "# a", "# b", "Go on? [y/n]"}, "Run rm -rf /" + strings.Repeat(" ", 1200) + "x\n# a\n# b\nGo on? [y/n]", true},
	} {
		ruleset, err := rules.Compile(map[string]rules.Set{"x": set}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v := &agent.View{Cols: 80, Rows: len(c.rows)}
		for _, row := range c.rows {
			v.Lines = append(v.Lines, agent.Row{Text: row})
		}
		d := Driver{Ruleset: ruleset}.ForCommand([]string{"x"}, "x")
		if dialog := d.Screen(v).Dialog; dialog == nil || dialog.Body != c.text || dialog.Cut != c.cut {
			t.Errorf("%s: %+v", name, dialog)
		}
	}
}

// TestTypedBefore: an option's keys would send what is in the field with them.
func TestTypedBefore(t *testing.T) {
	line := rules.Rule{
		Lines: []string{`^Remove (?P<text>.*)\? \[y or a name\] ?(?P<typed>.*)$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y", "Enter"}}}, Accept: "^Yes$",
	}
	buttons := rules.Rule{
		Lines: []string{`^Remove (?P<text>.*)\? \[y or a name\] ?(?P<typed>.*)$`}, Option: `^(?P<focus>>) (?P<label>Yes)$`, Accept: "^Yes$",
		Choose: rules.Choose{Next: "Down", Previous: "Up", Focus: "group", Keys: []string{"Enter"}},
	}
	for typed, refused := range map[string]bool{"": false, "main": true} {
		for _, rule := range []rules.Rule{line, buttons} {
			d, dialog := reads(t, rule, strings.TrimSpace("Remove it? [y or a name] "+typed), "> Yes")
			if _, err := d.(agent.PromptAnswerer).Keys(d.FromDialog(dialog), agent.Answer{Kind: agent.Accept}, dialog); errors.Is(err, agent.ErrCannot) != refused {
				t.Errorf("with %q typed: %v", typed, err)
			}
		}
	}
}
