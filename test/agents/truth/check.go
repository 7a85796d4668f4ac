package truth

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/detect/replay"
)

// Sum adds up the verdicts on several recordings.
type Sum struct {
	Verdict
	Recordings int
	Time       time.Duration
}

// Add adds the verdict on one recording.
func (s *Sum) Add(v Verdict, lasts time.Duration) {
	s.Recordings++
	s.Time += lasts
	s.Wrong += v.Wrong
	s.Longest = max(s.Longest, v.Longest)
	s.Prompts, s.Missed, s.Shown, s.False, s.Twice = s.Prompts+v.Prompts, s.Missed+v.Missed, s.Shown+v.Shown, s.False+v.False, s.Twice+v.Twice
}

// Share is the share of the time with a wrong state.
func (s *Sum) Share() float64 { return s.Wrong.Seconds() / s.Time.Seconds() }

func (s *Sum) String() string {
	return fmt.Sprintf("%d recordings, %v: wrong state for %v (%.3f %%), longest %v; %d prompts: %d missed, %d shown, %d of them wrong, %d a second time",
		s.Recordings, s.Time.Round(time.Second), s.Wrong.Round(time.Millisecond), 100*s.Share(), s.Longest.Round(time.Millisecond), s.Prompts, s.Missed, s.Shown, s.False, s.Twice)
}

// Bar is what detection must reach in every recording.
type Bar struct {
	Order     func([]Stretch) string          // the states in their true order
	Tolerance func(name string) time.Duration // for how long a state may be wrong
	Wrong     float64                         // share of all recordings' time
	Twice     map[string]int                  // how many prompts of a recording are shown a second time, under another id
}

// Check replays every recording. The states must come in the right order, and every prompt once.
func (r *Reference) Check(t *testing.T, d agent.Driver, bar Bar) {
	t.Helper()
	var sum Sum
	for _, name := range r.Names(t) {
		t.Run(name, func(t *testing.T) {
			rec := r.Recording(t, name)
			steps := replay.Run(rec, d, replay.Options{})
			all := r.Truth(t, name)
			v := r.Judge(steps, all, rec.End.Seconds())
			sum.Add(v, rec.End)
			t.Logf("wrong for %v, longest %v, %d transitions, %d prompts, %d missed, %d shown, %d of them wrong, %d a second time",
				v.Wrong.Round(time.Millisecond), v.Longest.Round(time.Millisecond), len(steps), v.Prompts, v.Missed, v.Shown, v.False, v.Twice)
			if got, want := Sequence(steps), bar.orders(all); !slices.Contains(want, got) {
				t.Errorf("in this order:\n%s\nwant\n%s", got, strings.Join(want, "\nor\n"))
			}
			if v.Longest > bar.Tolerance(name) || v.Missed > 0 || v.False > 0 || v.Twice > bar.Twice[name] {
				t.Errorf("%d prompts a second time; wrong:\n%s", v.Twice, strings.Join(v.At, "\n"))
			}
		})
	}
	t.Log(sum.String())
	if sum.Share() > bar.Wrong {
		t.Errorf("a wrong state for %.3f %% of the time", 100*sum.Share())
	}
}

// orders are the right ones. A start that goes on after a dialog may be over before it is believed, so it
// may be left out.
func (bar Bar) orders(all []Stretch) []string {
	out := []string{bar.Order(all)}
	for i := 1; i+1 < len(all); i++ {
		if all[i].State == string(agent.Starting) && all[i].Window[1] >= all[i+1].Window[0] {
			out = append(out, bar.orders(slices.Delete(slices.Clone(all), i, i+1))...)
		}
	}
	return out
}
