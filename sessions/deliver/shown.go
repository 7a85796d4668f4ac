package deliver

import (
	"slices"
	"strings"
	"unicode/utf8"

	"berth/agent"
)

const (
	// mostShown is how many characters of a message are looked for on the screen. Of a longer one it is the start.
	mostShown = 400
	// bars are sides and scrollbars beside a message, and signs are what agents draw before one.
	bars  = " │┃║█▌▐"
	signs = "❯›>»*•●▸◆"
	// gap separates a message from what is drawn at the end of its row, such as the time.
	gap = "    "
)

// took reports whether the screen shows that the agent has the message: at one more place than before Enter, and not in
// the composer, which is empty or has gone for a dialog. No other source may know of a turn that ended before the agent
// drew any work.
func (m *Machine) took(s Seen, box *agent.Composer) bool {
	emptied := box != nil && box.Empty && box.Mode == agent.ModeMessage
	return s.Reading != nil && s.Unread <= 0 && (emptied || s.Reading.Dialog != nil) && places(s.Rows, m.o.Typed) > m.places
}

// places counts the places where the rows are the text, or the start of a long one. An agent breaks lines anywhere.
func places(rows []string, text string) (n int) {
	want := []rune(shownOf(text))
	whole := string(want[:min(len(want), mostShown)])
	for i, row := range rows {
		row = strings.Trim(row, bars)
		bare := row
		if sign, size := utf8.DecodeRuneInString(row); strings.ContainsRune(signs, sign) {
			bare = row[size:]
		}
		for _, first := range slices.Compact([]string{row, bare}) {
			if follows(append([]string{first}, rows[i+1:]...), whole, len(want) > mostShown) {
				n++
				break
			}
		}
	}
	return n
}

// follows reports whether the rows are the text from the first one on. more: it goes on below.
func follows(rows []string, text string, more bool) bool {
	for i, row := range rows {
		row = strings.Trim(row, bars)
		head, _, _ := strings.Cut(row, gap)
		all := []string{shownOf(row), shownOf(head)}
		if all[0] == "" && i > 0 {
			continue
		}
		at := slices.IndexFunc(all, func(part string) bool { return part != "" && strings.HasPrefix(text, part) })
		if more && strings.HasPrefix(all[0], text) {
			return true
		}
		if at < 0 {
			return false
		}
		if text = text[len(all[at]):]; text == "" {
			return true
		}
	}
	return false
}
