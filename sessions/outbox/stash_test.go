package outbox

import (
	"testing"
	"time"

	"berth/agent"
)

// TestStashOver: a draft is put aside until the screen says for a while that it is
// not; where the key for it was pressed and its effect not seen, it may come late.
func TestStashOver(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	plain := &agent.Reading{Composer: &agent.Composer{Text: "a draft"}}
	stashed := &agent.Reading{Composer: &agent.Composer{Empty: true}, Stashed: true}
	for name, c := range map[string]struct {
		late    bool
		person  time.Duration // after the start; 0: no person typed
		shows   *agent.Reading
		during  time.Duration
		want    bool
		stashed time.Duration // when it was seen put aside after all
	}{
		"brought back":                         {shows: plain, during: stashGone, want: true},
		"hidden for a moment":                  {shows: plain, during: stashGone - time.Millisecond},
		"no screen":                            {during: time.Minute},
		"the key works late":                   {late: true, shows: plain, during: 10 * time.Second},
		"the key had no effect":                {late: true, shows: plain, during: stashLate, want: true},
		"a person typed since":                 {late: true, person: time.Second, shows: plain, during: stashGone, want: true},
		"it worked late, and was brought back": {late: true, stashed: 5 * time.Second, shows: plain, during: 5*time.Second + stashGone, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := &stash{}
			if c.late {
				a.late = start
			}
			person := time.Time{}
			if c.person > 0 {
				person = start.Add(c.person)
			}
			got := a.over(c.shows, person, start)
			if c.stashed > 0 {
				got = a.over(stashed, person, start.Add(c.stashed)) || a.over(c.shows, person, start.Add(c.stashed))
			}
			if got {
				t.Fatal("it is over at once")
			}
			if got = a.over(c.shows, person, start.Add(c.during)); got != c.want {
				t.Errorf("over: %v, want %v", got, c.want)
			}
		})
	}
}
