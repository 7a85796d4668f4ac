package main

import (
	"maps"
	"slices"
	"testing"

	"berth/agent"
)

// TestEveryAgentHasADriver: the server can run every agent that the configuration may name.
func TestEveryAgentHasADriver(t *testing.T) {
	if have, want := slices.Sorted(maps.Keys(drivers)), slices.Sorted(slices.Values(agent.Names())); !slices.Equal(have, want) {
		t.Errorf("drivers of %v, configuration may name %v", have, want)
	}
	for name, d := range drivers {
		if d.Name() != name {
			t.Errorf("the driver of %s calls itself %s", name, d.Name())
		}
	}
}
