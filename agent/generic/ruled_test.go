package generic

import (
	"testing"
	"time"

	"berth/agent"
	"berth/agent/generic/rules"
	"berth/detect"
)

// TestOtherOptions: when a program's options change, its question becomes another prompt,
// whatever type its rule has.
func TestOtherOptions(t *testing.T) {
	for _, kind := range []string{"", "permission", "plan"} {
		book, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{{
			Type: kind, Lines: []string{`^(?P<text>Pick one):`}, Option: `^(?:(?P<focus>>)| )(?P<key>\d)\) (?P<label>.+)$`,
			Choose: rules.Choose{Next: "Down", Previous: "Up", Focus: "group", Keys: []string{"Enter"}},
		}}}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		d := Driver{Book: book}.ForCommand([]string{"x"}, "x")
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
	book, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{{Lines: []string{`^(?P<text>Go on)\? \[y/n\]$`}, Options: []rules.Option{{Label: "Yes", Keys: []string{"y"}}}}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := Driver{Book: book}.ForCommand([]string{"x"}, "x")
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
