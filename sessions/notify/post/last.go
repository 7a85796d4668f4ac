package post

import (
	"maps"
	"sync"

	"berth/api"
)

// Listed is a rule without its secrets: where it sends to, and its template.
type Listed struct {
	Rule     string
	Service  string
	On       []string
	Sessions []string
	Tags     []string
	Last     *Last // nil if it has sent nothing yet
}

// Last is how the last notice by a rule ended.
type Last struct {
	At      api.Time `json:"at"`
	Kind    string   `json:"kind"`
	Session string   `json:"session,omitempty"` // id; empty for a test
	Error   string   `json:"error,omitempty"`   // empty if it was sent
}

// lasts has the last result of each rule, by the rule's id.
type lasts struct {
	mu   sync.Mutex
	list map[string]Last
}

// add records how a notice ended.
func (l *lasts) add(rule string, last Last, err error) {
	if err != nil {
		last.Error = err.Error()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		l.list = map[string]Last{}
	}
	l.list[rule] = last
}

// set takes over what the last server has saved.
func (l *lasts) set(list map[string]Last) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = list
}

func (l *lasts) of(rule string) (Last, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.list[rule]
	return last, ok
}

// keepOnly forgets the rules that are gone, and returns a copy of the others.
func (l *lasts) keepOnly(rules map[string]bool) map[string]Last {
	l.mu.Lock()
	defer l.mu.Unlock()
	maps.DeleteFunc(l.list, func(rule string, _ Last) bool { return !rules[rule] })
	return maps.Clone(l.list)
}
