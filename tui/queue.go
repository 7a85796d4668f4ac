package tui

import (
	"encoding/json"
	"fmt"

	"berth/render"
	"berth/sessions"
)

// queued is an action: the page of a session's queued messages.
func (m *Model) queued(s *sessions.Status) Effect {
	return m.act(Act{
		Kind: "page queue", Session: s.ID, Name: s.Name, title: "Queued messages of " + s.Name, Words: []string{"queue", s.ID},
	}, "loading")
}

// queues reports whether the act is the page of a queue.
func (a Act) queues() bool { return a.Kind == "page queue" }

// readQueue reads the queue that a verb printed. Of a very long queue the dashboard has only the end, which
// is not a list.
func (m *Model) readQueue(d Done) Done {
	d.Words = []string{"queue", d.Session} // a refresh removes nothing again
	if json.Unmarshal([]byte(d.Out), &d.queue) != nil {
		d.Kind, d.Out = "page", "The queue is too long for this page. The verb queue prints it: queue "+d.Name
	}
	return d
}

// layQueue lays out the queue's messages: a line about each, and its text.
func (p *pager) layQueue(m *Model, cols int) {
	if len(p.queue) == 0 {
		p.rows = append(p.rows, pageRow{line: []render.Span{{Text: p.act.Name + " has no queued messages"}}})
		return
	}
	for i, q := range p.queue {
		head := fmt.Sprintf(" · %s ago by %s · %s", age(m.now, q.Since.Time), q.By.Identity, q.Why)
		if q.Expires != nil {
			head += " · expires " + q.Expires.Local().Format("Jan 2 15:04:05")
		}
		spans := []render.Span{{Text: q.QueueID, Tone: render.Accent}, {Text: (&Frame{ascii: m.theme.ascii}).spelled(head), Tone: render.Faint}}
		lines := append([]render.Line{{Spans: spans}}, render.Text(q.Text)...)
		for _, r := range render.Flow(lines, max(cols-2, 2)) {
			indent := "  "
			if r.Of == 0 && !r.Continued {
				indent = ""
			}
			p.rows = append(p.rows, pageRow{append([]render.Span{{Text: indent}}, r.Spans...), i})
		}
	}
}

// pressQueue handles the keys of a queue's page: they choose a message, and remove it.
func (m *Model) pressQueue(k Key) (Effect, bool) {
	p := m.page
	if !p.act.queues() || len(p.queue) == 0 {
		return nil, false
	}
	switch k.Name {
	case "up", "k":
		p.chosen = max(p.chosen-1, 0)
	case "down", "j":
		p.chosen = min(p.chosen+1, len(p.queue)-1)
	case "x", "delete":
		if !m.world.May["nudge"] {
			m.refuse("remove messages", "nudge")
			return nil, true
		}
		m.askRemoval(p.act, p.queue[p.chosen].QueueID, p.queue[p.chosen].Text)
		return nil, true
	default:
		return nil, false
	}
	for y, row := range p.rows { // the chosen message stays on the screen
		if row.item == p.chosen {
			if y < p.YOffset() {
				p.SetYOffset(y)
			}
			if y >= p.YOffset()+p.Height() {
				p.SetYOffset(y - p.Height() + 1)
			}
		}
	}
	return nil, true
}

// askRemoval asks whether a message is to be removed from the queue.
func (m *Model) askRemoval(a Act, id, text string) {
	a.Words = []string{"queue", a.Session, "rm", id}
	m.flash = flash{}
	m.confirm = &confirm{
		text: fmt.Sprintf("Remove %s from the queue of %s? It won't be delivered: %s", id, a.Name, cut(oneLine(text), 100, "…")),
		acts: []Act{a}, action: action{verb: "queue", doing: "removing " + id + " of"},
	}
}
