package gemini

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"berth/agent"
	"berth/agent/compose"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

// What the line for a value of one's own shows while it is empty.
const (
	hintOwn      = "Enter a custom value"
	hintFeedback = "Type your feedback..."
)

// selects says that digits choose: not the line for a value of one's own is
// focused. The foot says so too, but on the page behind one that was answered in
// words: there it is the foot of that one still. Where the line's number is not
// known (0) only the foot tells.
func selects(d *agent.Dialog, line int) bool {
	for _, o := range d.Options {
		if o.Focused {
			return o.Number != line && (line > 0 || settled(d))
		}
	}
	return false
}

// settled says that Gemini has taken in that an option is focused.
func settled(d *agent.Dialog) bool { return strings.HasPrefix(footOf(d), "Enter to select") }

// edits says that the line with that number is typed into.
func edits(d *agent.Dialog, line int) bool {
	o, ok := numbered(d, line)
	return ok && o.Focused && typesOwn(d)
}

// typesOwn says that Gemini has taken in that a line for words of one's own is focused.
func typesOwn(d *agent.Dialog) bool { return strings.HasPrefix(footOf(d), "Enter to submit") }

// footOf is the dialog's foot.
func footOf(d *agent.Dialog) string { return lastWords(d.Lines) }

// bare says that nothing was typed into the line. A long hint is broken into
// lines.
func bare(d *agent.Dialog, line int, hint string) bool {
	o, ok := numbered(d, line)
	return ok && o.Label != "" && strings.HasPrefix(drawn.Squeeze(hint), drawn.Squeeze(o.Label))
}

// lineAfter is for how long a text must have stood in a question's line before
// Enter: the line is drawn before Enter knows of it. At a load of 43 an Enter 200 ms
// after the text was typed submitted an empty answer.
const lineAfter = 500 * time.Millisecond

// own goes to the line for a value of one's own, and types there. Gemini once did not take in that an
// arrow had come to that line, so its digit is pressed, which chooses nothing while the line is empty.
// In a question with an option more than was told it would be a choice: so the line is looked at first.
// A hook's own hint could be the label of that option. With such a hint only arrows are pressed.
func (w *way) own(line int, text, hint string, d *agent.Dialog) error {
	empty := func(d *agent.Dialog) bool { return bare(d, line, hint) }
	if known := hint == hintOwn; !known || !atFirst(line, d) {
		w.walk(focusedOn(d), line, nil)
		if known {
			w.key("Up", "its line, empty", func(d *agent.Dialog) bool { return focusedOn(d) == line && empty(d) })
			w.steps[len(w.steps)-1].Stood = lineAfter // an Up right behind the arrow was lost twice in some ten answers
		}
	}
	if hint == hintOwn {
		w.key(strconv.Itoa(line), "its options", func(d *agent.Dialog) bool { return selects(d, line) && empty(d) })
	}
	return w.words(line, text, hint)
}

// words types into that line, which is focused: at the options a digit would be a
// choice.
func (w *way) words(line int, text, hint string) error {
	if text = strings.TrimSpace(agent.CleanMessage(text)); text == "" {
		return fmt.Errorf("%w: it takes a text", agent.ErrAnswer)
	}
	w.add(agent.Step{Paste: text, Stood: lineAfter, Wants: "its line, empty"}, func(d *agent.Dialog) bool {
		return edits(d, line) && bare(d, line, hint)
	})
	w.add(agent.Step{Key: "Enter", Stood: lineAfter, Wants: "the text in its line"}, func(d *agent.Dialog) bool {
		return edits(d, line) && holdsOwn(d, line, text)
	})
	return nil
}

// lineRows is how many rows such a line has at most. Of a longer text it shows
// the last.
const lineRows = 3

// holdsOwn says whether the line holds the text, or the mark that stands for a
// long one.
func holdsOwn(d *agent.Dialog, line int, text string) bool {
	rows := lineOf(d, line)
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	shown := strings.Join(rows, "\n")
	if (Driver{}).Holds(text, &agent.Composer{Mode: agent.ModeMessage, Text: shown}) {
		return true
	}
	end := compose.Visible(normal(shown))
	return len(rows) >= lineRows && end != "" && strings.HasSuffix(compose.Visible(normal(text)), end)
}

// lineOf is what stands in the line with that number, to the list's end.
func lineOf(d *agent.Dialog, line int) (rows []string) {
	for _, row := range d.Lines {
		m := optionLine.FindStringSubmatch(row)
		bare := strings.TrimSpace(row)
		switch {
		case m != nil && m[1] != "" && pattern.Number(m[2]) == line:
			rows = []string{m[4]}
		case rows == nil:
		case m != nil, bare == "▼", doneLine.MatchString(row), strings.HasPrefix(bare, "Enter to submit"):
			return rows
		default:
			rows = append(rows, bare)
		}
	}
	return rows
}

// written types into the line of a question without options, and presses Enter
// when the text stands there.
func (w *way) written(question, text string) error {
	text = strings.TrimSpace(agent.CleanMessage(text))
	if text == "" || strings.Contains(text, "\n") || question == "" {
		return fmt.Errorf("%w: it takes one line of text", agent.ErrAnswer)
	}
	w.add(agent.Step{Paste: text, Wants: "its line"}, func(d *agent.Dialog) bool { return len(d.Options) == 0 })
	w.add(agent.Step{Key: "Enter", Stood: lineAfter, Wants: "the text in its line"}, func(d *agent.Dialog) bool { return holdsLine(d, text) })
	return nil
}

// holdsLine says whether the dialog's line holds the text, as far as it shows.
func holdsLine(d *agent.Dialog, text string) bool {
	want := drawn.Squeeze(beginning(text))
	for _, row := range d.Lines {
		if line, ok := strings.CutPrefix(strings.TrimSpace(row), "> "); ok && strings.HasPrefix(drawn.Squeeze(line), want) {
			return true
		}
	}
	return false
}
