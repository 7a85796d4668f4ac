package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Line is one line of a key file, for display.
type Line struct {
	File        string
	Number      int // from 1
	Fingerprint string
	Name        string
	Role        Role
	ByDefault   bool // the line has no role=
	Sessions    []string
	Verbs       []string
	From        string // as in from=, or equivalent
	Expires     time.Time
	Command     bool // a forced one
	NoPTY       bool
	Authority   bool
	Principals  []string // of an authority
	Revoked     bool
}

// Place is FILE:LINE.
func (l Line) Place() string { return l.File + ":" + strconv.Itoa(l.Number) }

// Lines lists the valid lines in search order.
func (s *Set) Lines() []Line {
	type placed struct {
		order int
		Line
	}
	var found []placed
	for _, entries := range s.byKey {
		for _, e := range entries {
			found = append(found, placed{e.order, e.shown(s.revoked.key(e.fingerprint))})
		}
	}
	slices.SortFunc(found, func(a, b placed) int { return a.order - b.order })
	var out []Line
	for _, p := range found {
		out = append(out, p.Line)
	}
	return out
}

func (e entry) shown(revoked bool) Line {
	at := strings.LastIndexByte(e.line, ':')
	number, _ := strconv.Atoi(e.line[at+1:]) // made by add
	return Line{
		File: e.line[:at], Number: number, Fingerprint: e.fingerprint, Name: e.name, Role: e.role, ByDefault: e.defaulted,
		Sessions: e.sessions, Verbs: e.verbs, From: e.from.String(), Expires: e.expires, Command: e.command != "", NoPTY: e.noPTY,
		Authority: e.authority, Principals: e.principals, Revoked: revoked,
	}
}

// Named finds the fingerprints of the keys that a word means: a fingerprint, or a name of one or more
// keys.
func (s *Set) Named(word string) []string {
	var out []string
	for _, l := range s.Lines() {
		if (l.Fingerprint == word || l.Name == word) && !slices.Contains(out, l.Fingerprint) {
			out = append(out, l.Fingerprint)
		}
	}
	return out
}

// BeginsKey says whether a word starts a public key's line, as a key's type does.
func BeginsKey(word string) bool { return isKeyType(word) }

// ParsePublic reads a public key or a certificate in the form of a .pub file: type, key, comment. It
// refuses options.
func ParsePublic(text string) (key ssh.PublicKey, comment string, err error) {
	text = strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(text, "-----BEGIN"):
		return nil, "", fmt.Errorf("this is a private key: give its .pub file, and consider the private key compromised")
	case strings.ContainsAny(text, "\n\r"):
		return nil, "", fmt.Errorf("there is more than one line: give one public key")
	case !isKeyType(firstWord(text)):
		return nil, "", fmt.Errorf("expected a line of a .pub file: TYPE KEY COMMENT")
	}
	if strings.Contains(firstWord(text), "-cert-") {
		key, comment, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
		if err != nil {
			return nil, "", fmt.Errorf("the certificate cannot be read")
		}
		return key, comment, nil
	}
	key, e, _, f := parseLine(text)
	if f != nil {
		return nil, "", fmt.Errorf("%s: %s", f.text, f.remedy)
	}
	if e.name == shortFingerprint(key) {
		e.name = ""
	}
	return key, e.name, nil
}
