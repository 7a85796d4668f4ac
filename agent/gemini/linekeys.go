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

// Placeholders of the line for an answer as text.
const (
	hintOwn      = "Enter a custom value"
	hintFeedback = "Type your feedback..."
)

// selects reports whether digits choose an option: the text line isn't focused. The foot says so
// too, except on the page after a text answer: there it is still the old page's foot. If the line's
// number isn't known (0), only the foot says it.
func selects(d *agent.Dialog, line int) bool {
	for _, o := range d.Options {
		if o.Focused {
			return o.Number != line && (line > 0 || settled(d))
		}
	}
	return false
}

// settled reports whether Gemini has noticed that an option is focused.
func settled(d *agent.Dialog) bool { return strings.HasPrefix(footOf(d), "Enter to select") }

// edits reports whether the line with that number takes text.
func edits(d *agent.Dialog, line int) bool {
	o, ok := numbered(d, line)
	return ok && o.Focused && typesOwn(d)
}

// typesOwn reports whether Gemini has noticed that the line for text is focused.
func typesOwn(d *agent.Dialog) bool { return strings.HasPrefix(footOf(d), "Enter to submit") }

// footOf is the dialog's foot.
func footOf(d *agent.Dialog) string { return lastWords(d.Lines) }

// bare reports whether the line is empty. A long placeholder is wrapped.
func bare(d *agent.Dialog, line int, hint string) bool {
	o, ok := numbered(d, line)
	return ok && o.Label != "" && strings.HasPrefix(drawn.Squeeze(hint), drawn.Squeeze(o.Label))
}

// lineAfter is how long a question's line must have shown the text before Enter: Gemini draws the
// line before Enter sees its text. At a load of 43 an Enter 200 ms after the text submitted an
// empty answer.
const lineAfter = 500 * time.Millisecond

// own goes to the line for text, and types there. Gemini once didn't notice that an arrow had
// reached that line, so own presses the line's digit, which chooses nothing while the line is
// empty. If the question had more options than reported, the digit would choose one: so own looks
// at the line first. A hook's own placeholder could be the label of that option, so with one it
// uses only arrows.
func (w *way) own(line int, text, hint string, d *agent.Dialog) error {
	empty := func(d *agent.Dialog) bool { return bare(d, line, hint) }
	known := hint == hintOwn
	walks := !known || !atFirst(line, d)
	if walks {
		w.walk(focusedOn(d), line, nil)
		if known {
			w.Key("Up", "its line, empty", func(d *agent.Dialog) bool { return focusedOn(d) == line && empty(d) })
			w.Last().Again = true
			w.Last().ShownFor = lineAfter // an Up right after the arrow was lost twice in some ten answers
		}
	}
	if known {
		w.Key(strconv.Itoa(line), "its options", func(d *agent.Dialog) bool {
			return selects(d, line) && (settled(d) || !walks) && empty(d)
		})
		if walks {
			w.Last().ShownFor = lineAfter // a digit right after the arrow was typed into the line, at a load of 25
		}
	}
	return w.words(line, text, hint)
}

// words types into the focused line. At the options a digit would choose.
func (w *way) words(line int, text, hint string) error {
	if text = strings.TrimSpace(agent.CleanMessage(text)); text == "" {
		return fmt.Errorf("%w: it takes a text", agent.ErrAnswer)
	}
	w.Add(agent.Step{Paste: text, ShownFor: lineAfter, Wants: "its line, empty"}, func(d *agent.Dialog) bool {
		return edits(d, line) && bare(d, line, hint)
	})
	w.Add(agent.Step{Key: "Enter", ShownFor: lineAfter, Wants: "the text in its line"}, func(d *agent.Dialog) bool {
		return edits(d, line) && holdsOwn(d, line, text)
	})
	return nil
}

// lineRows is the most rows of such a line. Of a longer text it shows the last rows.
const lineRows = 3

// holdsOwn reports whether the line has the text, or the mark of a long paste.
func holdsOwn(d *agent.Dialog, line int, text string) bool {
	rows := lineOf(d, line)
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	shown := strings.Join(rows, "\n")
	if (Driver{}).Holds(text, &agent.Composer{Mode: agent.ModeMessage, Text: shown}) {
		return true
	}
	end := compose.Visible(compose.Trimmed(shown))
	return len(rows) >= lineRows && end != "" && strings.HasSuffix(compose.Visible(compose.Trimmed(text)), end)
}

// lineOf is the text of the line with that number, up to the list's end.
func lineOf(d *agent.Dialog, line int) (rows []string) {
	for _, row := range d.Lines {
		m := optionLine.FindStringSubmatch(row)
		bare := strings.TrimSpace(row)
		switch {
		case m != nil && m[1] != "" && pattern.Number(m[2]) == line:
			rows = []string{m[4]}
		case rows == nil:
		case m != nil, bare == scrollsMark, doneLine.MatchString(row), strings.HasPrefix(bare, "Enter to submit"):
			return rows
		default:
			rows = append(rows, bare)
		}
	}
	return rows
}

// written types into the line of a question without options, and presses Enter when the line shows
// the text.
func (w *way) written(question, text string) error {
	text = strings.TrimSpace(agent.CleanMessage(text))
	if text == "" || strings.Contains(text, "\n") || question == "" {
		return fmt.Errorf("%w: it takes one line of text", agent.ErrAnswer)
	}
	w.Add(agent.Step{Paste: text, Wants: "its line"}, func(d *agent.Dialog) bool { return len(d.Options) == 0 })
	w.Add(agent.Step{Key: "Enter", ShownFor: lineAfter, Wants: "the text in its line"}, func(d *agent.Dialog) bool { return holdsLine(d, text) })
	return nil
}

// holdsLine reports whether the dialog's line has the text and nothing else: Enter would also send what a person has
// typed there. The line is the lowest row with its mark, because the question above can draw one too.
func holdsLine(d *agent.Dialog, text string) bool {
	shown, foot := "", false
	for _, row := range d.Lines {
		row = strings.TrimSpace(row)
		if line, ok := strings.CutPrefix(row+" ", "> "); ok {
			shown, foot = line, false
		} else if foot = foot || strings.HasPrefix(row, "Enter to submit"); !foot {
			shown += row
		}
	}
	return drawn.Squeeze(shown) == drawn.Squeeze(text)
}
