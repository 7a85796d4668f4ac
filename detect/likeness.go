package detect

import (
	"encoding/json"
	"strings"

	"berth/agent"
)

// likeness says how much of what a prompt asks about is seen in a dialog. A driver
// says of which prompts a dialog may be; of calls that run side by side there may be
// several: two commands that begin alike, or edits of two files. Then the one that
// more is seen of has it.
type likeness struct {
	runes int  // that are seen
	whole bool // they are all of it
}

// less: of two of which as much is seen it is the one that is seen whole, a command
// that another only begins with.
func (l likeness) less(o likeness) bool {
	return l.runes < o.runes || l.runes == o.runes && !l.whole && o.whole
}

// likenessMost bounds what is compared, in bytes of each text: a dialog has no more
// than a screen.
const likenessMost = 4096

// like compares a dialog with what a prompt is about: a text by how far it is seen
// from its beginning on, an object by those of its texts that are.
func like(d *agent.Dialog, p *agent.Request) likeness {
	if p.Input == nil {
		return likeness{}
	}
	shown := dense(d.Title + " " + d.Body)
	var fields map[string]any
	if json.Unmarshal([]byte(*p.Input), &fields) != nil {
		return seenOf(dense(*p.Input), shown)
	}
	all := likeness{whole: len(fields) > 0}
	for _, v := range fields {
		text, ok := v.(string)
		if !ok {
			continue
		}
		text = dense(text)
		one := seenOf(text, shown)
		if at := strings.LastIndexByte(text, '/'); !one.whole && at >= 0 { // of a path the name may be shown alone
			one = closer(one, seenOf(text[at+1:], shown))
			one.whole = false
		}
		all.whole = all.whole && one.whole
		all.runes += one.runes
	}
	return all
}

func closer(a, b likeness) likeness {
	if a.less(b) {
		return b
	}
	return a
}

// seenOf is how much of text, from its beginning on, stands somewhere in shown.
func seenOf(text, shown string) likeness {
	runes := []rune(text)
	low, high := 0, len(runes) // of the longest beginning that is seen
	for low < high {
		middle := (low + high + 1) / 2
		if strings.Contains(shown, string(runes[:middle])) {
			low = middle
		} else {
			high = middle - 1
		}
	}
	return likeness{whole: low == len(runes), runes: low}
}

// dense is a text without what a screen adds and takes away: blanks, line breaks,
// and the lines of a frame.
func dense(text string) string {
	if len(text) > likenessMost {
		text = text[:likenessMost]
	}
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\n', '\t', '\u00a0', '│':
			return -1
		}
		return r
	}, text)
}
