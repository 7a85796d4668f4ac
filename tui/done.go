package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/agent"
	"berth/api"
	"berth/sessions"
)

// verdict has the fields that the dashboard reads from a verb's JSON output.
type verdict struct {
	Delivered bool       `json:"delivered"`
	Confirmed bool       `json:"confirmed"`
	Queued    bool       `json:"queued"`
	QueueID   string     `json:"queue_id"`
	Evidence  string     `json:"evidence"`
	Outcome   string     `json:"outcome"`
	State     string     `json:"state"`
	Session   string     `json:"session"`
	ID        string     `json:"id"`
	Error     *api.Error `json:"error"`

	Worktree *struct {
		Removed bool    `json:"removed"`
		Path    string  `json:"path"`
		Why     *string `json:"why"`
	} `json:"worktree"` // of rm
}

// otherwise reports whether the prompt has changed since its card was drawn, and the change had not
// reached the dashboard when the key was pressed.
func (v verdict) otherwise() bool {
	return v.Error != nil && v.Error.Code == api.CodeStalePrompt && v.Error.Details["digest"] != nil
}

// Finish handles the result of an act. The effect is what follows from it.
func (m *Model) Finish(d Done, now time.Time) Effect {
	m.now = now
	m.doing--
	if len(d.results) > 0 {
		unfinished := m.finishEach(d)
		if old := d.draft; old.what != "" {
			text := m.drafts[old].text
			m.keep(old, kept{})
			if len(unfinished) > 0 {
				m.keep(draft{old.what, setOf(unfinished), old.prompt}, kept{text: text})
			}
		}
		return nil
	}
	var v verdict
	_ = json.Unmarshal([]byte(d.Out), &v) // other output has no fields
	failure := m.failureOf(d, v)
	if d.form != nil && failure != "" {
		m.before.form = d.form
		if m.edit == nil && m.page == nil && m.start == nil && m.command == nil && m.confirm == nil && !m.filter.typing {
			m.start = d.form
		}
	}
	if d.Kind == "nudge" && v.Error != nil && len(d.Words) == 3 && (v.Error.Code == api.CodeAgentBusy || v.Error.Code == api.CodeNotReady) {
		d.Words = []string{"nudge", "--queue", d.Session, "-"} // it has become busy since the message was written
		return m.act(d.Act, "queueing")
	}
	if d.draft.what != "" {
		k := kept{text: m.drafts[d.draft].text}
		switch {
		case failure == "":
			k.text = ""
		case v.Error != nil && v.Error.Code == api.CodeDraftPresent:
			k.offer = offerStash
		}
		m.keep(d.draft, k)
		if failure != "" && d.draft.what == nudging && v.Error != nil {
			switch v.Error.Code {
			case api.CodeDraftPresent:
				failure += " · m, then ctrl-s stashes the draft and sends your message"
			default:
				failure += " · your text is kept: m opens it again"
			}
		}
	}
	switch {
	case d.Line != "":
		m.ran(d)
		return nil
	case d.Kind == "respond" && v.otherwise():
		m.Flash(d.Name+": "+changed, waits)
		return nil
	case failure != "":
		m.flashResult(failure, failed)
		return nil
	case strings.HasPrefix(d.Kind, "page ") || d.Kind == "history":
		m.openPage(d)
		return nil
	case d.Kind == "new" || d.Kind == "fork":
		m.wanted = v.ID
		if host, _, away := strings.Cut(d.Session, "/"); away {
			m.wanted = OnHost(host, v.ID)
		}
	}
	m.flashResult(m.success(d, v), rests)
	if d.Kind == "respond" {
		m.afterAnswer(d.Session)
	}
	return nil
}

// failureOf says why an act failed. It is empty if the act succeeded.
func (m *Model) failureOf(d Done, v verdict) string {
	switch {
	case d.Status == api.StatusDone:
		return ""
	case v.Outcome == "answered_elsewhere":
		return d.Name + ": answered elsewhere, another client was first"
	case v.Error != nil && v.Error.Code == api.CodeUnconfirmed:
		return d.Name + ": unconfirmed: " + strings.TrimPrefix(oneLine(v.Error.Message), d.Name+" ")
	case v.Error != nil:
		return api.About(d.Name, oneLine(v.Error.Message))
	case d.Err != "":
		return api.About(d.Name, oneLine(strings.TrimPrefix(d.Err, "berth: ")))
	}
	return fmt.Sprintf("%s: %s failed with status %d", d.Name, d.Kind, d.Status)
}

// success says what an act has done.
func (m *Model) success(d Done, v verdict) string {
	switch d.Kind {
	case "respond":
		text := d.Name + ": " + strings.ReplaceAll(v.Outcome, "_", " ")
		if v.Confirmed {
			text += ", confirmed"
		} else {
			text += ", not confirmed"
		}
		if v.State != "" {
			text += " · now " + v.State
		}
		return text
	case "nudge":
		if v.Queued {
			return m.queuedAs(d, v)
		}
		if v.Confirmed {
			return d.Name + " has the message, confirmed by " + v.Evidence
		}
		return d.Name + " has the message"
	}
	if d.Kind == "interrupt" && !v.Delivered {
		return d.Name + " is " + v.State + ": it has nothing to interrupt"
	}
	if text := v.keptText(d); text != "" {
		return text
	}
	name := d.Name
	if v.Session != "" && !strings.Contains(d.Session, "/") { // another host says its own name
		name = oneLine(v.Session)
	}
	if text, ok := doneTexts[d.Kind]; ok {
		return name + text
	}
	return name + ": " + d.Kind + " done"
}

// openPage shows the page that an act has made.
func (m *Model) openPage(d Done) {
	was := m.page
	if d.queues() {
		d = m.readQueue(d)
	}
	m.page, m.flash = newPager(d), flash{}
	if was != nil && d.queues() && was.act.queues() {
		m.page.chosen = max(min(was.chosen, len(d.queue)-1), 0)
		if len(was.queue) > 0 { // the chosen message stays chosen, also when one before it has gone
			id := was.queue[was.chosen].QueueID
			if i := slices.IndexFunc(d.queue, func(q sessions.Queued) bool { return q.QueueID == id }); i >= 0 {
				m.page.chosen = i
			}
		}
	}
}

// queuedAs says that a message waits, and for what.
func (m *Model) queuedAs(d Done, v verdict) string {
	why := "its agent is busy"
	if s := m.byID[d.Session]; s != nil && busy(s) {
		why = fmt.Sprintf("%s %s", s.Name, map[agent.State]string{
			agent.Working: "is working", agent.Prompt: "needs an answer", agent.Starting: "is starting", agent.Restarting: "is restarting",
		}[s.Now])
	}
	return fmt.Sprintf("queued as %s: %s; it is delivered when the agent is idle", v.QueueID, why)
}

// flashResult shows a result. A key that comes within resultTime doesn't remove it.
func (m *Model) flashResult(text string, of tone) {
	m.flash = flash{text: text, tone: of, until: m.now.Add(resultTime)}
}

// doneTexts are the messages for verbs that return no result of their own.
var doneTexts = map[string]string{
	"interrupt": " was interrupted", "restart": " was restarted", "kill": " has ended", "tag": " has its tags", "new": " was started",
}
