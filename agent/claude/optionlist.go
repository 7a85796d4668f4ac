package claude

import (
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/pattern"
)

// optionLine matches an option's row. If a label is wrapped, the blank after its number may be
// missing.
var optionLine = pattern.New(`^( *)(❯ )?( *)(\d{1,2})\.(?: (?:\[(.)\] ?)?|([^\d\s]))(.*)$`)

// sideBox matches the start of the preview that is drawn to the right of a list.
var sideBox = pattern.New(` {2,}[┌│└├╭╰].*$`)

var answerLine = pattern.New(`^ (❯ |  )((?:Yes|No|Allow once|Deny)\b.*)$`)

// answers reads the options of a permission without numbers: one on each row right below the
// question. It is nil without any.
func (s *screen) answers() (list []agent.Option, first, end int) {
	for i := s.last; i >= 0; i-- {
		m := answerLine.FindStringSubmatch(s.text(i))
		switch {
		case m != nil:
			list = append([]agent.Option{{Label: strings.TrimSpace(m[2]), Focused: m[1] != "  "}}, list...)
			end = max(end, i)
		case list != nil:
			if !strings.HasSuffix(s.text(i), "?") {
				return nil, 0, 0
			}
			return list, i + 1, end
		}
	}
	return nil, 0, 0
}

// options reads the last list of numbered lines that counts up from 1. Its numbers are in one
// column, that of the option with the mark: a label can continue in a row that looks like an
// option, but such a row is indented further. first is after the last row when there is no list.
// unsure means that a number is there twice.
func (s *screen) options() (list []agent.Option, first, end int, unsure bool) {
	want := 0
	var rows []int
	column := s.numbers()
	for i := s.last; i >= 0; i-- {
		m := optionLine.FindStringSubmatch(s.text(i))
		if m == nil || column >= 0 && numberColumn(m) != column {
			continue
		}
		column = numberColumn(m)
		o := agent.Option{
			Number: pattern.Number(m[4]), Focused: m[2] != "", Label: strings.TrimSpace(sideBox.ReplaceAllString(m[6]+m[7], "")),
			Multiple: m[5] != "", Ticked: m[5] != "" && m[5] != " ",
		}
		if want != 0 && o.Number != want {
			unsure = true
			continue
		}
		list, rows, want = append([]agent.Option{o}, list...), append([]int{i}, rows...), o.Number-1
		if want == 0 {
			s.goOn(list, rows)
			return list, rows[0], rows[len(rows)-1], unsure
		}
	}
	return nil, s.last + 1, s.last, false
}

// numbers is the column of the options' numbers: the leftmost one after a mark, because a text that
// shows a mark is indented further. Above the rule is the conversation. It is -1 without a mark, or if the mark
// is at the button of a list.
func (s *screen) numbers() int {
	column := -1
	for i := s.last; i >= 0 && (column < 0 || !s.rule(i)); i-- {
		if m := optionLine.FindStringSubmatch(s.text(i)); m != nil && m[2] != "" && (column < 0 || numberColumn(m) < column) {
			column = numberColumn(m)
		} else if m == nil && column < 0 && strings.HasPrefix(s.text(i), "❯  ") {
			return -1
		}
	}
	return column
}

// numberColumn is the column of the number in a match of optionLine.
func numberColumn(m []string) int { return len(m[1]) + utf8.RuneCountInString(m[2]) + len(m[3]) }

// goOn appends the rest of a wrapped label to it, in a list of a permission's options: such rows
// are indented further than the number. In other lists they may be descriptions, and are kept apart
// from the label.
func (s *screen) goOn(list []agent.Option, rows []int) {
	answers := allows(list[0]) && !list[0].Multiple
	for k, row := range rows {
		var more []string
		number := len(s.text(row)) - len(strings.TrimLeft(s.text(row), " ❯"))
		if strings.Contains(s.text(row), "❯") {
			number -= len("❯") - 1
		}
		least := number + 2
		if list[k].Multiple { // the description of a checkbox starts below its number
			least = number
		}
		for i := row + 1; i <= s.last && (k+1 == len(rows) || i < rows[k+1]); i++ {
			text := sideBox.ReplaceAllString(s.text(i), "")
			indent := len(text) - len(strings.TrimLeft(text, " "))
			if indent < least || strings.HasPrefix(strings.TrimSpace(text), "shift+tab to ") {
				break
			}
			more = append(more, text)
		}
		if answers {
			room := s.view.Cols - number - len("1. ") - 1
			list[k].Label = joined(append([]string{list[k].Label}, more...), room)
		} else {
			list[k].More = joined(more, s.view.Cols)
		}
	}
}
