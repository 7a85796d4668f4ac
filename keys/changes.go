package keys

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Change is a key whose identity or rights differ from before, or something that was revoked or
// unrevoked. The fingerprint is empty for anything but a key.
type Change struct {
	Fingerprint string
	What        string   // added, removed, changed; revoked, unrevoked
	Before, Now []string // its lines' rights, in words; what is revoked
}

// Since lists the differences from an earlier set, by fingerprint.
func (s *Set) Since(before *Set) []Change {
	was, is := before.words(), s.words()
	var out []Change
	for fingerprint, now := range is {
		then, known := was[fingerprint]
		switch {
		case !known:
			out = append(out, Change{Fingerprint: fingerprint, What: "added", Now: now})
		case !slices.Equal(then, now):
			out = append(out, Change{Fingerprint: fingerprint, What: "changed", Before: then, Now: now})
		}
	}
	for fingerprint, then := range was {
		if _, still := is[fingerprint]; !still {
			out = append(out, Change{Fingerprint: fingerprint, What: "removed", Before: then})
		}
	}
	then, now := before.revoked.words(), s.revoked.words()
	for word, fingerprint := range now {
		if _, known := then[word]; !known {
			out = append(out, Change{Fingerprint: fingerprint, What: "revoked", Now: []string{word}})
		}
	}
	for word, fingerprint := range then {
		if _, still := now[word]; !still {
			out = append(out, Change{Fingerprint: fingerprint, What: "unrevoked", Before: []string{word}})
		}
	}
	slices.SortFunc(out, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Fingerprint, b.Fingerprint), strings.Compare(a.What, b.What), slices.Compare(a.Now, b.Now), slices.Compare(a.Before, b.Before))
	})
	return out
}

// words lists what is revoked, each with the fingerprint if it is a key.
func (r *revocations) words() map[string]string {
	out := map[string]string{}
	if r == nil {
		return out
	}
	for fingerprint := range r.keys {
		out["key "+fingerprint] = fingerprint
	}
	for id := range r.ids {
		out["id "+quote(id)] = ""
	}
	for _, s := range r.serials {
		out[strings.TrimSpace(fmt.Sprintf("serial %d-%d %s", s.first, s.last, s.authority))] = s.authority
	}
	if r.unsound {
		out["every certificate, because a line of the revocations can't be read"] = ""
	}
	return out
}

// words are the rights of each key, without the places of its lines: moving a line changes nothing.
func (s *Set) words() map[string][]string {
	out := map[string][]string{}
	for _, wire := range slices.Sorted(maps.Keys(s.byKey)) {
		for _, e := range s.byKey[wire] {
			out[e.fingerprint] = append(out[e.fingerprint], e.words())
		}
	}
	if s.guests == nil {
		return out
	}
	for _, serial := range slices.Sorted(maps.Keys(s.guests.guests)) {
		if g := s.guests.guests[serial]; g.Revoked.IsZero() {
			out[g.Fingerprint] = append(out[g.Fingerprint], s.guests.bySerial[serial].words())
		}
	}
	return out
}

// words is what the line grants. A forced command may contain anything, so only its hash is shown.
func (e entry) words() string {
	words := []string{e.name, e.role.String()}
	list := func(name string, values []string) {
		if len(values) > 0 {
			words = append(words, name+"="+strings.Join(values, ","))
		}
	}
	list("sessions", e.sessions)
	list("verbs", e.verbs)
	list("principals", e.principals)
	if len(e.from) > 0 {
		words = append(words, "from="+e.from.String())
	}
	if !e.expires.IsZero() {
		words = append(words, "until "+e.expires.UTC().Format(time.RFC3339))
	}
	if e.command != "" {
		sum := sha256.Sum256([]byte(e.command))
		words = append(words, "command sha256:"+hex.EncodeToString(sum[:8]))
	}
	if e.noPTY {
		words = append(words, "no-pty")
	}
	if e.noForward {
		words = append(words, "no-port-forwarding")
	}
	if e.authority {
		words = append(words, "cert-authority")
	}
	return strings.Join(words, " ")
}

// String is the list in the form of a from= option.
func (list sources) String() string {
	var out []string
	for _, s := range list {
		text := s.pattern
		if s.prefix.IsValid() {
			text = s.prefix.String()
		}
		if s.negated {
			text = "!" + text
		}
		out = append(out, text)
	}
	return strings.Join(out, ",")
}
