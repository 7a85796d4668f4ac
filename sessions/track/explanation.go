package track

import (
	"time"

	"berth/agent"
	"berth/api"
	"berth/detect"
)

// Explanation is the answer of the verb explain: why a session's state is what
// it is, or with At, why it once changed. What is of the present alone is null
// then.
type Explanation struct {
	Session  string          `json:"session"`
	ID       string          `json:"id"`
	Agent    string          `json:"agent"`
	At       *uint64         `json:"at"` // number of the event that is explained; null: the present
	Prev     *string         `json:"prev"`
	State    string          `json:"state"`
	Since    api.Time        `json:"since"`
	Seq      uint64          `json:"seq"` // of the event that made the state this one; 0: none is known
	Tier     int             `json:"tier"`
	Cause    string          `json:"cause"`
	Evidence string          `json:"evidence"`
	Prompt   *agent.Request  `json:"prompt"`
	Activity *agent.Activity `json:"activity"`
	Failure  *agent.Failure  `json:"failure"`

	Sources     []SourceWord `json:"sources"`      // the surest first
	SourcesKept bool         `json:"sources_kept"` // false: what they had said is not known any more

	Conversation         *string   `json:"conversation"`
	Turn                 *Turning  `json:"turn"`
	Asked                []Asking  `json:"asked"`
	Calls                []Calling `json:"calls"`
	Subagents            []string  `json:"subagents"` // that go on after their turn
	IdleGraceRemainingMS *int64    `json:"idle_grace_remaining_ms"`
	Pending              []Pended  `json:"pending"` // on its way to be believed
	Ways                 []Way     `json:"ways"`    // what would change the state
	Rules                []Rule    `json:"rules"`   // by which each source is believed
}

// Parts of an Explanation.
type (
	// Turning is the turn under way.
	Turning struct {
		ID      string   `json:"id"`
		Phase   string   `json:"phase"` // running; ending: told to be over, while something still says busy
		How     string   `json:"how"`   // of one that is ending
		Started api.Time `json:"started"`
		Source  string   `json:"source"` // that told of it first
	}
	// Asking is an open prompt, with what is known of it and by whom.
	Asking struct {
		Prompt    string   `json:"prompt"`
		Type      string   `json:"type"`
		Tool      *string  `json:"tool"`
		Opened    api.Time `json:"opened"`
		Tier      int      `json:"tier"`
		Cause     string   `json:"cause"`
		Told      bool     `json:"told"` // by the agent's own event, not only seen
		Seen      bool     `json:"seen"` // on the screen, at some time
		OnScreen  bool     `json:"on_screen"`
		HookWaits bool     `json:"hook_waits"`
	}
	// Calling is a tool call that has not come back.
	Calling struct {
		Tool     string `json:"tool"`
		Call     string `json:"call"`
		Subagent string `json:"subagent"`
	}
	// Pended is a rule that waits for a source to have said the same for long
	// enough.
	Pended struct {
		Move        string   `json:"move"`
		Source      string   `json:"source"`
		Since       api.Time `json:"since"`
		Due         api.Time `json:"due"`
		RemainingMS int64    `json:"remaining_ms"`
	}
	// Rule is how a source is believed: normal, as the driver's table says; slow,
	// since another source has contradicted it: for the longest time that the table
	// names for the move, and an end of a turn only when all other sources agree.
	Rule struct {
		Source   string          `json:"source"`
		Rule     string          `json:"rule"`
		Mismatch *DriverMismatch `json:"mismatch"` // null: normal
	}
	// Way is a move out of the state, and who may cause it.
	Way struct {
		Move string  `json:"move"`
		Next string  `json:"next"`
		By   []ByWho `json:"by"`
	}
	// ByWho is a source that may cause a move when it has said so for that long.
	ByWho struct {
		Source  string `json:"source"`
		Tier    int    `json:"tier"`
		AfterMS int64  `json:"after_ms"`
	}
)

// ExplainPast says why the state changed once, with the event of that number.
func ExplainPast(told StateEvent, at api.Time, seq uint64) Explanation {
	e := Explanation{
		At: &seq, Prev: &told.Prev, State: told.Next, Since: at, Seq: seq,
		Tier: told.Tier, Cause: short(told.Cause), Evidence: short(told.Evidence), Prompt: told.Prompt, Activity: told.Activity, Failure: told.Failure,
		Sources: told.Sources, SourcesKept: told.Sources != nil,
	}
	e.fill()
	return e
}

// believes puts in what the fold holds and waits for.
func (e *Explanation) believes(x detect.Explanation, now time.Time) {
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
	e.believedBy(x)
	for _, w := range x.Ways {
		way := Way{Move: string(w.Move), Next: string(w.Next)}
		for _, by := range w.By {
			way.By = append(way.By, ByWho{Source: string(by.Source), Tier: by.Source.Tier(), AfterMS: by.After.Milliseconds()})
		}
		e.Ways = append(e.Ways, way)
	}
}

// believedBy puts in the rule for each source that has said something.
func (e *Explanation) believedBy(x detect.Explanation) {
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

// fill makes lists of what there is none of: a shell's jq loops over them.
func (e *Explanation) fill() {
	if e.Sources == nil {
		e.Sources = []SourceWord{}
	}
	e.Asked, e.Calls, e.Subagents = some(e.Asked), some(e.Calls), some(e.Subagents)
	e.Pending, e.Ways, e.Rules = some(e.Pending), some(e.Ways), some(e.Rules)
}
