package paint

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"berth/terminal"
)

// TestOtherWidths: a client's terminal may draw a character in two columns that has one here, as CJK settings do with
// many signs. The rest of the row stays where it is: it would else leave the screen, and a person would allow a command
// without having seen its end.
func TestOtherWidths(t *testing.T) {
	for _, text := range []string{"echo °; rm x", "echo °±°±°±; rm x", "°°°°°°°°°°°°°°°°; rm x", "é°à; rm x"} {
		cells := make([]terminal.Cell, utf8.RuneCountInString(text))
		was := make([]terminal.Cell, len(cells))
		x := 0
		for _, r := range text {
			cells[x], was[x] = terminal.Cell{Rune: r, Width: 1}, Blank
			x++
		}
		var pen terminal.Style
		if got := wide(t, string(Look{UTF8: true}.Row(nil, 0, cells, was, &pen)), len(cells)); !strings.HasSuffix(got, "; rm x") {
			t.Errorf("%q is drawn as %q", text, got)
		}
	}
}

// wide is a row of a terminal that draws all but ASCII in two columns and doesn't wrap.
func wide(t *testing.T, drawn string, cols int) string {
	row, col := []rune(strings.Repeat(" ", cols)), 0
	for drawn != "" {
		if rest, ok := strings.CutPrefix(drawn, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' })
			var y, x int
			switch {
			case rest[end] == 'H':
				_, err := fmt.Sscanf(rest, "%d;%dH", &y, &x)
				if err != nil {
					t.Fatal(err)
				}
				col = x - 1
			case rest[end] == 'G':
				if _, err := fmt.Sscanf(rest, "%dG", &x); err != nil {
					t.Fatal(err)
				}
				col = x - 1
			}
			drawn = rest[end+1:]
			continue
		}
		r, size := utf8.DecodeRuneInString(drawn)
		drawn = drawn[size:]
		for range 1 + min(int(r)/0x80, 1) {
			if col < cols {
				row[col] = r
			}
			col++
		}
	}
	return string(row)
}
