package claude

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"berth/agent"
	"berth/agent/pattern"
	"berth/terminal"
)

// Screen reads the bottom of the screen. It has either the composer, between two rules, with the
// footer below and the spinner above, or a dialog in their place. Text above these is the
// conversation, which can look like anything.
func (Driver) Screen(v *agent.View) *agent.Reading {
	r := &agent.Reading{}
	s := screen{view: v, last: v.LastRow()}
	if s.last < 0 {
		return r
	}
	if top, bottom, ok := s.composer(); ok {
		r.Composer = readComposer(v.Lines[top+1 : bottom])
		s.footer(r, bottom)
		if strings.Contains(r.Footer, "space to reply") { // the agents view: text typed there starts another session
			r.Composer = nil
			return r
		}
		s.spinner(r, top)
		signedOut(r)
		return r
	}
	if r.Dialog = s.dialog(); r.Dialog != nil {
		return r
	}
	if bottom, ok := s.tall(); ok {
		r.Composer = readTall(v.Lines[:bottom])
		s.footer(r, bottom)
	}
	return r
}

// tall finds the lower rule of a composer that has more rows than the screen: above the rule is
// only its indented text, with the caret at its end, and below it a footer or nothing.
func (s *screen) tall() (bottom int, ok bool) {
	for bottom = s.last; bottom > 0 && !s.rule(bottom); bottom-- {
	}
	if bottom < 1 || s.last-bottom > 4 {
		return 0, false
	}
	if _, _, caret := s.view.Lines[bottom-1].Inverse(); !caret {
		return 0, false
	}
	for i := range bottom {
		if text := s.text(i); text != "" && !strings.HasPrefix(text, "  ") {
			return 0, false
		}
	}
	return bottom, true
}

func readTall(rows []agent.Row) *agent.Composer {
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.TrimRight(strings.TrimPrefix(row.Text, "  "), " ")
	}
	return &agent.Composer{Mode: agent.ModeMessage, Above: true, Focused: true, Text: strings.Join(lines, "\n")}
}

// screen is a View that is being read.
type screen struct {
	view *agent.View
	last int // the last row that isn't blank
}

func (s *screen) text(row int) string { return s.view.Lines[row].Text }

// rule reports whether the row is a rule. A text could draw one too: one that is wider than Claude
// measured, which continues in the first column of the next row, and the text of a question, which
// begins in the first column. Claude draws a question bold, and no rule.
func (s *screen) rule(row int) bool {
	return isRule(s.text(row)) && !s.goesOn(row) && !s.view.Lines[row].Bold()
}

// goesOn reports whether the row may continue the one above: the terminal wrapped that one, or it
// is written to its last column with characters that Claude may have counted fewer columns for.
func (s *screen) goesOn(row int) bool {
	if row == 0 || s.view.Lines[row].Wrapped {
		return row > 0
	}
	above := s.view.Lines[row-1]
	_, _, width := terminal.NextCluster(s.text(row)) // a wide character may have had no room
	return (above.Full || width > 1) && (s.goesOn(row-1) || !isRule(above.Text) && strings.ContainsFunc(above.Text, miscounted))
}

// miscounted reports whether a character may be wider than Claude measures it. The others are those
// of Claude's own frames and marks, and Chinese, Japanese and Korean characters that every table
// has as two columns.
func miscounted(r rune) bool {
	return r >= 0x300 && !(r >= 0x2010 && r <= 0x2027) && !(r >= 0x2190 && r <= 0x2bff) && !unicode.Is(twoColumns, r)
}

// twoColumns are characters that Claude and terminals count as two columns: no accents, no joining
// characters, and no emoji.
var twoColumns = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x3000, Hi: 0x3029, Stride: 1}, // punctuation
	{Lo: 0x3041, Hi: 0x3096, Stride: 1}, // Hiragana
	{Lo: 0x309b, Hi: 0x30ff, Stride: 1}, // Katakana
	{Lo: 0x3400, Hi: 0x4dbf, Stride: 1}, // Chinese
	{Lo: 0x4e00, Hi: 0x9fff, Stride: 1},
	{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul
	{Lo: 0xff01, Hi: 0xff60, Stride: 1}, // full width forms
}}

// isRule reports whether the text is a rule. The upper rule may have a label at its right end.
func isRule(text string) bool { return strings.HasPrefix(text, "───") }

// Marks of the composer: the glyph and a no-break space. A sent message is drawn with an ordinary
// space.
const (
	markMessage = "❯\u00a0"
	markShell   = "!\u00a0"
)

// composer finds the rows of the composer's two rules: the last two of the screen, with the mark
// below the upper one.
func (s *screen) composer() (top, bottom int, ok bool) {
	bottom = -1
	for i := s.last; i >= 0; i-- {
		if !s.rule(i) {
			continue
		}
		if bottom < 0 {
			bottom = i
			continue
		}
		first := ""
		if i+1 < bottom {
			first = s.text(i + 1)
		}
		return i, bottom, isMark(first)
	}
	return 0, 0, false
}

func isMark(text string) bool {
	return strings.HasPrefix(text, markMessage) || strings.HasPrefix(text, markShell) ||
		text == strings.TrimRight(markMessage, "\u00a0")
}

// readComposer reads the rows between the rules.
func readComposer(rows []agent.Row) *agent.Composer {
	c := &agent.Composer{Mode: agent.ModeMessage}
	if strings.HasPrefix(rows[0].Text, markShell) {
		c.Mode = agent.ModeShell
	}
	start := min(len(markMessage), len(rows[0].Text))
	if c.Mode == agent.ModeShell {
		start = len(markShell)
	}
	var lines []string
	caretRow, caretAt := -1, -1
	for i, row := range rows {
		from := 0
		text := row.Text
		if i == 0 {
			from, text = start, row.Text[start:]
		} else {
			text = strings.TrimPrefix(text, "  ")
		}
		if at, _, ok := row.Inverse(); ok && caretRow < 0 {
			caretRow, caretAt = i, at-from
		}
		lines = append(lines, strings.TrimRight(text, " "))
	}
	c.Focused = caretRow >= 0
	c.Text = strings.TrimRight(strings.Join(lines, "\n"), "\n")
	atStart := caretRow < 0 || caretRow == 0 && caretAt == 0
	switch {
	case strings.TrimSpace(c.Text) == "":
		c.Text, c.Empty = "", atStart
	case atStart && len(lines) == 1 && isHint(rows[0], start):
		c.Hint, c.Text, c.Empty = c.Text, "", true
	}
	return c
}

// isHint reports whether the row is a placeholder: its first character is the caret, and the rest
// is dim. Typed text never is.
func isHint(row agent.Row, start int) bool {
	if from, to, ok := row.Inverse(); ok && from == start {
		return to < len(row.Text) && row.Dim(to)
	}
	return row.Dim(start)
}

// footer reads the rows below the composer.
func (s *screen) footer(r *agent.Reading, bottom int) {
	var lines []string
	for i := bottom + 1; i <= s.last; i++ {
		if text := strings.TrimSpace(s.text(i)); text != "" {
			lines = append(lines, text)
		}
	}
	r.Footer = strings.Join(lines, "\n")
	r.Stashed = hasAny(r.Footer, "› stashed", "draft stashed") // newer versions have the second text
	r.Mode = footerMode(r.Footer)
	r.GoesOn = strings.Contains(r.Footer, "Continuing automatically at") // 2.1.330, at a subscription's limit
	if strings.Contains(r.Footer, "search prompts:") {
		r.Composer.Mode, r.Composer.Empty = agent.ModeSearch, false
	}
	if strings.Contains(r.Footer, "esc to interrupt") {
		r.Busy = "esc to interrupt"
	}
}

// spinnerGlyphs are the frames of the spinner.
const spinnerGlyphs = "·✢✳✶✻✽*"

// retryLine matches the report of another attempt. Newer versions start it with a small letter
// after the error's text, and show no time once it is over.
var retryLine = pattern.New(`[Rr]etrying(?: in (\d+)\s*s(?:econds?)?|…) · attempt (\d+)/(\d+)`)

// spinner searches for the line of work above the composer. Tips, tasks and queued messages may be
// between them, all indented; the first line of the conversation ends the search.
func (s *screen) spinner(r *agent.Reading, top int) {
	const reach = 24 // rows of tasks and queued messages to skip at most
	for i := top - 1; i >= 0 && i > top-reach; i-- {
		text := s.text(i)
		if text == "" || strings.HasPrefix(text, " ") {
			continue
		}
		glyph, rest, ok := strings.Cut(text, " ")
		if !ok || glyph == "" || len([]rune(glyph)) != 1 || !strings.Contains(spinnerGlyphs, glyph) {
			return
		}
		if m := retryLine.FindStringSubmatch(rest); m != nil {
			r.Busy, r.Retry = text, retry(m)
			return
		}
		if strings.Contains(rest, "…") {
			r.Busy = text
		}
		r.Hook = strings.Contains(strings.ToLower(rest), "running stop hook") // running stop hooks… 1/2; 2.1.330: Stop hooks
		return
	}
}

func retry(m []string) *agent.Activity {
	seconds, _ := strconv.Atoi(m[1]) // the pattern allows only digits, or nothing
	attempt, _ := strconv.Atoi(m[2])
	of, _ := strconv.Atoi(m[3])
	return &agent.Activity{
		Kind: agent.Retrying, Attempt: attempt, Of: of,
		DelayMS: int64(min(seconds, 1<<20)) * int64(time.Second/time.Millisecond),
	}
}
