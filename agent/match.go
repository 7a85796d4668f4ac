package agent

// MatchIf returns m if so is true, else NoMatch.
func MatchIf(so bool, m Match) Match {
	if so {
		return m
	}
	return NoMatch
}

// Matchers compare a dialog with a prompt of the same type and subtype. A matcher is nil when
// the agent has no such dialog.
type Matchers struct {
	Question, Form, Plan, Permission func(d *Dialog, p *Request) Match
}

// Match is Driver.Match by the prompt's type. The title alone identifies a start page; the
// subtype alone identifies a permission that has one.
func (m Matchers) Match(d *Dialog, p *Request) Match {
	if d.Type != p.Type || d.Subtype != Value(p.Subtype) {
		return NoMatch
	}
	of := m.Permission
	switch p.Type {
	case PromptSetup, PromptNotice:
		return MatchIf(p.Title == nil || *p.Title == d.Title, WholeMatch)
	case PromptQuestion:
		of = m.Question
	case PromptForm:
		of = m.Form
	case PromptPlan:
		of = m.Plan
	default:
		if d.Subtype != "" {
			return WholeMatch
		}
	}
	if of == nil {
		return NoMatch
	}
	return of(d, p)
}
