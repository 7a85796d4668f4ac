package track

import (
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
)

// Explanation is the output of the verb explain: the evidence for a session's state, or with At for a past
// change of it. Fields about the present are null then.
type Explanation struct {
	Session  string          `json:"session"`
	ID       string          `json:"id"`
	Agent    string          `json:"agent"`
	At       *uint64         `json:"at"` // number of the event that is explained; null: the present
	Prev     *string         `json:"prev"`
	State    string          `json:"state"`
	Since    api.Time        `json:"since"`
	Seq      uint64          `json:"seq"` // number of the event that made the state; 0: unknown
	Tier     int             `json:"tier"`
	Cause    string          `json:"cause"`
	Evidence string          `json:"evidence"`
	Prompt   *agent.Request  `json:"prompt"`
	Activity *agent.Activity `json:"activity"`
	Failure  *agent.Failure  `json:"failure"`

	Sources     []SourceWord `json:"sources"`      // the most reliable first
	SourcesKept bool         `json:"sources_kept"` // false: their reports are no longer known

	Conversation         *string   `json:"conversation"`
	Turn                 *Turning  `json:"turn"`
	Asked                []Asking  `json:"asked"`
	Calls                []Calling `json:"calls"`
	Subagents            []string  `json:"subagents"` // subagents that continue after their turn
	IdleGraceRemainingMS *int64    `json:"idle_grace_remaining_ms"`
	Pending              []Pended  `json:"pending"` // reports that must still hold for a while
	Ways                 []Way     `json:"ways"`    // what would change the state
	Rules                []Rule    `json:"rules"`   // the rule of each source
}

// Parts of an Explanation.
type (
	// Turning is the current turn.
	Turning struct {
		ID      string   `json:"id"`
		Phase   string   `json:"phase"` // running; ending: reported as over, while another source still says busy
		How     string   `json:"how"`   // how a turn ends that is ending
		Started api.Time `json:"started"`
		Source  string   `json:"source"` // the first source that reported it
	}
	// Asking is an open prompt, and which sources reported it.
	Asking struct {
		Prompt    string   `json:"prompt"`
		Type      string   `json:"type"`
		Tool      *string  `json:"tool"`
		Opened    api.Time `json:"opened"`
		Tier      int      `json:"tier"`
		Cause     string   `json:"cause"`
		Told      bool     `json:"told"` // reported by the agent's own event, not only seen
		Seen      bool     `json:"seen"` // seen on the screen at some time
		OnScreen  bool     `json:"on_screen"`
		HookWaits bool     `json:"hook_waits"`
	}
	// Calling is a tool call that still runs.
	Calling struct {
		Tool     string `json:"tool"`
		Call     string `json:"call"`
		Subagent string `json:"subagent"`
	}
	// Pended is a change of the state that waits until a source has reported the same for long enough.
	Pended struct {
		Move        string   `json:"move"`
		Source      string   `json:"source"`
		Since       api.Time `json:"since"`
		Due         api.Time `json:"due"`
		RemainingMS int64    `json:"remaining_ms"`
	}
	// Rule is when the reports of a source count. normal: as the driver's table says. slow, because another
	// source has contradicted it: they must hold for the longest time in the table's row, and the end of a
	// turn counts only if all other sources agree.
	Rule struct {
		Source   string          `json:"source"`
		Rule     string          `json:"rule"`
		Mismatch *DriverMismatch `json:"mismatch"` // null: normal
	}
	// Way is a change of the state, and the sources that may cause it.
	Way struct {
		Move string  `json:"move"`
		Next string  `json:"next"`
		By   []ByWho `json:"by"`
	}
	// ByWho is a source that may cause a change after it has reported it for that long.
	ByWho struct {
		Source  string `json:"source"`
		Tier    int    `json:"tier"`
		AfterMS int64  `json:"after_ms"`
	}
)

// ExplainPast explains a past change of the state, by its event.
func ExplainPast(told StateEvent, at api.Time, seq uint64) Explanation {
	e := Explanation{
		At: &seq, Prev: &told.Prev, State: told.Next, Since: at, Seq: seq,
		Tier: told.Tier, Cause: short(told.Cause), Evidence: short(told.Evidence), Prompt: told.Prompt, Activity: told.Activity, Failure: told.Failure,
		Sources: told.Sources, SourcesKept: told.Sources != nil,
	}
	e.fill()
	return e
}

// addFold adds the fold's turn, prompts and calls, and the changes that it waits for.
func (e *Explanation) addFold(x detect.Explanation, now time.Time) {
	if t := x.Turn; t != nil {
		e.Turn = &Turning{ID: short(t.ID), Phase: t.Phase, How: string(t.How), Started: api.At(t.Started), Source: string(t.Source)}
	}
	for _, a := range x.Asked {
		e.Asked = append(e.Asked, Asking{
			Prompt: a.Request.ID, Type: string(a.Request.Type), Tool: a.Request.Tool, Opened: api.At(a.Opened), Tier: a.Tier, Cause: short(a.Cause),
			Told: a.Told, Seen: a.Seen, OnScreen: a.Request.OnScreen, HookWaits: a.Hook,
		})
	}
	for _, call := range x.Calls {
		e.Calls = append(e.Calls, Calling{Tool: short(call.Tool), Call: short(call.ID), Subagent: short(call.Agent)})
	}
	for _, id := range x.Subs {
		e.Subagents = append(e.Subagents, short(id))
	}
	for _, w := range x.Pending {
		e.Pending = append(e.Pending, Pended{
			Move: string(w.Move), Source: string(w.Source), Since: api.At(w.Since), Due: api.At(w.Due), RemainingMS: max(w.Due.Sub(now).Milliseconds(), 0),
		})
	}
	e.addRules(x)
	for _, w := range x.Ways {
		way := Way{Move: string(w.Move), Next: string(w.Next)}
		for _, by := range w.By {
			way.By = append(way.By, ByWho{Source: string(by.Source), Tier: by.Source.Tier(), AfterMS: by.After.Milliseconds()})
		}
		e.Ways = append(e.Ways, way)
	}
}

// addRules adds the rule of each source that has reported something.
func (e *Explanation) addRules(x detect.Explanation) {
	for _, w := range x.Words {
		rule := Rule{Source: string(w.Source), Rule: "normal"}
		for _, d := range x.Status.Doubts {
			if d.Source == w.Source {
				m := mismatch(d)
				rule.Rule, rule.Mismatch = "slow", &m
			}
		}
		if !w.Foreign {
			e.Rules = append(e.Rules, rule)
		}
	}
}

// fill replaces nil lists by empty ones, because a shell's jq loops over them.
func (e *Explanation) fill() {
	if e.Sources == nil {
		e.Sources = []SourceWord{}
	}
	e.Asked, e.Calls, e.Subagents = some(e.Asked), some(e.Calls), some(e.Subagents)
	e.Pending, e.Ways, e.Rules = some(e.Pending), some(e.Ways), some(e.Rules)
}
