package config

import (
	"encoding/json"
	"maps"
	"slices"

	"berth/orchestrate/begin"
	"berth/orchestrate/gate"
)

// Config is the gate as sessions have it.
func (g Gate) Config() (gate.Config, error) {
	c := gate.Config{Mode: gate.Mode(g.Mode), Text: g.Text, Cap: g.Cap}
	if g.Schema != nil {
		schema, err := json.Marshal(g.Schema)
		if err != nil {
			return c, err
		}
		c.Schema = schema
	}
	return c, c.Check()
}

// Begins is what the agent is told when a conversation begins, as sessions
// have it.
func (s Session) Begins() begin.Config {
	var c begin.Config
	for source, one := range s.Start {
		c = c.With(begin.Source(source), &begin.Context{Text: one.Text, Run: one.Run})
	}
	return c
}

// orchestrate checks the fields that an orchestrator sets.
func (v *validation) orchestrate(field string, s Session) {
	if _, err := s.Gate.Config(); err != nil {
		v.add(join(field, "gate"), err.Error(), "write gate: auto, or gate: {mode: gate, text: ...}")
	}
	all := s.Begins()
	for _, source := range slices.Sorted(maps.Keys(all)) {
		if err := (begin.Config{source: all[source]}).Check(); err != nil {
			v.add(join(join(field, "start"), quoteKey(string(source))), err.Error(), "write startup, resume, clear, compact or any, each with text: ... or run: [...]")
		}
	}
}
