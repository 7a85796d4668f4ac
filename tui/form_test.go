package tui

import (
	"strings"
	"testing"
)

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

// TestManyValues: a value without a key of its own has no number, because the first digit of "10" chooses the first one.
func TestManyValues(t *testing.T) {
	m := started(80, 24, world())
	m.card.fields = []field{{title: "Which", kind: "string", labels: strings.Fields("a b c d e f g h i j"), options: strings.Fields("a b c d e f g h i j")}}
	m.card.filling = true
	var keys []string
	for _, l := range m.fieldLines(40) {
		keys = append(keys, l.key)
	}
	if got := strings.Join(keys, " "); got != " 1 2 3 4 5 6 7 8 9 " {
		t.Errorf("the keys are %q", got)
	}
}
