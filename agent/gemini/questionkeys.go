package gemini

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/forks"
)

// questionKeys answers one question, and several page by page. Several end with a page that shows all answers.
func questionKeys(p *agent.Request, a agent.Answer, d *agent.Dialog) (agent.KeyAnswer, error) {
	return forks.Questions{
		Begun:    func() bool { return d.Confirm || p.QuestionCurrent != 0 },
		ShownFor: pageShownFor,
		Page: func(keys *forks.Way, i int, q *agent.Question, pick agent.QuestionPick) error {
			keys.Page = func(now *agent.Dialog) bool { return asking(now, q.Text) }
			var shown *agent.Dialog // as far as it is known before it is drawn
			if i == 0 {
				shown = d
			}
			return (&way{Way: keys, reported: reported(p)}).pick(q, pick, shown)
		},
		Reviews: func(now *agent.Dialog, each []agent.QuestionPick) bool { return reviews(now, p.Questions, each) },
	}.Keys(p, a, d)
}

// asking reports whether the dialog shows that question.
func asking(d *agent.Dialog, question string) bool {
	return d.Type == agent.PromptQuestion && !d.Confirm && question != "" && strings.HasPrefix(drawn.Squeeze(d.Body), drawn.Squeeze(question))
}

// reviews reports whether the page shows these answers, as far as their text is known. A long text
// is wrapped, so its start is enough.
func reviews(d *agent.Dialog, questions []agent.Question, each []agent.QuestionPick) bool {
	shown := drawn.Squeeze(strings.Join(d.Lines, "\n"))
	for i, q := range questions {
		var words []string
		for n, label := range q.Options {
			if slices.Contains(each[i].Options, n+1) {
				words = append(words, label)
			}
		}
		if each[i].Text != "" {
			words = append(words, beginning(each[i].Text))
		}
		header, cut := strings.CutSuffix(q.Header, "…")
		if answer := drawn.Squeeze("→" + strings.Join(words, ", ")); !cut {
			header += answer
		} else if !strings.Contains(shown, answer) {
			return false
		}
		if !strings.Contains(shown, drawn.Squeeze(header)) {
			return false
		}
	}
	return true
}

// beginning is the part of a text that is searched on the screen.
func beginning(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	if utf8.RuneCountInString(text) > 20 {
		text = string([]rune(text)[:20])
	}
	return text
}

// way collects the keys of a page.
type way struct {
	*forks.Way
	reported bool // all options of the question are known
}

// pick answers one page, which leaves it.
func (w *way) pick(q *agent.Question, pick agent.QuestionPick, d *agent.Dialog) error {
	count := len(q.Options)
	line := w.ownLine(q, d)
	for _, n := range pick.Options {
		switch {
		case n >= 1 && n <= count:
		case n == line && n > 0 && !q.MultiSelect:
			return fmt.Errorf("%w: that option is typed into: use text TEXT, or answer Q=WORDS", agent.ErrAnswer)
		case count == 0:
			return fmt.Errorf("%w: it takes a text", agent.ErrAnswer)
		default:
			return fmt.Errorf("%w: it has the options 1 to %d", agent.ErrAnswer, count)
		}
	}
	switch {
	case count == 0:
		return w.written(q.Text, pick.Text)
	case d != nil && !selects(d, line):
		return forks.ErrBegun
	case q.MultiSelect:
		return w.tick(q, pick, d)
	case pick.Text != "" && len(pick.Options) > 0, len(pick.Options) > 1:
		return fmt.Errorf("%w: it takes one of its options, or a text", agent.ErrAnswer)
	case pick.Text != "" && line == 0:
		return fmt.Errorf("%w: its line for text isn't in view, and no hook reported its number; use option N, or attach", agent.ErrCannot)
	case pick.Text != "":
		return w.own(line, pick.Text, hint(q), d)
	}
	w.choose(pick.Options[0], count, line, d)
	return nil
}

// reported reports whether the agent itself reported the questions, so that all their options are
// known. The dialog shows only three at a time.
func reported(p *agent.Request) bool { return len(p.Raw) > 0 }

// ownLine is the number of the line for text. It comes after the options, and after the option for
// all of them if several may be ticked. It is 0 if that isn't known.
func (w *way) ownLine(q *agent.Question, d *agent.Dialog) int {
	switch {
	case !w.reported && d == nil, len(q.Options) == 0:
		return 0
	case !w.reported:
		if own := ownRow(d); own >= 0 {
			return d.Options[own].Number
		}
		return 0
	case q.MultiSelect && len(q.Options) > 1:
		return len(q.Options) + 2
	}
	return len(q.Options) + 1
}

// hint is the line's placeholder.
func hint(q *agent.Question) string {
	if q.Hint != "" {
		return q.Hint
	}
	return hintOwn
}

// choose chooses an option by its digit, which confirms it and opens the next page. With Down and
// Enter, Enter was lost twice in ten times on a machine with twelve times the work it can do:
// Gemini forgets the choice while it notices that another option is focused. The digit also works
// for an option out of view. But only a hook reported the options out of view, count in all, and a
// person chose among all of them. So the arrows first go to the last option and then to the chosen
// one: each key is pressed only while the visible options are the reported ones.
func (w *way) choose(n, count, line int, d *agent.Dialog) {
	from := len(w.Steps)
	if !atFirst(count, d) {
		w.walk(focusedOn(d), count, nil)
		w.walk(count, n, nil)
	}
	walked := len(w.Steps) > from
	w.Key(strconv.Itoa(n), "option "+strconv.Itoa(n), func(d *agent.Dialog) bool { return selects(d, line) && inView(d, n) })
	if walked {
		w.Last().ShownFor = lineAfter // a digit right after an arrow was lost in one of four answers, at a load of 12
	}
}

// inViewAtFirst is how many rows of a page's list are visible when it is drawn.
const inViewAtFirst = 3

// atFirst reports whether a row is visible when the page is drawn. d is nil for a page that is
// still to come.
func atFirst(n int, d *agent.Dialog) bool {
	return d != nil && inView(d, n) || d == nil && n <= inViewAtFirst
}

// focusedOn is the number of the dialog's focused row, or 0 without one. For a page that is still
// to come (nil) it is the first.
func focusedOn(d *agent.Dialog) int {
	if d == nil {
		return 1
	}
	if at := d.Focused(); at > 0 {
		return d.Options[at-1].Number
	}
	return 0
}

// walk goes from one row to another by arrows. The checkboxes, if there are any, are as in boxes before each.
func (w *way) walk(from, to int, boxes []bool) {
	w.Walk(from, to, func(d *agent.Dialog, at int) bool {
		o, ok := numbered(d, at)
		return ok && o.Focused && (boxes == nil || ticked(d, boxes))
	})
}

// numbered is the option with that number, if it is visible.
func numbered(d *agent.Dialog, n int) (agent.Option, bool) {
	for _, o := range d.Options {
		if o.Number == n {
			return o, true
		}
	}
	return agent.Option{}, false
}

// most is how many lines of a dialog have a key: after the first of two digits Gemini waits a
// second for the second one.
const most = 9

// tick makes the checkboxes as wanted, and ends the page: by the last line, or for a text by Enter
// in the line for it. First it goes to that line and on to the last one. On the way it sees what is
// out of view at first: a fourth option, and whether a person's text is in the line.
func (w *way) tick(q *agent.Question, pick agent.QuestionPick, d *agent.Dialog) error {
	line := w.ownLine(q, d)
	switch {
	case !w.reported:
		return fmt.Errorf("%w: no hook reported how many options it has, and only three are in view; attach", agent.ErrCannot)
	case line+1 > most:
		return fmt.Errorf("%w: it has more options than keys; attach", agent.ErrCannot)
	}
	boxes := make([]bool, len(q.Options))
	if d != nil {
		if !inView(d, 1) {
			return forks.ErrBegun
		}
		for i := range boxes {
			o, _ := numbered(d, i+1)
			boxes[i] = o.Ticked
		}
	}
	before := slices.Clone(boxes)
	w.walk(focusedOn(d), line, before)
	w.Key("Down", "an empty line for a text, and the boxes as they were", func(d *agent.Dialog) bool {
		o, ok := numbered(d, line)
		return ok && o.Focused && bare(d, line, hint(q)) && ticked(d, before)
	})
	w.Last().Again = true
	w.Last().ShownFor = lineAfter // like an Up, a Down right after the arrow may be lost
	at := 0                       // the focused line: the last one, which has no number
	for i := range boxes {
		if boxes[i] == slices.Contains(pick.Options, i+1) {
			continue
		}
		w.box(i+1, at, boxes)
		boxes[i], at = !boxes[i], i+1
	}
	if pick.Text == "" {
		w.box(line+1, at, boxes)
		return nil
	}
	w.box(line, at, boxes)
	return w.words(line, pick.Text, hint(q))
}

// box presses the digit of a line while another one is focused and the checkboxes are as in boxes.
func (w *way) box(n, at int, boxes []bool) {
	now := slices.Clone(boxes)
	w.Key(strconv.Itoa(n), "the boxes as they should be", func(d *agent.Dialog) bool {
		o, ok := numbered(d, at)
		return ok && o.Focused && settled(d) && ticked(d, now)
	})
}

func inView(d *agent.Dialog, n int) bool {
	_, ok := numbered(d, n)
	return ok
}

// ticked reports whether the visible checkboxes are as in boxes.
func ticked(d *agent.Dialog, boxes []bool) bool {
	for _, o := range d.Options {
		if o.Number >= 1 && o.Number <= len(boxes) && (!o.Multiple || o.Ticked != boxes[o.Number-1]) {
			return false
		}
	}
	return true
}
