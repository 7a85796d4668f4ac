package detect

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"berth/agent"
)

// Some permissions say too little without their call, which the agent reported before. Any process of
// the session can report a call, its end, and as many other calls as it likes. So what a call explains
// outlasts the call: a permission that several calls may have asked for shows what each of them says.
// The functions of this file are for drivers that implement agent.CallExplainer.

// explanation is what a call adds to the permission that it asks for.
type explanation struct {
	Agent   string
	Subject string // a hash of the permission's subject
	Brief   string // without what is usual in the session's folder
	All     string
	Long    bool // it is too long to be kept
	At      time.Time
}

const (
	// explanationsKept bounds the explanations.
	explanationsKept = 256
	// longestExplanation bounds one of them, in bytes.
	longestExplanation = 4 << 10
	// explainedFor is how long a call may take until it asks. Hooks of other programs may hold it up,
	// and the agent ends them after 10 minutes.
	explainedFor = time.Hour
)

// explains keeps what a call adds to its permission. If an explanation that may still be needed has no
// room, no permission is explained for a time.
func (f *Fold) explains(fact *agent.Fact) {
	e, ok := f.driver.(agent.CallExplainer)
	if !ok {
		return
	}
	subject, brief, all := e.Explains(fact, f.o.Dir)
	if subject == "" {
		return
	}
	m := &f.m
	one := explanation{Agent: fact.Agent, Subject: hashed(subject), Brief: brief, All: all}
	if len(all) > longestExplanation {
		one.Brief, one.All, one.Long = "", "", true
	}
	var kept []explanation
	for _, x := range m.Explanations {
		if one.At = x.At; x != one {
			kept = append(kept, x)
		}
	}
	one.At = f.now
	if m.Explanations = append(kept, one); len(m.Explanations) <= explanationsKept {
		return
	}
	if f.now.Sub(m.Explanations[0].At) < explainedFor {
		m.Unexplained = f.now
	}
	m.Explanations = append([]explanation(nil), m.Explanations[1:]...)
}

func hashed(subject string) string {
	sum := sha256.Sum256([]byte(subject))
	return hex.EncodeToString(sum[:])
}

// explained returns the fact with what only the prompt's call says. Without that call the prompt says too
// little for an answer by its hook, so no hook waits: the agent draws its dialog.
func (f *Fold) explained(fact *agent.Fact) *agent.Fact {
	e, ok := f.driver.(agent.CallExplainer)
	if !ok || !e.NeedsCall(fact.Request) {
		return fact
	}
	whole := *fact
	whole.Request = fact.Request.Clone()
	whole.Hook = ""
	if at := f.m.Unexplained; !at.IsZero() && f.now.Sub(at) < explainedFor {
		return &whole
	}
	subject := e.Explained(fact.Request)
	var of []explanation
	for _, x := range f.m.Explanations {
		if subject == "" || x.Subject != hashed(subject) || x.Agent != fact.Agent {
			continue
		}
		if of = append(of, x); x.Long {
			return &whole
		}
	}
	lines := ""
	switch len(of) {
	case 0:
		return &whole
	case 1:
		lines = of[0].Brief
	default:
		lines = "one of several calls:"
		for _, x := range of {
			lines += "\n\n" + x.All
		}
	}
	whole.Hook = fact.Hook
	if text := agent.Value(whole.Request.Text); lines != "" {
		whole.Request.Text = agent.Pointer(strings.TrimPrefix(text+"\n\n"+lines, "\n\n"))
	}
	return &whole
}
