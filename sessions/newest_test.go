package sessions

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"berth/agent"
	"berth/api"
)

// turning is an asker with something to happen while its screen is read.
type turning struct {
	asker
	meanwhile *atomic.Pointer[func()]
}

func (d turning) Screen(v *agent.View) *agent.Reading {
	if fn := d.meanwhile.Swap(nil); fn != nil {
		(*fn)()
	}
	return d.asker.Screen(v)
}

// TestNewestPicture: any process of the session can make the checks before a key slow, and have the dialog closed meanwhile. The key
// goes to none that is drawn then.
func TestNewestPicture(t *testing.T) {
	const next = "\033[2J\033[Hasks 2: a"
	due := filepath.Join(t.TempDir(), "due")
	driver := turning{meanwhile: new(atomic.Pointer[func()])}
	_, s := newAskerOf(t, driver, "asks 1: a'; while ! [ -e "+due+" ]; do sleep 0.01; done; printf '"+next, "asks 3: a")
	draw := func() { // on the loop
		before, _ := s.core.link().Written()
		if err := os.WriteFile(due, nil, 0o600); err != nil {
			t.Error(err)
		}
		drawn := func() bool { now, _ := s.core.link().Written(); return now >= before+int64(len(next)) }
		for deadline := time.Now().Add(patience); !drawn(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Error("the next dialog isn't drawn")
				return
			}
		}
	}
	driver.meanwhile.Store(&draw)
	r, err := s.Respond(t.Context(), claim("c1"), s.Status().Request.ID, agent.Answer{Kind: agent.Accept})
	if r == nil || r.Delivered || code(err) != string(api.CodeStalePrompt) {
		t.Errorf("%+v, %v", r, err)
	}
	within(t, s, "the next dialog", func(st *Status) bool { return st.Request != nil && *st.Request.Title == "2" })
}
