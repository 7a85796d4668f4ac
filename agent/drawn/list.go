package drawn

import (
	"slices"
	"strings"

	"berth/agent"
)

// List is a list of numbered options in rows.
type List struct {
	Options []agent.Option
	At      []int // the row of each option
}

// Numbered reads the last list in the rows whose numbers count up. read gives the options of a row, and none for a row
// without any. A number that doesn't fit is in the text of an option. ends reports whether no option of the list is above
// a row; nil if only the option 1 ends it.
func Numbered(rows []string, read func(row string) []agent.Option, ends func(row string) bool) (l List) {
	want := 0
	for i, row := range slices.Backward(rows) {
		found := read(row)
		switch {
		case want > 0 && ends != nil && ends(row):
			return l
		case len(found) == 0 || want > 0 && found[len(found)-1].Number != want:
			continue
		}
		l.Options, l.At = append(found, l.Options...), append(slices.Repeat([]int{i}, len(found)), l.At...)
		if want = found[0].Number - 1; want == 0 {
			return l
		}
	}
	return l
}

// Whole reports whether the list starts at the number 1.
func (l *List) Whole() bool { return len(l.Options) > 0 && l.Options[0].Number == 1 }

// Focused is how many options are chosen: several while the list is drawn, or if a text draws the mark too.
func (l *List) Focused() (n int) {
	for _, o := range l.Options {
		if o.Focused {
			n++
		}
	}
	return n
}

// Explain adds to each option the rows below it: first the rest of its label, as long as continues reports that, and then
// its description. head is the option's own row. The model chooses both: they can draw an option's row and have blank
// ones, so they end at the next option, and those of the last one at a row that ends the list.
func (l *List) Explain(rows []string, ends func(row string) bool, continues func(head, label, row string) bool) {
	for k, at := range l.At {
		to := len(rows)
		if k+1 < len(l.At) {
			to = max(l.At[k+1], at+1)
		}
		var more []string
		o, label := &l.Options[k], l.Options[k].Label
		for _, row := range rows[at+1 : to] {
			if k+1 == len(l.At) && ends(row) {
				break
			}
			text := strings.TrimSpace(row)
			if text != "" && len(more) == 0 && continues(rows[at], label, row) {
				o.Label += " " + text
				continue
			}
			more = append(more, text)
		}
		o.More = strings.Trim(strings.Join(more, "\n"), "\n")
	}
}

// Up is the last row from there upwards that is such a one; -1 without any.
func Up(rows []string, from int, is func(row string) bool) int {
	for from >= 0 && !is(rows[from]) {
		from--
	}
	return from
}

// Indent is how many blanks the row starts with.
func Indent(row string) int { return len(row) - len(strings.TrimLeft(row, " ")) }
