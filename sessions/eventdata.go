package sessions

import (
	"berth/api"
	"berth/terminal"

	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"berth/agent"
	"berth/sessions/clients"
	"berth/sessions/deliver"
	"berth/sessions/events"
	"berth/sessions/gates"
	"berth/sessions/life"
	"berth/sessions/loop"
	"berth/sessions/mail"
	"berth/sessions/outbox"
	"berth/sessions/prompts"
	"berth/sessions/track"
)

const eventTreeRemoved = "worktree_removed"

// EventData has the fields of each type of event, beside those of the head.
var EventData = func() map[string]any {
	all := map[string]any{
		events.TypeGap: events.Gap(), "session_created": created{}, "restarted": created{}, "session_removed": removedEvent{}, "renamed": renamedEvent{}, "tags": tagsEvent{}, eventNotify: Notified{}, eventTreeRemoved: treeEvent{},
	}
	for _, part := range []map[string]any{loop.Events, track.Events, clients.Events, gates.Events, prompts.Events, outbox.Events, mail.Events, life.Events} {
		maps.Copy(all, part)
	}
	return all
}()

// EventTypes are the types that watch --type knows: those of lines about the stream, and those of events.
var EventTypes = append([]string{"snapshot", "live", "heartbeat"}, slices.Sorted(maps.Keys(EventData))...)

// KnownEvent says whether there are events of that type.
func KnownEvent(t string) bool { return slices.Contains(EventTypes, t) }

// What the events carry beside their head.
type (
	created struct {
		Agent  string  `json:"agent"`
		PID    int     `json:"pid"`
		Parent *string `json:"parent"`
		Depth  int     `json:"depth"`
		By     string  `json:"by,omitempty"`
		Cols   int     `json:"cols"`
		Rows   int     `json:"rows"`
		Queue  string  `json:"queue_id,omitempty"` // of the message it was made with
	}
	renamedEvent struct {
		By   By     `json:"by"`
		From string `json:"from"` // the name in the newest event before
		loop.Repeated
	}
	tagsEvent struct {
		By   By                `json:"by"`
		Tags []string          `json:"tags"`
		Meta map[string]string `json:"meta"`
		loop.Repeated
	}
	removedEvent struct {
		By  By     `json:"by"`
		Why string `json:"why"`
	}
	treeEvent struct {
		By     By     `json:"by"`
		Why    string `json:"why"` // rm, worktree rm, merged (by the hourly look), or a bound of retention
		Path   string `json:"path"`
		Branch string `json:"branch"`
	}
)

// After keeps the first name and the last.
func (e renamedEvent) After(earlier loop.Paced) loop.Paced {
	e.From, e.Repeated = earlier.(renamedEvent).From, loop.Since(earlier)
	return e
}

// After keeps the tags that both led to.
func (e tagsEvent) After(earlier loop.Paced) loop.Paced {
	e.Repeated = loop.Since(earlier)
	return e
}

// NextState is the state that a state_change event leads to. waits says that the session's first message
// is still queued then.
func NextState(raw []byte) (next agent.State, waits bool) {
	var e track.StateEvent
	if json.Unmarshal(raw, &e) != nil {
		return "", false
	}
	return agent.State(e.Next), e.Queue != ""
}

// FirstNotTaken says that the event ends the session's first message without the agent's report that
// it has it: no change of the state follows from that.
func FirstNotTaken(line events.Line) bool {
	var e struct {
		Queue   string `json:"queue_id"`
		What    string `json:"what"`
		Verdict string `json:"verdict"`
	}
	if line.Type != "message" && line.Type != "nudge" || json.Unmarshal(line.Raw, &e) != nil || e.Queue != outbox.FirstID {
		return false
	}
	return e.What != "queued" && e.Verdict != string(deliver.Confirmed)
}

// QueuedTaken says that the event is the agent's report that it has the queued message. The error says why it won't
// get it.
func QueuedTaken(line events.Line, id string) (taken bool, err error) {
	var e struct {
		Queue    string `json:"queue_id"`
		What     string `json:"what"`
		Why      string `json:"why"`
		Verdict  string `json:"verdict"`
		Evidence string `json:"evidence"`
	}
	if line.Type != "message" && line.Type != "nudge" || json.Unmarshal(line.Raw, &e) != nil || e.Queue != id || e.What == "queued" {
		return false, nil
	}
	code, text := api.CodeNotFound, e.What
	switch {
	case e.Verdict == string(deliver.Confirmed):
		return true, nil
	case e.Verdict == string(deliver.Unconfirmed):
		code, text = api.CodeUnconfirmed, "given up: the agent may have it, and nothing confirms that"
	case e.Verdict != "":
		return false, nil // it is tried again
	case e.What == "expired":
		code = api.CodeTimeout
	case e.What == "denied":
		code = api.CodeDenied
	}
	if why := terminal.Printable(e.Why + e.Evidence); why != "" {
		text += ": " + why
	}
	return false, api.Errorf(code, "the message %s was %s", id, text).With("session", line.Session).With("queue_id", id)
}

// Describe gives one line for people about an event, without its common fields.
func Describe(line events.Line) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(line.Raw, &fields) != nil {
		return ""
	}
	for _, head := range []string{"cursor", "type", "session", "id", "seq", "time", "cause_record", "host", "host_cursor"} {
		delete(fields, head)
	}
	if line.Type == "state_change" {
		return fmt.Sprintf("%s -> %s (%s)", inWords(fields["prev"]), inWords(fields["next"]), inWords(fields["cause"]))
	}
	var by By
	if json.Unmarshal(fields["by"], &by) == nil && by.Identity != "" {
		fields["by"], _ = json.Marshal(by.Identity) // a string always encodes
	}
	var words []string
	for key, value := range fields {
		if text := inWords(value); text != "" {
			words = append(words, key+"="+text)
		}
	}
	sort.Strings(words)
	return strings.Join(words, " ")
}

// inWords is a JSON value for people: a string without its quotes, null as nothing,
// all else as it is.
func inWords(value json.RawMessage) string {
	var text string
	switch {
	case len(value) == 0 || string(value) == "null":
		return ""
	case json.Unmarshal(value, &text) == nil:
		return text
	}
	var short bytes.Buffer
	if json.Compact(&short, value) != nil {
		return string(value)
	}
	return short.String()
}

func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
