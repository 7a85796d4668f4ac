//go:build agents

package gemini

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"berth/test/agents/host"
)

// response is what respond answers.
type response struct {
	Delivered, Confirmed                bool
	Outcome, Channel, Type, Prompt, Via string
	Error                               *failed
}

// try responds in these words, or in JSON, and gives its status.
func (l *lab) try(way string, flags ...string) (r response, status int) {
	l.T.Helper()
	words := append(append([]string{"respond"}, flags...), l.Name)
	if strings.HasPrefix(way, "{") {
		return r, l.verb(&r, []byte(way), append(words, "-")...)
	}
	first, rest, _ := strings.Cut(way, " ")
	if words = append(words, first); rest != "" {
		words = append(words, rest)
	}
	return r, l.verb(&r, nil, words...)
}

// respond demands that the answer is given and taken.
func (l *lab) respond(outcome, way string, flags ...string) {
	l.T.Helper()
	if r, status := l.try(way, flags...); status != 0 || !r.Confirmed || r.Outcome != outcome || r.Channel != "keys" {
		l.T.Fatalf("%s: status %d, %+v, %+v", way, status, r, r.Error)
	}
}

// refused demands that the answer is refused so.
func (l *lab) refused(code, way string, flags ...string) {
	l.T.Helper()
	if r, status := l.try(way, flags...); status == 0 || r.Error == nil || r.Error.Code != code {
		l.T.Fatalf("%s: status %d, %+v, %+v, not %s", way, status, r, r.Error, code)
	}
}

// states are those that the session went through, in order.
func (l *lab) states() string {
	l.T.Helper()
	var failure *host.Failure
	out, err := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", "e1", "--type", "state_change", "--timeout", "500ms")
	if err == nil || !errors.As(err, &failure) { // it is ended by its timeout
		l.T.Fatalf("watch ended by itself: %v", err)
	}
	all := []string{"starting"}
	for line := range strings.Lines(string(out)) {
		var e struct{ Next string }
		check(l.T, json.Unmarshal([]byte(line), &e))
		if e.Next != "" && e.Next != all[len(all)-1] {
			all = append(all, e.Next)
		}
	}
	return strings.Join(all, " ")
}

// shown is what prompt says.
type shown struct {
	ID, Type, Subtype, Channel, Title, Tool, Input, Text string
	Ready                                                bool
	OnScreen                                             bool `json:"on_screen"`
	Options                                              []string
	Questions                                            []struct{ Header, Text string }
	Current                                              int `json:"question_current"`
}

// promptUntil waits for a prompt that is as wanted.
func (l *lab) promptUntil(what string, is func(shown) bool) shown {
	l.T.Helper()
	deadline := time.Now().Add(patient)
	for {
		var p shown
		out, err := l.Host.Call(l.Ctx, nil, "prompt", l.Name)
		var failure *host.Failure
		if err != nil && !errors.As(err, &failure) {
			l.T.Fatal(err)
		}
		if err == nil {
			check(l.T, json.Unmarshal(out, &p))
			if is(p) {
				return p
			}
		}
		if time.Now().After(deadline) {
			l.T.Fatalf("no prompt is %s: it is %+v, %v", what, p, err)
		}
	}
}

// asks gives a message and waits for the prompt that it leads to.
func (l *lab) asks(message, kind string) shown {
	l.T.Helper()
	// A machine with many times the work it can do says so late: that is a verdict
	// too, and the prompt is what this is about.
	if n := l.nudge(message); n.status != 0 && (n.Error == nil || n.Error.Code != "UNCONFIRMED") {
		l.T.Fatalf("%s: %+v %+v", message, n, n.Error)
	}
	return l.promptUntil("a "+kind+" on the screen", func(p shown) bool { return p.Type == kind && p.Ready && p.OnScreen })
}
