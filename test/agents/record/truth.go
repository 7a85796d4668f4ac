package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"berth/agent"
	"berth/test/agents/modelapi"
)

// Bounds of a truth's window: detection may report the state a little before the recorder saw its
// cause end, and at most half a second after it.
const (
	early = 50 * time.Millisecond
	late  = 500 * time.Millisecond
)

// state writes that a state is true since a time. from is its cause. Detection may report it from
// first on. seen is the time at which the screen showed it: a busy machine draws late.
func (r *recording) state(first, from, seen time.Time, state, prompt, tool, failure, evidence string) {
	at := func(t time.Time) float64 { return float64(max(t.Sub(r.started), 0).Milliseconds()) / 1e3 }
	if seen.Before(from) {
		seen = from
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(r.truth, map[string]any{
		"t": at(from), "window": []float64{at(first.Add(-early)), at(seen.Add(late))}, "state": state,
		"prompt": word(prompt), "tool": word(tool), "error": word(failure), "evidence": evidence,
	})
}

// word is a word, or nil for none.
func word(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// now takes the script's word for a state, and the time from the source that it names.
func (p *program) now(ctx context.Context, words []string) error {
	if len(words) < 2 || len(words) > 4 {
		return errors.New("now STATE SOURCE [PROMPT [TOOL]]")
	}
	words = append(words, "", "")
	state, source, prompt, tool, failure := words[0], words[1], words[2], words[3], ""
	if state == string(agent.InError) {
		prompt, failure = "", prompt
	}
	at, ok := p.last[source], true
	switch source {
	case "key", "seen", "made", "title":
		ok = !at.IsZero()
	case "asked", "answered":
		at, ok = p.turn(source)
	default:
		return fmt.Errorf("%q isn't a source", source)
	}
	if !ok {
		return fmt.Errorf("there was no event of %q", source)
	}
	seen, err := p.shows(ctx, agent.State(state), at)
	if err != nil {
		return err
	}
	first := at
	if ready := p.begun(); state == string(agent.Idle) && source == "seen" && !ready.IsZero() && ready.Before(at) && p.last["key"].Before(ready) {
		first = ready
	}
	p.r.state(first, at, seen, state, prompt, tool, failure, source)
	return nil
}

// begun is when Claude Code first set its title of rest. A message that is typed then arrives,
// although the composer is drawn later: see 33_typed_at_the_title.
func (p *program) begun() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rests
}

// spinner is the row that Claude Code draws while it works.
const spinner = "^[·✢✳✶✻✽*] .*…"

// shows is the first sign of a state since a time. Of work it is the spinner, or a request to the
// model; of rest that there is no spinner. Of a dialog it is what the script has seen.
func (p *program) shows(ctx context.Context, state agent.State, since time.Time) (time.Time, error) {
	works := regexp.MustCompile("(?m)" + spinner)
	deadline := time.Now().Add(patient)
	for state != agent.Prompt {
		asked, ok := p.turn("asked")
		switch on := works.MatchString(p.text()); {
		case state == agent.Working && ok && asked.After(since):
			return asked, nil
		case on == (state == agent.Working):
			return time.Now(), nil
		case time.Now().After(deadline):
			return time.Time{}, fmt.Errorf("it never was %s", state)
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return time.Time{}, ctx.Err()
		}
	}
	return p.last["seen"], nil
}

// turn is the time of the last turn's request, or of its answer's end.
func (p *program) turn(source string) (at time.Time, ok bool) {
	for _, r := range p.api.Requests() {
		if r.Kind != modelapi.KindTurn {
			continue
		}
		if at = r.Time; source == "answered" {
			at = r.Ended
		}
		ok = !at.IsZero()
	}
	return at, ok
}

// made waits for a file, which a command of the agent's makes.
func (p *program) made(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	for {
		if info, err := os.Stat(filepath.Join(p.dir, name)); err == nil {
			p.last["made"] = info.ModTime()
			return nil
		}
		select {
		case <-time.After(watchEvery):
		case <-ctx.Done():
			return errors.New("it was never made")
		}
	}
}
