//go:build agents

package claude

import (
	"strings"
	"testing"
)

// TestInterruptedMessage: a message that an interrupt puts back into the composer is Berth's
// own, and not a person's draft. The next server knows that too.
func TestInterruptedMessage(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	for i, restart := range []bool{false, true} {
		if n := l.Nudge("MOCK: hang"); n.Status != 0 {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		l.Is("working")
		if _, err := l.Host.Call(l.Ctx, nil, "interrupt", "all"); err != nil {
			t.Fatal(err)
		}
		l.See(prompt + "MOCK: hang$")
		if restart {
			check(t, l.Host.Kill())
			check(t, l.Host.Start())
			l.Is("idle")
		}
		l.Confirmed("instead "+string(rune('a'+i)), "instead "+string(rune('a'+i)))
	}

	if n := l.Nudge("MOCK: error 403", "--wait"); n.Status != 21 {
		t.Fatalf("%+v %+v", n, n.Error)
	}
	if out, err := l.Host.Call(l.Ctx, nil, "interrupt", l.Name); err != nil || !strings.Contains(string(out), `"delivered":false`) {
		t.Errorf("in an error: %v %s", err, out)
	}
}
