package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"berth/agent/generic/rules"
)

// rules checks the rules, and that the rules named by sessions exist.
func (v *validation) rules(c *Config) {
	for _, p := range rules.Check(c.Rules) {
		v.add(strings.TrimSuffix("rules."+p.Field, "."), p.Text, p.Remedy)
	}
	v.named("defaults", c.Defaults, c)
	for _, name := range slices.Sorted(maps.Keys(c.Profiles)) {
		v.named("profiles."+quoteKey(name), c.Profiles[name], c)
	}
	for i, s := range c.Sessions {
		v.named(fmt.Sprintf("sessions[%d]", i), s, c)
	}
}

func (v *validation) named(field string, s Session, c *Config) {
	if _, ok := c.Rules[s.Rules]; s.Rules == "" || ok {
		return
	}
	known := slices.Sorted(maps.Keys(c.Rules))
	remedy := "there are no rules: add rules: {NAME: ...}"
	if near := suggest(s.Rules, known); near != "" {
		remedy = "did you mean " + near + "?"
	} else if len(known) > 0 {
		remedy = "there are " + strings.Join(known, ", ")
	}
	v.add(field+".rules", "there are no rules "+quote(s.Rules), remedy)
}
