package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// one is a set with one rule for the state.
func one(state string, r Rule) Set {
	s := Set{}
	switch state {
	case "idle":
		s.Idle = []Rule{r}
	case "working":
		s.Working = []Rule{r}
	case "error":
		s.Error = []Rule{r}
	default:
		s.Prompt = []Rule{r}
	}
	return s
}

func TestCheck(t *testing.T) {
	yes := []Option{{"Yes", []string{"y"}}}
	for name, c := range map[string]struct {
		set  Set
		want string // start of the only problem; empty for none
	}{
		"nothing":                    {Set{}, "x: it says nothing about the program"},
		"it reports":                 {Set{Reports: true}, ""},
		"idle":                       {one("idle", Rule{Lines: []string{"^> (?P<draft>.*)$"}}), ""},
		"nothing to be seen":         {one("idle", Rule{}), "x.idle[0]: the rule has nothing to match"},
		"a bad pattern":              {one("working", Rule{Lines: []string{"a", "(b"}}), "x.working[0].lines[1]: not a regular expression"},
		"a long pattern":             {one("idle", Rule{Title: strings.Repeat("a", 501)}), "x.idle[0].title: the pattern has 501 bytes"},
		"a huge one":                 {one("idle", Rule{Lines: []string{"(abc){500}"}}), "x.idle[0].lines[0]: the pattern is too large"},
		"one that never ends":        {one("idle", Rule{Lines: []string{"((a{1000}){1000}){1000}"}}), "x.idle[0].lines[0]: not a regular expression"},
		"many large ones":            {Set{Idle: []Rule{large(), large(), large(), large(), large(), large()}}, "x: its patterns are too large together"},
		"too many":                   {Set{Idle: make([]Rule, 33)}, "x.idle: there are 33 rules"},
		"a group of another":         {one("idle", Rule{Lines: []string{"(?P<label>a)"}}), `x.idle[0].lines[0]: the group "label" has no meaning here`},
		"a prompt's field":           {one("idle", Rule{Lines: []string{"a"}, Option: "b"}), "x.idle[0].option: only prompts have it"},
		"a class":                    {one("error", Rule{Lines: []string{"a"}, Class: "bad"}), `x.error[0].class: "bad" isn't a class`},
		"a sequence":                 {one("working", Rule{OSC: OSC{9, "^4;1"}}), ""},
		"no such sequence":           {one("working", Rule{OSC: OSC{52, "a"}}), "x.working[0].osc.number: Berth doesn't read the sequence 52"},
		"a sequence and lines":       {one("working", Rule{OSC: OSC{9, "a"}, Lines: []string{"a"}}), "x.working[0].osc: osc can't be combined"},
		"options":                    {one("prompt", Rule{Lines: []string{"a"}, Options: yes, Accept: "^Yes$"}), ""},
		"a bad key":                  {one("prompt", Rule{Lines: []string{"a"}, Options: []Option{{"Yes", []string{"Entr"}}}}), "x.prompt[0].options[0].keys: key \"Entr\""},
		"no keys":                    {one("prompt", Rule{Lines: []string{"a"}, Options: []Option{{"Yes", nil}}}), "x.prompt[0].options[0].keys: there are none"},
		"keys without a check":       {one("prompt", Rule{Lines: []string{"a"}, Options: []Option{{"Yes", []string{"y", "Enter"}}}}), "x.prompt[0].options[0].keys: no pattern shows"},
		"keys that are":              {one("prompt", Rule{Lines: []string{"a(?P<typed>.*)"}, Options: []Option{{"Yes", []string{"y", "Enter"}}}}), ""},
		"a label with an escape":     {one("prompt", Rule{Lines: []string{"a"}, Options: []Option{{"Y\x1b[2J", []string{"y"}}}}), "x.prompt[0].options[0].label: it isn't a line of text"},
		"both kinds":                 {one("prompt", Rule{Lines: []string{"a"}, Options: yes, Option: "(?P<label>b)", Choose: Choose{Keys: []string{"Enter"}, Next: "Down", Previous: "Up", Focus: "cursor"}}), "x.prompt[0].option: the rule has options too"},
		"no label":                   {one("prompt", Rule{Lines: []string{"a"}, Option: "b", Choose: Choose{Keys: []string{"Enter"}, Next: "Down", Previous: "Up", Focus: "cursor"}}), "x.prompt[0].option: it doesn't say which part"},
		"no focus":                   {one("prompt", Rule{Lines: []string{"a"}, Option: "(?P<label>b)", Choose: Choose{Keys: []string{"Enter"}, Next: "Down", Previous: "Up"}}), "x.prompt[0].choose.focus: it is missing"},
		"no key":                     {one("prompt", Rule{Lines: []string{"a"}, Option: "(?P<label>b)", Choose: Choose{Keys: []string{"Enter"}}}), "x.prompt[0].choose: no key chooses"},
		"text that no pattern shows": {one("prompt", Rule{Lines: []string{"a"}, Text: []string{"Enter"}}), "x.prompt[0].text: no pattern shows"},
		"accept of nothing":          {one("prompt", Rule{Lines: []string{"a"}, Accept: "a"}), "x.prompt[0]: accept and deny choose among options"},
		"a nudge that is blind":      {Set{Idle: []Rule{{Lines: []string{"^>"}}}, Nudge: &Nudge{}}, "x.nudge: no pattern shows the composer's text"},
		"a nudge":                    {Set{Idle: []Rule{{Lines: []string{"^>(?P<draft>.*)"}}}, Nudge: &Nudge{Clear: []string{"Ctrl-u"}}}, ""},
		"a long wait":                {Set{Reports: true, After: After{Idle: 2 * time.Minute}}, "x.after.idle: 2m0s is too long"},
		"many rows":                  {Set{Reports: true, Rows: 1000}, "x.rows: 1000 rows are too many"},
		"a path":                     {Set{Reports: true, Programs: []string{"/bin/a"}}, `x.programs[0]: "/bin/a" isn't a program's name`},
	} {
		t.Run(name, func(t *testing.T) {
			list := Check(map[string]Set{"x": c.set})
			var all []string
			for _, p := range list {
				all = append(all, p.Field+": "+p.Text)
				if p.Remedy == "" && !strings.Contains(p.Text, "regular expression") {
					t.Errorf("%s: %s has no remedy", p.Field, p.Text)
				}
			}
			if got := strings.Join(all, "\n"); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || len(list) > 1 {
				t.Errorf("it says %q, want %q", got, c.want)
			}
			if _, err := Compile(map[string]Set{"x": c.set}, nil); (err == nil) != (c.want == "") {
				t.Errorf("compiled: %v", err)
			}
		})
	}
	if list := Check(map[string]Set{"a": {Reports: true, Programs: []string{"p"}}, "b": {Reports: true, Programs: []string{"p"}}}); len(list) != 1 || list[0].Field != "b.programs[0]" {
		t.Errorf("two sets for one program: %v", list)
	}
}

func large() Rule { return Rule{Lines: []string{"a{400}b{400}"}} }

// screen is a view of the rows. A row with only a caret ^ puts the cursor into the row above it.
func screen(title string, rows ...string) *agent.View {
	v := &agent.View{Cols: 80, Rows: len(rows) + 5, Title: title, Lines: make([]agent.Row, len(rows)+5)}
	for i, row := range rows {
		if at := strings.Index(row, "█"); at >= 0 {
			row = strings.Replace(row, "█", "", 1)
			v.Cursor = agent.Caret{Row: i, Col: len([]rune(row[:at]))}
		}
		v.Lines[i] = agent.Row{Text: strings.TrimRight(row, " ")}
	}
	return v
}

func compiled(t *testing.T, s Set) *Compiled {
	t.Helper()
	b, err := Compile(map[string]Set{"x": s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b.Named("x")
}

func TestScreen(t *testing.T) {
	c := compiled(t, Set{
		Rows:    8,
		Idle:    []Rule{{Lines: []string{`^>(?P<draft>.*)$`}, Within: 2}},
		Working: []Rule{{Lines: []string{`^busy`}}, {Title: `^⠋`}},
		Error:   []Rule{{Lines: []string{`^fatal: `}, Class: "network"}},
		Prompt: []Rule{
			{Name: "menu", Lines: []string{`┤ (?P<title>\w+) ├`, `│ (?P<text>\S.*?) +│`, `<Ok>`}, Option: `│ {3,}(?P<label>(?P<key>\w) \w+)`,
				Choose: Choose{Next: "Down", Previous: "Up", Focus: "cursor", Keys: []string{"Enter"}}},
			{Name: "line", Lines: []string{`^(?P<text>.*)\? \[y/n\](?P<typed>.*)$`}, Within: 1, Options: []Option{{"Yes", []string{"y", "Enter"}}, {"No", []string{"n", "Enter"}}}, Accept: "^Yes"},
		},
	})
	menu := []string{"┤ Old ├", "│ Which   │", "<Ok>", "┤ Env ├", "│ Which   │", "│    a Alpha │", "│    b █Beta │", "<Ok>"}
	for name, v := range map[string]struct {
		view *agent.View
		want string
	}{
		"empty":                  {screen(""), ""},
		"idle":                   {screen("", "hello", ">"), "idle «»"},
		"a draft":                {screen("", "> half a"), "idle «half a»"},
		"a draft that goes on":   {screen("", "> half a", "line█"), "idle «half a\nline»"},
		"a prompt further up":    {screen("", "> x", "a", "b", "c"), ""},
		"working":                {screen("", "busy with it", ">"), "working «busy with it»"},
		"by its title":           {screen("⠋ thinking", ">"), "working «⠋ thinking»"},
		"an error, at rest":      {screen("", "fatal: no route", ">"), "failed network «fatal: no route» idle «»"},
		"far above":              {screen("", "fatal: no route", "1", "2", "3", "4", "5", "6", "7", ">"), "idle «»"},
		"a menu, the lowest":     {screen("", menu...), "prompt menu question Env «Which» [a Alpha | b Beta*] whole"},
		"a menu half painted":    {screen("", menu[3:5]...), ""},
		"its options to come":    {screen("", menu[3], menu[4], "<Ok>"), "prompt menu question Env «Which» [] partly"},
		"a question on the line": {screen("", ">", "Do it? [y/n] y"), "prompt line question  «Do it» typed «y» [Yes | No] whole"},
		"not on the last line":   {screen("", "Do it? [y/n]", "ok", ">"), "idle «»"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := summary(c.Screen(v.view)); got != v.want {
				t.Errorf("it is %q, want %q", got, v.want)
			}
		})
	}
}

// summary describes what the rules read, in one line.
func summary(s Seen) string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if p := s.Prompt; p != nil {
		add("prompt %s %s %s «%s»", p.Name, p.Type, p.Title, p.Text)
		if p.Typed != "" {
			add("typed «%s»", p.Typed)
		}
		var list []string
		for _, o := range p.Options {
			mark := ""
			if o.Focused {
				mark = "*"
			}
			list = append(list, o.Label+mark)
		}
		add("[%s]", strings.Join(list, " | "))
		if p.Whole {
			add("whole")
		} else {
			add("partly")
		}
	}
	if s.Failed != nil {
		add("failed %s «%s»", s.Failed.Class, s.Failed.Text)
	}
	if s.Working != "" {
		add("working «%s»", s.Working)
	}
	if s.Idle != nil {
		add("idle «%s»", s.Idle.Draft)
	}
	return strings.Join(words, " ")
}

func TestSequence(t *testing.T) {
	c := compiled(t, Set{Working: []Rule{{Name: "busy", OSC: OSC{9, "^4;[13]"}}}, Prompt: []Rule{{OSC: OSC{777, "needs you"}, Type: "permission"}}})
	if state, r := c.Sequence(9, "4;1;30"); state != agent.Working || r.Name != "busy" {
		t.Errorf("%s %+v", state, r)
	}
	if state, r := c.Sequence(777, "notify;x needs you"); state != agent.Prompt || r.Type != "permission" {
		t.Errorf("%s %+v", state, r)
	}
	if state, _ := c.Sequence(9, "other"); state != "" {
		t.Errorf("%s", state)
	}
	if c.Looks() {
		t.Error("rules with only sequences read the screen")
	}
}

// TestUnchangedSetsStay: a change of other rules doesn't change a session's rules.
func TestUnchangedSetsStay(t *testing.T) {
	a, b := Set{Reports: true, Programs: []string{"a"}}, Set{Reports: true}
	first, err := Compile(map[string]Set{"a": a, "b": b}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Rows = 5
	second, err := Compile(map[string]Set{"a": a, "b": b}, first)
	if err != nil {
		t.Fatal(err)
	}
	if first.Named("a") != second.Named("a") || first.Named("b") == second.Named("b") || second.For([]string{"/usr/bin/a"}) != second.Named("a") {
		t.Error("an unchanged set has a new value, or a changed one has the old value")
	}
}

func TestLiteral(t *testing.T) {
	for text, want := range map[string]string{
		`^> (?P<draft>.*)$`: "> ", `(?i)rate`: "", `a|b`: "", `^(?P<text>.+) \(Y\)es.*\[Yes\]:`: " (Y)es", `(abc)?d`: "d", `(abc)+d`: "abc", `x{0,2}`: "", `[ab]cd`: "cd",
	} {
		if got := pattern(text).literal; got != want {
			t.Errorf("%s must have %q, want %q", text, got, want)
		}
	}
}

func FuzzScreen(f *testing.F) {
	f.Add("> half\n┤ Env ├\n│ Which │\n<Ok>", "title", 1, 3)
	s := Set{
		Idle: []Rule{{Lines: []string{`^>(?P<draft>.*)$`}}}, Error: []Rule{{Lines: []string{`fatal`}}},
		Prompt: []Rule{{Lines: []string{`┤ (?P<title>.+) ├`, `│(?P<text>.*)│`}, Option: `(?P<focus>\*)?(?P<label>\w+)`,
			Choose: Choose{Next: "Down", Previous: "Up", Focus: "group", Keys: []string{"Enter"}}}},
	}
	ruleset, err := Compile(map[string]Set{"x": s}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, title string, row, col int) {
		v := screen(title, strings.Split(text, "\n")...)
		v.Cursor = agent.Caret{Row: row, Col: col}
		seen := ruleset.Named("x").Screen(v)
		if p := seen.Prompt; p != nil && len(p.Options) > drawnMost {
			t.Errorf("%d options", len(p.Options))
		}
	})
}

// BenchmarkScreen reads a screen of 200x50 with rules like those in docs/agents/rules.md.
func BenchmarkScreen(b *testing.B) {
	ruleset, err := Compile(map[string]Set{"x": {
		Idle:    []Rule{{Lines: []string{`^> (?P<draft>.*)$`}}},
		Working: []Rule{{Lines: []string{`Waiting for .*|Thinking`}}},
		Error:   []Rule{{Lines: []string{`(?i)rate ?limit`}}},
		Prompt:  []Rule{{Lines: []string{`^(?P<text>.+) \(Y\)es/\(N\)o.*\[Yes\]:(?P<typed>.*)$`}, Options: []Option{{"Yes", []string{"y", "Enter"}}}}},
	}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	v := screen("", strings.Split(strings.Repeat(strings.Repeat("lorem ipsum ", 16)+"\n", 45), "\n")...)
	for b.Loop() {
		ruleset.Named("x").Screen(v)
	}
}
