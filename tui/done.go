package tui

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"berth/api"
)

// verdict is what the dashboard reads of an answer in JSON.
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
}

// otherwise says that the prompt asks something else now than its card showed, which
// had not come here when the key was pressed.
func (v verdict) otherwise() bool {
	return v.Error != nil && v.Error.Code == api.CodeStalePrompt && v.Error.Details["digest"] != nil
}

// Finish takes in what came of an act.
func (m *Model) Finish(d Done, now time.Time) {
	m.now = now
	m.doing--
	var v verdict
	_ = json.Unmarshal([]byte(d.Out), &v) // what is no JSON says nothing
	failure := m.failureOf(d, v)
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
				failure += " · n, then ctrl-s puts their draft aside and sends yours"
			case api.CodeAgentBusy, api.CodeNotReady:
				failure += " · n, then ctrl-q keeps it until the agent takes it"
			default:
				failure += " · your text is kept: n goes on with it"
			}
		}
	}
	switch {
	case d.Kind == "respond" && v.otherwise():
		m.Tell(d.Name+": "+changed, waits)
		return
	case failure != "":
		m.tellResult(failure, failed)
		return
	case strings.HasPrefix(d.Kind, "page ") || d.Kind == "history":
		m.page, m.flash = newPager(d), flash{}
		return
	case d.Kind == "new":
		m.start = nil
		m.wanted = v.ID
	}
	m.tellResult(m.success(d, v), rests)
}

// failureOf is why an act came to nothing; empty when it did not.
func (m *Model) failureOf(d Done, v verdict) string {
	switch {
	case d.Status == api.StatusDone:
		return ""
	case v.Outcome == "answered_elsewhere":
		return d.Name + ": answered elsewhere, somebody else was first"
	case v.Error != nil && v.Error.Code == api.CodeUnconfirmed:
		return d.Name + ": unconfirmed: " + strings.TrimPrefix(oneLine(v.Error.Message), d.Name+" ")
	case v.Error != nil:
		return api.About(d.Name, oneLine(v.Error.Message))
	case d.Err != "":
		return api.About(d.Name, oneLine(strings.TrimPrefix(d.Err, "berth: ")))
	}
	return fmt.Sprintf("%s: %s failed with status %d", d.Name, d.Kind, d.Status)
}

// success is what an act has come to.
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
			return d.Name + " keeps the message in its queue as " + v.QueueID
		}
		if v.Confirmed {
			return d.Name + " has the message, confirmed by " + v.Evidence
		}
		return d.Name + " has the message"
	}
	if d.Kind == "interrupt" && !v.Delivered {
		return d.Name + " is " + v.State + ": there is nothing to interrupt"
	}
	name := d.Name
	if v.Session != "" {
		name = oneLine(v.Session)
	}
	if text, ok := told[d.Kind]; ok {
		return name + text
	}
	return name + ": " + d.Kind + " done"
}

// tellResult shows a result, which a key that comes at once does not remove.
func (m *Model) tellResult(text string, of tone) {
	m.flash = flash{text: text, tone: of, until: m.now.Add(resultTime)}
}

// told are the results of verbs that answer no more than that they are done.
var told = map[string]string{
	"interrupt": " was interrupted", "restart": " was started again", "kill": " has ended", "tag": " has its tags", "new": " was started",
}
