package groom

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

var t0 = time.Unix(1_000_000, 0)

func after(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

func TestMachine(t *testing.T) {
	theme := Seen{Prompt: "1", Wanted: true}
	type at struct {
		s     float64
		seen  Seen
		want  Action
		given bool // the answer was given then
	}
	for name, steps := range map[string][]at{
		"nothing asked":      {{0, Seen{}, Nothing, false}},
		"not for us":         {{0, Seen{Prompt: "1"}, Nothing, false}, {9, Seen{Prompt: "1"}, Nothing, false}},
		"once, and it works": {{0, theme, Answer, true}, {0.1, Seen{Prompt: "1", Wanted: true, Busy: true}, Nothing, false}, {0.3, Seen{Prompt: "2", Wanted: true}, Answer, true}, {0.5, Seen{}, Nothing, false}},
		"never twice at once": {
			{0, theme, Answer, true}, {0.5, theme, Nothing, false}, {3.9, theme, Nothing, false},
		},
		"twice, and then a person": {
			{0, theme, Answer, true}, {3.9, theme, Nothing, false}, {4, theme, Answer, true}, {7.9, theme, Nothing, false}, {8, theme, Leave, false}, {9, theme, Nothing, false}, {99, theme, Nothing, false},
		},
		"a client types": {
			{0, theme, Answer, false}, {0.5, theme, Nothing, false}, {1, theme, Answer, false}, {2, theme, Answer, false}, {60, theme, Answer, true}, {61, theme, Nothing, false},
		},
		"a client answers": {{0, Seen{Prompt: "1", Wanted: true, Busy: true}, Nothing, false}, {5, theme, Answer, true}},
		"another one":      {{0, theme, Answer, true}, {1, Seen{Prompt: "2", Wanted: true}, Answer, true}, {2, theme, Nothing, false}},
	} {
		t.Run(name, func(t *testing.T) {
			m := &Machine{}
			for _, step := range steps {
				got, wake := m.Step(step.seen, after(step.s))
				if got != step.want {
					t.Fatalf("after %vs: %v, want %v", step.s, got, step.want)
				}
				if !wake.IsZero() && !wake.After(after(step.s)) {
					t.Fatalf("after %vs: it wants to be woken in the past", step.s)
				}
				if step.given {
					m.Given(step.seen.Prompt, after(step.s))
				}
				// A server that ends here loses nothing.
				data, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				m = &Machine{}
				if err := json.Unmarshal(data, m); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestForgets(t *testing.T) {
	var m Machine
	for i := range 10 * kept {
		m.Given(fmt.Sprint(i), t0)
	}
	if len(m.Tries) != kept || m.Count(fmt.Sprint(10*kept-1)) != 1 {
		t.Errorf("%d are kept", len(m.Tries))
	}
}
