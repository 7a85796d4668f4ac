package detect

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"berth/agent"
)

// Any process of the session can keep the first frame of a dialog from Berth, end the call's hook before it reports, and draw another dialog
// in its place. Hooks can be forged. The session log is the agent's own: it has each call before its dialog, and its result after that. So
// Berth keeps what the log alone says of the calls, whatever hooks report of them. A call without a result there may have a dialog below the drawn
// one, and no key is pressed. Such a call may also run unasked. That isn't known, and a person who is attached can press the key. This is for
// drivers that implement agent.OpenCallReader.

// openKept bounds the calls, and the subagents, that the log says are open. After one more, any dialog may be that of one that had no room.
const openKept = 64

// lacksLog: see LacksLog.
func (f *Fold) lacksLog() bool { return f.m.Unlogged != "" && f.m.Unlogged == f.m.Conversation }

// leftFor is how long a call of a conversation that was left counts without a result. Any process of the session can report that the agent has left,
// and the turns of another conversation say nothing about its calls.
const leftFor = time.Hour

// followsLog keeps what a fact of the session log says of the open calls. late: nothing else was learned from the fact.
func (f *Fold) followsLog(fact *agent.Fact, late bool) {
	m := &f.m
	if _, ok := f.driver.(agent.OpenCallReader); !ok || fact.Source != agent.SourceLog {
		return
	}
	if fact.Kind == agent.TurnEnded || fact.Kind == agent.TurnStarted {
		other := func(c logCall) bool {
			if c.Of != "" && c.Of != m.Conversation {
				return f.now.Sub(c.At) >= leftFor
			}
			return fact.Kind == agent.TurnEnded || c.Turn != "" && fact.Turn != "" && c.Turn != fact.Turn
		}
		m.Open = slices.DeleteFunc(m.Open, other)
		m.OpenMore = m.OpenMore && len(m.Open) > 0
	}
	if fact.Finishes != "" {
		m.Away = slices.DeleteFunc(m.Away, func(id string) bool { return id == fact.Finishes })
	}
	if fact.Launches != "" && !slices.Contains(m.Away, fact.Launches) {
		m.Away, m.OpenMore = bounded(append(m.Away, fact.Launches), m.OpenMore)
	}
	switch l, _ := f.driver.(agent.OpenCallReader); {
	case fact.Call == "":
	case fact.Kind == agent.ToolStarted, fact.Kind == agent.Acting && fact.Tool != "":
		c := logCall{ID: fact.Call, Tool: fact.Tool, Agent: fact.Agent, Input: canonical(fact.Input), Turn: fact.Turn, Of: m.Conversation, At: f.now, Late: late}
		if fact.Request != nil {
			c.Raw = canonical(fact.Request.Raw)
		}
		if !slices.ContainsFunc(m.Open, func(o logCall) bool { o.Allowed, o.At, o.Late = false, c.At, c.Late; return o == c }) {
			m.Open, m.OpenMore = bounded(append(m.Open, c), m.OpenMore)
		}
	case slices.Contains(l.OpenCalls().Results, fact.Cause):
		elsewhere := func(c logCall) bool { return c.ID == fact.Call && c.Of != "" && c.Of != m.Conversation }
		if slices.ContainsFunc(m.Open, elsewhere) {
			return // another conversation's log has a call by its id
		}
		m.Lost = slices.DeleteFunc(m.Lost, func(r *request) bool { return r.Given && r.Call == fact.Call })
		m.Open = slices.DeleteFunc(m.Open, func(c logCall) bool { return c.ID == fact.Call })
	}
}

// opened are the calls that the log has without a result. A hook may have reported that they are over.
func (f *Fold) opened() (calls []call) {
	for _, c := range f.m.Open {
		calls = append(calls, call{ID: c.ID, Tool: c.Tool, Agent: c.Agent, Input: c.Input, Logged: c.Input})
	}
	return calls
}

// bounded drops the oldest one without room. more says whether one was dropped.
func bounded[T any](all []T, more bool) ([]T, bool) {
	if len(all) <= openKept {
		return all, more
	}
	return slices.Clone(all[1:]), true
}

// isDrawn says how much of the call the dialog may show. The pages of questions are one call's.
func (f *Fold) isDrawn(c *logCall, d *agent.Dialog) agent.Match {
	l, _ := f.driver.(agent.OpenCallReader)
	if asks := cmp.Or(d.Tool, l.OpenCalls().Asks); d.Type == agent.PromptQuestion && asks != "" {
		return agent.MatchIf(c.Tool == asks && hasText(c.Input, d.Body), agent.WholeMatch)
	}
	f.onPicture(d)
	key := drawnCall{tool: c.Tool, input: c.Input}
	how, done := f.drawnOpen[key]
	if !done {
		if how = f.driver.Match(d, f.called(&call{Tool: c.Tool, Input: c.Input})); how == agent.NoMatch && d.Agent == "" {
			if l, reads := f.driver.(agent.CallLogReader); reads {
				how, _ = l.LoggedCall(d, c.Tool, []byte(c.Input))
			}
		}
		f.drawnOpen[key] = how
	}
	return how
}

// hasText reports whether a value of the input is this text, other than its blanks, or the text has all of its questions: a review has them.
func hasText(input, text string) bool {
	var v any
	if json.Unmarshal([]byte(input), &v) != nil {
		return false
	}
	text = dense(text)
	asks, shown, is := 0, 0, false
	var read func(name string, v any)
	read = func(name string, v any) {
		switch v := v.(type) {
		case string:
			is = is || dense(v) == text
			if name == "question" {
				asks++
				if strings.Contains(text, dense(v)) {
					shown++
				}
			}
		case []any:
			for _, one := range v {
				read(name, one)
			}
		case map[string]any:
			for name, one := range v {
				read(name, one)
			}
		}
	}
	read("", v)
	return is || asks > 0 && shown == asks
}

// allowsOpen records that Berth's key has allowed the call of the dialog on the screen, if that shows all of one.
func (f *Fold) allowsOpen() {
	shown := f.m.Screen.Reading
	if shown == nil || shown.Dialog == nil {
		return
	}
	for i := range f.m.Open {
		if c := &f.m.Open[i]; !c.Allowed && f.isDrawn(c, shown.Dialog) == agent.WholeMatch {
			c.Allowed = true
			return
		}
	}
}

// mayAsk reports whether the dialog of a call of the log may be open. One that left the screen may be there again, unless Berth's key allowed it.
func (f *Fold) mayAsk(c *logCall) bool {
	l, ok := f.driver.(agent.OpenCallReader)
	return ok && !c.Allowed && !l.OpenCalls().Quiet[c.Tool]
}

// opens reports whether the log has a call whose dialog may be open.
func (f *Fold) opens() bool {
	return slices.ContainsFunc(f.m.Open, func(c logCall) bool { return f.mayAsk(&c) })
}

// coversOpen reports whether a call of the session log may have a dialog that never was on the screen. Of parallel calls an agent asks about the
// first, so a call counts that the log has before the dialog's own: of those that the dialog may show most of, the last one. Where hooks
// report, so does each call for a dialog that no logged call is like, and a subagent, whose calls aren't in this log. A server's form comes while
// a call of that server runs, and a subagent's dialog while a call that started one does.
func (f *Fold) coversOpen(r *request, d *agent.Dialog) bool {
	m := &f.m
	l, ok := f.driver.(agent.OpenCallReader)
	if !ok {
		return false
	}
	rules := l.OpenCalls()
	if d.Type == agent.PromptForm || d.Agent != "" {
		of := func(c logCall) bool {
			if d.Type != agent.PromptForm {
				return slices.Contains(rules.Starts, c.Tool)
			}
			_, rest, _ := strings.Cut(agent.Value(r.Prompt.Title), "“")
			server, _, _ := strings.Cut(rest, "”")
			name, of := strings.CutPrefix(c.Tool, serverTool)
			name, _, is := strings.Cut(name, "__")
			return of && is && letters(name) != "" && letters(name) == letters(server)
		}
		return rules.LogsAll && slices.ContainsFunc(m.Open, func(c logCall) bool { return f.mayAsk(&c) && !of(c) })
	}
	own, best := -1, agent.NoMatch
	for i := range m.Open {
		if how := f.isDrawn(&m.Open[i], d); how >= best && how != agent.NoMatch {
			own, best = i, how
		}
	}
	if own < 0 {
		return m.Hooked && (m.OpenMore || f.lacksLog() || len(m.Away) > 0 || rules.LogsAll && f.opens())
	}
	earlier := func(c logCall) bool {
		return !rules.AnyOrder && f.mayAsk(&c) && (c.Tool != m.Open[own].Tool || c.Input != m.Open[own].Input) && !(f.isDrawn(&c, d) == best && f.isNamed(&c, d, best))
	}
	return m.Hooked && (m.OpenMore || f.lacksLog() || len(m.Away) > 0) || slices.ContainsFunc(m.Open[:own], earlier)
}

// serverTool begins the names of servers' tools.
const serverTool = "mcp__"

// letters are the letters and digits of a name, without other signs, which a tool's name has as lines.
func letters(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
}

// isNamed reports whether the prompt's text says what the dialog leaves out of a call that it may be about: see addUndrawn and drawnAlike.
func (f *Fold) isNamed(c *logCall, d *agent.Dialog, how agent.Match) bool {
	l, reads := f.driver.(agent.CallLogReader)
	if how == agent.WholeMatch || !reads {
		return how == agent.WholeMatch
	}
	_, undrawn := l.LoggedCall(d, c.Tool, []byte(c.Input))
	return undrawn != ""
}
