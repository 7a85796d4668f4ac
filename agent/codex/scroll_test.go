package codex_test

import (
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// TestScrolledComposer: of a draft with more rows than there is room for the
// composer shows the end.
func TestScrolledComposer(t *testing.T) {
	v := &agent.View{Cols: 40, Rows: 4, Cursor: agent.Caret{Row: 3, Col: 8, Visible: true}}
	for _, text := range []string{"› line 3" + strings.Repeat(" ", 31) + "↑", "  line 4", "  line 5", "  line 6"} {
		v.Lines = append(v.Lines, agent.Row{Text: text})
	}
	c := codex.Driver{}.Screen(v).Composer
	if c == nil || !c.Above || c.Text != "line 4\nline 5\nline 6" {
		t.Fatalf("%+v", c)
	}
	for typed, holds := range map[string]bool{
		"line 1\nline 2\nline 3\nline 4\nline 5\nline 6": true,
		"line 1\nline 2\nline 3\nline 4\nline 5\nline 7": false,
		"line 5\nline 6": false,
	} {
		if (codex.Driver{}).Holds(typed, c) != holds {
			t.Errorf("%q: it holds it is not %v", typed, holds)
		}
	}
}

// TestComposerWithoutFooter: a draft that reaches the screen's end leaves no room
// for the footer; blank lines in it do not end it.
func TestComposerWithoutFooter(t *testing.T) {
	v := &agent.View{Cols: 40, Rows: 9, Cursor: agent.Caret{Row: 8, Col: 8, Visible: true}}
	for _, text := range []string{"› line 1", "", "", "", "", "", "", "  line 8", "  line 9"} {
		v.Lines = append(v.Lines, agent.Row{Text: text})
	}
	if c := (codex.Driver{}).Screen(v).Composer; c == nil || c.Text != "line 1\n\n\n\n\n\n\nline 8\nline 9" {
		t.Fatalf("%+v", c)
	}
}
