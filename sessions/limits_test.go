package sessions

import (
	"testing"
	"time"
)

// TestLimitsAbove: each limit is compared, those that aren't set as what they mean.
func TestLimitsAbove(t *testing.T) {
	all := Limits{Output: 2 << 20, Scrollback: 100, TTL: time.Hour, IdleTimeout: time.Hour, Memory: 1 << 30, Processes: 10, CPU: 500}
	for name, raised := range map[string]Limits{
		"":             {},
		"output":       {Output: all.Output + 1},
		"scrollback":   {Scrollback: all.Scrollback + 1},
		"ttl":          {TTL: all.TTL + 1},
		"idle_timeout": {IdleTimeout: all.IdleTimeout + 1},
		"memory":       {Memory: all.Memory + 1},
		"processes":    {Processes: all.Processes + 1},
		"cpu":          {CPU: all.CPU + 1},
	} {
		if got := all.With(raised).Above(all); got != name {
			t.Errorf("%+v: %q is above, not %q", raised, got, name)
		}
	}
	lower := Limits{Output: 1 << 20, Scrollback: 10, TTL: time.Minute, IdleTimeout: time.Minute, Memory: 1 << 20, Processes: 1, CPU: 100}
	for _, than := range []Limits{all, {}} {
		if got := lower.Above(than); got != "" {
			t.Errorf("%s is above %+v", got, than)
		}
	}
	if got := (Limits{Output: DefaultOutputLimit + 1}).Above(Limits{}); got != "output" {
		t.Errorf("more than the default output: %q is above", got)
	}
}
