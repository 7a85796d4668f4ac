package generic

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/generic/rules"
	"berth/detect"
)

// TestNextQuestionInABurst: a program clears its screen and asks the same again at once. The second question is another
// prompt, however short the screen was without one, and also if the key for the first came while it was redrawn, or before
// it had a prompt.
func TestNextQuestionInABurst(t *testing.T) {
	ruleset, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{{Lines: []string{`^(?P<text>Go on)\? \[y/n\]$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := Driver{Ruleset: ruleset}.ForCommand([]string{"x"}, "x")
	for _, when := range []string{"on the screen", "while it was redrawn", "before its prompt"} {
		for gap := range 60 {
			now := time.Unix(1000, 0)
			f := detect.New(d, detect.Options{Start: now})
			shows := func(times int, rows ...string) string {
				v := &agent.View{Cols: 80, Rows: len(rows)}
				for _, row := range rows {
					v.Lines = append(v.Lines, agent.Row{Text: row})
				}
				for range times {
					now = now.Add(10 * time.Millisecond)
					f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: d.Screen(v), Time: now})
				}
				if r := f.Status().Request; r != nil {
					return r.ID
				}
				return ""
			}
			shows(10, "")
			first := ""
			switch when {
			case "on the screen":
				first = shows(300, "Go on? [y/n]")
				f.Typed(now)
			case "while it was redrawn":
				first = shows(300, "Go on? [y/n]")
				shows(2, "")
				f.Typed(now)
				shows(5, "Go on? [y/n]")
			case "before its prompt":
				shows(5, "Go on? [y/n]")
				f.Typed(now)
				first = shows(100, "Go on? [y/n]")
			}
			shows(gap, "")
			if shows(1, "Go on? [y/n]") == first {
				if p, _ := f.Pending(first); !p.Alike {
					t.Errorf("key %s: after %d ms without a question the second one is answered as the first", when, 10*gap)
				}
			}
			if second := shows(300, "Go on? [y/n]"); first == "" || second == "" || second == first {
				t.Errorf("key %s: after %d ms without a question it is %q, and was %q", when, 10*gap, second, first)
			}
		}
	}
}

// TestKeyBeforeTheQuestion: the record of a key is read late, and the question came after the key. It keeps its id.
func TestKeyBeforeTheQuestion(t *testing.T) {
	d, dialog := reads(t, rules.Rule{Lines: []string{`^(?P<text>Go on)\? \[y/n\]$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}, "Go on? [y/n]")
	now := time.Unix(1000, 0)
	f := detect.New(d, detect.Options{Start: now})
	shows := func(times int) string {
		for range times {
			now = now.Add(10 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{Dialog: dialog}, Time: now})
		}
		if r := f.Status().Request; r != nil {
			return r.ID
		}
		return ""
	}
	shows(5)
	f.Typed(now.Add(-time.Second))
	if first := shows(50); first == "" || shows(300) != first {
		t.Errorf("it was %q, and is %q", first, shows(1))
	}
}
