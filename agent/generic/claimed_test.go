package generic

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/generic/rules"
	"berth/detect"
)

// TestClaimedText: any process of the session can report what a program asks. Where the rules read
// no text, a dialog doesn't show the reported one, so no key answers that.
func TestClaimedText(t *testing.T) {
	book, err := rules.Compile(map[string]rules.Set{"x": {Prompt: []rules.Rule{{
		Lines: []string{`^Delete all\?`}, Option: `^(?P<key>\d)\) (?P<label>.+)$`, Choose: rules.Choose{Keys: []string{"$key"}},
	}}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := Driver{Ruleset: book}.ForCommand([]string{"x"}, "x")
	now := time.Unix(1000, 0)
	f := detect.New(d, detect.Options{Start: now})
	shows := func(rows ...string) *agent.Dialog {
		v := &agent.View{Cols: 2000, Rows: len(rows)}
		for _, row := range rows {
			v.Lines = append(v.Lines, agent.Row{Text: row})
		}
		r := d.Screen(v)
		for range 4 {
			now = now.Add(100 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now})
		}
		return r.Dialog
	}
	facts, err := d.Hook([]byte(`{"berth":"state","state":"prompt","message":"List them?"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range facts {
		fact.Time = now
		f.Apply(fact)
	}
	if long := shows("Delete all?", "1) yes"+strings.Repeat(" really", 200), "2) no"); long == nil || !long.Cut {
		t.Fatalf("%+v", long)
	}
	dialog := shows("Delete all?", "1) yes", "2) no")
	for range 20 {
		shows("Delete all?", "1) yes", "2) no")
	}
	for _, p := range f.Status().Requests {
		if q, ok := f.Pending(p.ID); ok && agent.Value(p.Text) == "List them?" && q.Whole && !p.Contested && f.Asks(dialog, p.ID) {
			t.Errorf("a key answers %+v", p)
		}
	}
}

// TestSubjectOfACutDialog: a program reports only that it asks, and a dialog is drawn in part, and then
// whole. The prompt that showed no subject doesn't get the dialog's, so no key answers it.
func TestSubjectOfACutDialog(t *testing.T) {
	rule := rules.Rule{Lines: []string{`^(?P<text>Delete .*)\?`}, Option: `^(?P<key>\d)\) (?P<label>.+)$`, Choose: rules.Choose{Keys: []string{"$key"}}}
	now := time.Unix(1000, 0)
	d, long := reads(t, rule, "Delete all?", "1) yes"+strings.Repeat("x", 300), "2) no")
	_, whole := reads(t, rule, "Delete all?", "1) "+long.Options[0].Label, "2) no")
	f := detect.New(d, detect.Options{Start: now})
	facts, err := d.Hook([]byte(`{"berth":"state","state":"prompt"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range facts {
		fact.Time = now
		f.Apply(fact)
	}
	asked := f.Status().Request
	for _, dialog := range []*agent.Dialog{long, whole} {
		for range 10 {
			now = now.Add(100 * time.Millisecond)
			f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{Dialog: dialog}, Time: now})
		}
	}
	if asked == nil || asked.Title != nil || !long.Cut || whole.Cut || f.Asks(whole, asked.ID) || !f.Asks(whole, f.Status().Request.ID) {
		t.Errorf("%+v is asked as %+v", asked, f.Status().Request)
	}
}
