// Package notify says whom to tell when an agent waits: rules, and a pure
// machine that finds out from events and the clock what is to be told now.
package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
)

// Settles is how long what happened must have lasted before anybody is told:
// most prompts that a script answers are gone by then. The design's figure.
const Settles = 3 * time.Second

// Kinds of what rules speak of.
const (
	KindPrompt = "prompt"
	KindError  = "error"
	KindExited = "exited"
	KindIdle   = "idle"
	KindReport = "report"
)

// Rule says what to tell, about which sessions, and how: by a command, which
// gets it on its standard input, or by a POST to a URL.
type Rule struct {
	Name     string   `json:"name,omitempty"`
	On       []string `json:"on"` // prompt, error, exited, idle>10m, report, report:KIND
	Run      []string `json:"run,omitempty"`
	URL      string   `json:"url,omitempty"`
	Sessions []string `json:"sessions,omitempty"` // patterns of names; empty: all
	Tags     []string `json:"tags,omitempty"`     // patterns, of which one has to match; empty: all
}

// Condition is one word of On.
type Condition struct {
	Kind   string
	After  time.Duration // of idle
	Report string        // of report: its kind, empty for any
}

// ParseCondition reads a word of On. duration reads what stands behind idle>.
func ParseCondition(word string, duration func(string) (time.Duration, error)) (Condition, error) {
	wrong := fmt.Errorf("%q is nothing to notify of: prompt, error, exited, idle>10m, report, report:escalate", word)
	switch word {
	case KindPrompt, KindError, KindExited, KindReport:
		return Condition{Kind: word}, nil
	}
	if kind, ok := strings.CutPrefix(word, "report:"); ok {
		if !slices.Contains([]string{"complete", "escalate", "continue", "status"}, kind) {
			return Condition{}, wrong
		}
		return Condition{Kind: KindReport, Report: kind}, nil
	}
	if after, ok := strings.CutPrefix(word, "idle>"); ok {
		d, err := duration(after)
		if err != nil || d < Settles {
			return Condition{}, fmt.Errorf("%q wants a time of %s or more, such as idle>10m", word, Settles)
		}
		return Condition{Kind: KindIdle, After: d}, nil
	}
	return Condition{}, wrong
}

// plain reads the durations that Go writes. Days are for the configuration to
// read.
func plain(s string) (time.Duration, error) { return time.ParseDuration(s) }

// Check says what is wrong with a rule.
func (r Rule) Check() error {
	if len(r.On) == 0 {
		return errors.New("it says nothing of when: add on: [prompt, error, exited, idle>10m, report:escalate]")
	}
	for _, word := range r.On {
		if _, err := ParseCondition(word, plain); err != nil {
			return err
		}
	}
	if (r.URL == "") == (r.Run == nil) {
		return errors.New("give run: [PROGRAM, ...] or url: URL, one of the two")
	}
	if r.Run != nil && (len(r.Run) == 0 || r.Run[0] == "" || slices.ContainsFunc(r.Run, func(w string) bool { return strings.ContainsRune(w, 0) })) {
		return errors.New("the command is empty, or has a NUL byte")
	}
	if r.URL != "" {
		u, err := url.Parse(r.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return errors.New("the url has to begin with https:// or http:// and name a host") // it may hold a secret: it is not shown
		}
	}
	for _, p := range slices.Concat(r.Sessions, r.Tags) {
		if _, err := path.Match(p, ""); err != nil {
			return fmt.Errorf("%q is no pattern", p)
		}
	}
	return nil
}

// ID is the rule's name, or one that is made of what it says.
func (r Rule) ID() string {
	if r.Name != "" {
		return r.Name
	}
	data, err := json.Marshal(r)
	if err != nil {
		return "rule" // strings always encode
	}
	sum := sha256.Sum256(data)
	return "rule-" + hex.EncodeToString(sum[:4])
}

// For are the rules about a session: those of all that are, and its own. What is
// told is known by the rule's id, so that its own has another where that is taken.
func For(name string, tags []string, all, own []Rule) []Rule {
	var list []Rule
	taken := map[string]bool{}
	add := func(r Rule) {
		taken[r.ID()] = true
		list = append(list, r)
	}
	for _, r := range all {
		if r.Of(name, tags) {
			add(r)
		}
	}
	for _, r := range own {
		switch {
		case !taken[r.ID()]:
			add(r)
		case r.Name != "": // without a name it says the same
			r.Name = name + "/" + r.Name
			add(r)
		}
	}
	return list
}

// Of says whether the rule is about a session of that name and those tags.
func (r Rule) Of(name string, tags []string) bool {
	any := func(patterns []string, words ...string) bool {
		return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool {
			return slices.ContainsFunc(words, func(w string) bool { ok, _ := path.Match(p, w); return ok })
		})
	}
	return any(r.Sessions, name) && any(r.Tags, tags...)
}
