package notify

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// TestReportsOfOneSession: a session that reports without end delays a prompt of another one by one notice at most.
func TestReportsOfOneSession(t *testing.T) {
	list := []Rule{{Name: "phone", On: []string{"prompt", "report"}}}
	rules := func(string) []Rule { return list }
	m := New(100)
	m.See(list)
	cursor := uint64(100)
	take := func(at time.Duration, session, kind, data string) {
		cursor++
		m.Take(Line{Cursor: cursor, Type: kind, Session: session, Time: t0.Add(at), Raw: json.RawMessage(data)})
	}
	sent := map[string]time.Duration{}
	for at := time.Duration(0); at < 10*time.Minute; at += time.Second {
		take(at, "loud", "report", `{"kind":"note","message":"m"}`)
		if at == time.Minute {
			take(at, "quiet", "prompt", `{"prompt":{"id":"1"}}`)
			take(at, "quiet", "prompt", `{"prompt":{"id":"2"}}`)
		}
		due, _ := m.Due(t0.Add(at), 64, rules)
		for _, n := range due {
			m.Done(n.Rule.ID(), n.Occasion.Key)
			name := fmt.Sprint(n.Occasion.Session, n.Occasion.Prompt)
			if _, before := sent[name]; !before {
				sent[name] = at - time.Minute
			}
		}
	}
	for name, most := range map[string]time.Duration{"quiet1": Settles + 2*every, "quiet2": Settles + 4*every} {
		if after, ok := sent[name]; !ok || after > most {
			t.Errorf("%s after %s (%t)", name, after, ok)
		}
	}
	if m.Due(t0.Add(time.Hour), 64, rules); len(m.served) > 0 {
		t.Errorf("%d are remembered", len(m.served))
	}
}
