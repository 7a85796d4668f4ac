package gemini_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/gemini"
	"berth/detect"
)

// keyed reports whether an answer to what the screen asks presses a key there.
func keyed(t *testing.T, name string, r *agent.Reading) bool {
	t.Helper()
	f, now := detect.New(gemini.Driver{}, detect.Options{Start: time.Unix(0, 0)}), time.Unix(0, 0)
	for range 4 {
		now = now.Add(100 * time.Millisecond)
		f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: now})
	}
	p, ok := f.Pending("")
	if !ok {
		t.Fatalf("%s: nothing is asked: %+v", name, r.Dialog)
	}
	return p.Whole && f.Asks(r.Dialog, p.Request.ID)
}

// TestFoldedInput: the dialog of a server's tool shows the tool's input on its first row alone. Where it has
// no room there, the dialog takes no key.
func TestFoldedInput(t *testing.T) {
	for name, c := range map[string]struct {
		head string
		want bool
	}{
		"with room":        {`?  ask (lab MCP Server) {"message":"a\tb","url":"x  y"}`, true},
		"cut off":          {`?  ask (lab MCP Server) {"arg00":"value 0","arg01":"value 1","arg02":"val…`, false},
		"of several":       {`?  ask (lab MCP Server) {"a":"b"}` + strings.Repeat(" ", 30) + "1 of 2", true},
		"of several, cut":  {`?  ask (lab MCP Server) {"arg00":"value 0","arg01":"value 1",…   1 of 2`, false},
		"without an input": {"?  ask (lab MCP Server)", false},
	} {
		r := draw(box("Action Required", "", c.head, "", "MCP Server: lab", "Tool: ask", "", "MCP Tool Details:", "(press Ctrl+O to expand MCP tool details)",
			`Allow execution of MCP tool "ask" from server "lab"?`, "", "● 1. Allow once", "  2. Allow tool for this session", "  3. No, suggest changes (esc)")...)
		if keyed(t, name, r) != c.want {
			t.Errorf("%s: answered by keys %v: %+v", name, !c.want, r.Dialog)
		}
	}
}

// TestScrollbar: on the alternate screen Gemini draws a box's upper side above rows that are scrolled out of
// view. A dialog beside a scrollbar is read without it, and takes no key.
func TestScrollbar(t *testing.T) {
	rows := box("? WriteFile  Writing to new.txt", "Apply this change?", "", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)")
	if r := draw(rows...); !keyed(t, "without it", r) {
		t.Errorf("without it: %+v", r.Dialog)
	}
	for from, bar := range map[int]string{2: "█", 4: "▄", len(rows) - 1: "█"} {
		scrolled := append([]string{}, rows...)
		for i := from; i < len(rows); i++ {
			scrolled[i] += bar
		}
		r := draw(scrolled...)
		if d := r.Dialog; d == nil || d.Type != agent.PromptPermission || d.Options[0].Label != "Allow once" || keyed(t, "with it", r) {
			t.Errorf("from row %d: %+v", from, d)
		}
	}
}
