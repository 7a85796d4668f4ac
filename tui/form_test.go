package tui

import "testing"

// TestWrittenLists: a person who chose two options sees two.
func TestWrittenLists(t *testing.T) {
	one, two := written([]string{"a b"}), written([]string{"a", "b"})
	if one != `["a b"]` || two != `["a" "b"]` {
		t.Errorf("lists are shown as %s and %s", one, two)
	}
	if got := written("a b"); got != "a b" {
		t.Errorf("a text is shown as %s", got)
	}
}
