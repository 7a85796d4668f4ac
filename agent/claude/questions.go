package claude

import (
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/terminal"
)

// matchQuestion: the pages of several questions have the same tabs. A page is identified by its
// question's text, and by its options if the agent reported them. What has no room on a page wasn't
// seen.
func matchQuestion(d *agent.Dialog, p *agent.Request) agent.Match {
	m := matchPage(d, p)
	if d.Cut {
		m = both(m, agent.PartMatch)
	}
	return m
}

func matchPage(d *agent.Dialog, p *agent.Request) agent.Match {
	if len(p.Questions) == 0 {
		return agent.PartMatch
	}
	if len(d.Tabs) > 0 {
		if len(d.Tabs) != len(p.Questions) {
			return agent.NoMatch
		}
		for i, q := range p.Questions {
			if q.Header != "" && !sameTab(q.Header, d.Tabs[i]) {
				return agent.NoMatch
			}
		}
	}
	if d.Confirm {
		return agent.WholeMatch
	}
	unread := false
	for i, q := range p.Questions {
		if d.Tab > 0 && d.Tab <= len(p.Questions) && d.Tab != i+1 {
			continue // its page isn't shown
		}
		if q.Text == "" {
			unread = true
			continue
		}
		if plainText(q.Text) == plainText(d.Body) {
			if m := both(offers(d, q), sameWords(d, q)); m != agent.NoMatch {
				return m
			}
		}
	}
	if unread || d.Cut {
		return agent.MatchIf(unread, agent.WholeMatch)
	}
	return agent.NoMatch
}

// sameWords reports whether the dialog surely asks with the question's text. Other questions may
// look the same without blanks and Markdown's marks.
func sameWords(d *agent.Dialog, q agent.Question) agent.Match {
	t := drawn.Text{Rows: strings.Split(d.Body, "\n"), Width: d.Cols - besideIndented, Prose: true, Undrawn: undrawn}
	return max(t.Of(strings.TrimSpace(q.Text)), agent.AlikeMatch)
}

// offers reports whether the dialog has the question's options, as far as they have room, and their
// descriptions.
func offers(d *agent.Dialog, q agent.Question) agent.Match {
	m := agent.MatchIf(!offersMore(d, len(q.Options)), agent.WholeMatch)
	for i, label := range q.Options {
		switch {
		case i < len(d.Options):
			m = both(m, offer(d, d.Options[i], label, q, i))
		case !d.Cut:
			return agent.NoMatch
		}
	}
	return m
}

// offersMore reports whether the dialog has more than that number of options, besides the row for
// text and the option to talk about it. With previews there is no row for text.
func offersMore(d *agent.Dialog, options int) bool {
	n := len(d.Options)
	if n > 0 && d.Options[n-1].Label == optionChat {
		n--
	}
	if !previews(d) {
		options++
	}
	return n > options
}

// addedOptions is how many of a question's last options are Claude's own: the row for text, as long as nothing is typed into it,
// and the option to talk about it. The model may name its options like them.
func addedOptions(d *agent.Dialog) (n int) {
	last := func() string { return d.Options[len(d.Options)-1-n].Label }
	if n < len(d.Options) && last() == optionChat {
		n++
	}
	if n < len(d.Options) && !previews(d) && isOther(last()) {
		n++
	}
	return n
}

func offer(d *agent.Dialog, o agent.Option, label string, q agent.Question, i int) agent.Match {
	m := shows(d, o, label)
	explained := o.More
	if i < len(q.Descriptions) && !previews(d) { // a drawn preview leaves no room for the description
		explained = q.Descriptions[i]
	}
	if unmarked(o.Label+o.More) != unmarked(label+explained) && m != agent.NoMatch && explained != o.More {
		return agent.PartMatch // its description differs from the reported one
	}
	return m
}

// shows reports whether the option has that label: whole, or cut for lack of room, with the rest
// below. A label that differs only in blanks or in Markdown's marks may be another option's.
func shows(d *agent.Dialog, o agent.Option, label string) agent.Match {
	rest, begins := strings.CutPrefix(unmarked(label), unmarked(o.Label))
	if !begins || rest != "" && (o.Label == "" || !full(d, o) || !strings.HasPrefix(unmarked(o.More), rest)) {
		return agent.NoMatch
	}
	label = strings.TrimSpace(label)
	after, same := strings.CutPrefix(label, o.Label)
	if after = strings.TrimLeft(after, " "); !same || !strings.HasPrefix(o.More, after) {
		return agent.AlikeMatch
	}
	return agent.WholeMatch
}

// besideLabel is the most columns that are free beside a label, with its number and its checkbox.
const besideLabel = 14

// full reports whether the label's row has no room for the next word. Beside a preview the row's
// width isn't known.
func full(d *agent.Dialog, o agent.Option) bool {
	word, _, _ := strings.Cut(o.More, " ")
	return previews(d) || terminal.StringWidth(o.Label)+1+terminal.StringWidth(word)+besideLabel > d.Cols
}

// plainText is a text without blanks, without Markdown's marks, and without characters that may not
// be drawn.
func plainText(text string) string {
	return drawn.Without(text, undrawn+" \t\n\u00a0#*_`>|-+~[]()│─┌┐└┘├┤┬┴┼•▎")
}
