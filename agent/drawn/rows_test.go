package drawn_test

import (
	"slices"
	"testing"

	"berth/agent"
	"berth/agent/drawn"
)

// TestRows: the rows of a paragraph, those between blank ones, and a text that is broken anywhere.
func TestRows(t *testing.T) {
	rows := []string{"", "a", " ", "b", "c", ""}
	for end, want := range map[int]int{0: 0, 1: 1, 2: 1, 3: 3, 5: 3, 6: 6} {
		if got := drawn.Paragraph(rows, end); got != want {
			t.Errorf("the paragraph before %d starts at %d, want %d", end, got, want)
		}
	}
	same := func(s string) string { return s }
	if got := drawn.Inside(rows, same); !slices.Equal(got, rows[1:5]) || len(drawn.Inside(rows[:1], same)) != 0 {
		t.Errorf("%q", got)
	}
	for shown, want := range map[string]agent.Match{"a b": agent.WholeMatch, "a\nb": agent.AlikeMatch, "ab": agent.AlikeMatch, "a c": agent.NoMatch} {
		if got := drawn.Compare(shown, "a b"); got != want {
			t.Errorf("%q: %v, want %v", shown, got, want)
		}
	}
	if got := drawn.Letters("$ 漢x y\t"); got != "$xy" {
		t.Errorf("%q", got)
	}
}

// TestLeft: a wide character that isn't whole in the first columns is left out.
func TestLeft(t *testing.T) {
	v := &agent.View{Cols: 6, Rows: 2, Lines: []agent.Row{{Text: "a 漢 b"}, {Text: "a"}}}
	left := drawn.Left(v, 3)
	if left.Cols != 3 || left.Lines[0].Text != "a" || left.Lines[1].Text != "a" || v.Lines[0].Text != "a 漢 b" {
		t.Errorf("%+v of %+v", left, v)
	}
}
