package truth

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/detect/replay"
)

// moment is how long a prompt is contested at its end, at most: its call is over, and its dialog still drawn.
const moment = 600 * time.Millisecond

// Honest checks that none of the prompts that counts is true for is contested in a recording, and returns how
// many there are. In a recording all that an agent and its hooks say is true. Where it doesn't have what was typed, each prompt that goes,
// and each page of one, was answered by a key.
func Honest(t *testing.T, rec *replay.Recording, d agent.Driver, without map[agent.Source]bool, counts func(detect.Pending) bool) int {
	t.Helper()
	asked, since, last, page := map[string]bool{}, map[string]time.Duration{}, 0, [2]string{}
	replay.Run(rec, d, replay.Options{
		Without: without,
		Each: func(at time.Duration, f *detect.Fold) {
			now := f.Status().Requests
			turned := page
			if len(now) > 0 {
				turned = [2]string{now[0].ID, fmt.Sprint(now[0].QuestionCurrent)}
			}
			if (len(now) < last || last > 0 && turned != page) && !rec.Typed() {
				f.Typed(rec.Start.Add(at))
			}
			last, page = len(now), turned
			for _, p := range f.Status().Requests {
				if pending, ok := f.Pending(p.ID); !ok || !counts(pending) {
					continue
				}
				asked[p.ID] = true
				if _, ok := since[p.ID]; !ok || !p.Contested {
					since[p.ID] = at
				}
				if at-since[p.ID] > moment {
					t.Errorf("without %v: contested for %v: %s %s", without, at-since[p.ID], p.ID, p.About())
				}
			}
		},
	})
	return len(asked)
}

// AllHonest is Honest for all recordings, without hooks and with them. counts decides by that too. Each way there
// are at least so many prompts.
func (r *Reference) AllHonest(t *testing.T, d agent.Driver, least int, counts func(p detect.Pending, hooked bool) bool) {
	t.Helper()
	for _, hooked := range []bool{false, true} {
		asked := 0
		for _, name := range r.Names(t) {
			asked += Honest(t, r.Recording(t, name), d, map[agent.Source]bool{agent.SourceHook: !hooked}, func(p detect.Pending) bool { return counts(p, hooked) })
		}
		t.Logf("hooks %v: %d prompts", hooked, asked)
		if asked < least {
			t.Errorf("hooks %v: only %d prompts", hooked, asked)
		}
	}
}

// hookLate is how long an answer waits for the hook of a dialog that was only seen.
const hookLate = time.Second

// Unreported checks that no dialog of work takes keys in a recording where hooks report turns, but neither calls nor
// what the agent asks. The driver's Hook leaves those reports out. It returns how many prompts there are.
func Unreported(t *testing.T, rec *replay.Recording, d agent.Driver) int {
	t.Helper()
	asked, wrong := map[string]bool{}, map[string]bool{}
	replay.Run(rec, d, replay.Options{Each: func(at time.Duration, f *detect.Fold) {
		for _, r := range f.Status().Requests {
			p, ok := f.Pending(r.ID)
			if !ok || p.Dialog == nil || r.Subtype != nil || r.Type == agent.PromptNotice || r.Type == agent.PromptSetup {
				continue
			}
			asked[r.ID] = true
			takes := r.Channel != agent.ChannelNone && !r.Contested && p.Whole && !p.Over && f.Asks(p.Dialog, r.ID)
			if takes && rec.Start.Add(at).Sub(r.Since.Time) > hookLate && !wrong[r.ID] {
				wrong[r.ID] = true
				t.Errorf("no hook reported %s %s, and at %v its dialog takes keys", r.ID, r.About(), at)
			}
		}
	}})
	return len(asked)
}

// ReportsNothingAsked is what a driver's Hook returns without the reports of calls and of what the agent asks.
func ReportsNothingAsked(facts []agent.Fact, err error) ([]agent.Fact, error) {
	return slices.DeleteFunc(facts, func(f agent.Fact) bool { return f.Kind == agent.Asked || f.Kind == agent.ToolStarted }), err
}
