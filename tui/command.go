package tui

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"berth/commands/words"
	"berth/terminal"
)

// commandBar is where the person types a verb. It is drawn in the last row, with the words that may
// come next above it.
type commandBar struct {
	*editor
	known *Ask // the question that words answers; nil before the first answer
	from  int  // where the words begin in the line
	words []string
	at    int    // place in the lines that were run; their number: the typed line
	typed string // the typed line, while another is shown
}

// mostSaid is how many lines are kept for a dashboard's command bar.
const mostSaid = 100

// openCommand opens the command bar.
func (m *Model) openCommand() Effect {
	m.command, m.flash = &commandBar{editor: newEditor("", true), at: len(m.said)}, flash{}
	return m.command.question()
}

func (c *commandBar) question() Ask { return Ask{what: askWords, text: c.text[:c.editor.at]} }

// waits reports whether a key needs the words that may come next.
func (c *commandBar) waits(k Key) bool {
	return k.Name == "tab" && (c.known == nil || *c.known != c.question())
}

func (c *commandBar) answer(t Offered) {
	if t.Ask == c.question() {
		c.known, c.from, c.words = &t.Ask, t.from, t.words
	}
}

// pressCommand handles a key in the command bar.
func (m *Model) pressCommand(k Key) Effect {
	c := m.command
	before := c.question()
	switch k.Name {
	case "esc":
		m.command = nil
		return nil
	case "enter":
		return m.runLine(strings.TrimSpace(c.text))
	case "tab":
		c.complete()
	case "up", "down":
		c.recall(m.said, k.Name == "up")
	case "backspace":
		if c.text == "" {
			m.command = nil
			return nil
		}
		c.press(k)
	default:
		c.press(k)
	}
	if c.question() != before {
		return c.question()
	}
	return nil
}

// complete makes the last word longer, by what all words that fit have in common.
func (c *commandBar) complete() {
	if len(c.words) == 0 {
		return
	}
	word := commonStart(c.words)
	rest := c.text[c.editor.at:]
	if len(c.words) == 1 && !strings.HasPrefix(rest, " ") {
		word += " "
	}
	if typed := c.text[c.from:c.editor.at]; len(word) > len(typed) {
		c.text = c.text[:c.from] + word + rest
		c.editor.at = c.from + len(word)
	}
}

// commonStart is what all texts begin with.
func commonStart(texts []string) string {
	common := texts[0]
	for _, one := range texts {
		for !strings.HasPrefix(one, common) {
			_, n := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-n]
		}
	}
	return common
}

// recall shows an earlier or a later line of those that were run.
func (c *commandBar) recall(said []string, earlier bool) {
	if c.at == len(said) {
		c.typed = c.text
	}
	if earlier {
		c.at = max(c.at-1, 0)
	} else {
		c.at = min(c.at+1, len(said))
	}
	text := c.typed
	if c.at < len(said) {
		text = said[c.at]
	}
	c.editor = newEditor(text, true)
}

// runLine runs a line as the command line does. Only attach is the dashboard's own.
func (m *Model) runLine(line string) Effect {
	if line == "" {
		m.command = nil
		return nil
	}
	list, _ := words.Words(line) // the verb itself reports what is wrong with the line
	if len(list) == 2 && list[0] == "attach" && m.world.May["attach"] {
		for _, s := range m.world.Sessions {
			if s.Name == list[1] || s.ID == list[1] {
				m.command = nil
				m.remember(line)
				m.Select(s.ID)
				return Attach{ID: s.ID}
			}
		}
	}
	effect := m.act(Act{Kind: "page command", Name: cmp.Or(firstOf(list), "the line"), Text: true, Line: line, title: ": " + line}, "running, esc stops it")
	if effect != nil {
		m.command, m.running = nil, true
		m.remember(line)
	}
	return effect
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return terminal.Printable(list[0])
}

// remember keeps a line for the command bar's history.
func (m *Model) remember(line string) {
	m.said = slices.DeleteFunc(m.said, func(one string) bool { return one == line })
	m.said = append(m.said, line)
	m.said = m.said[max(len(m.said)-mostSaid, 0):]
}

// Stop is an effect: it ends the line that is running.
type Stop struct{}

// ran handles the result of a line: a page with what it printed. After an error without output the bar
// is open again with the line.
func (m *Model) ran(d Done) {
	m.running = false
	err := strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(d.Err, "berth: "), "\r\n", "\n"))
	if strings.TrimSpace(d.Out) == "" && d.Status != 0 {
		if m.edit == nil && m.page == nil && m.start == nil && m.command == nil && err != "" {
			m.command = &commandBar{editor: newEditor(d.Line, true), at: len(m.said)}
		}
		m.flashResult(cmp.Or(err, "stopped"), failed)
		return
	}
	if err != "" {
		d.Out = strings.TrimRight(d.Out, "\r\n") + "\n\n" + err
	}
	m.page, m.flash = newPager(d), flash{}
}

// drawCommand draws the command bar in the last row, and the words that may come next in the rows above
// it.
func (m *Model) drawCommand(a area) {
	t, c := m.theme, m.command
	a.fill(a.h-1, t.style(plain))
	a.text(1, a.h-1, 2, t.style(accent), ":")
	c.draw(a.part(2, a.h-1, a.w-2, 1), t.style(plain))
	if c.known == nil || len(c.words) == 0 || m.flash.text != "" {
		return
	}
	rows := wrap(strings.Join(c.words, "  "), a.w-6)
	if len(rows) > mostWordRows {
		rows = rows[:mostWordRows]
		rows[mostWordRows-1] += " " + a.ellipsis()
	}
	for i, row := range rows {
		y := a.h - 1 - len(rows) + i
		a.fill(y, t.style(plain))
		a.text(2, y, -1, t.style(faint), row)
	}
}

// mostWordRows is how many rows the words that may come next take.
const mostWordRows = 3
