// Package audit keeps the record of who logged in and who did what: an append-only log of JSON lines,
// each with the hash of the line before. From time to time the server's host key signs the head. With a
// head that was kept elsewhere, Verify finds any line up to it that was changed or removed.
//
// Log is the server's one writer; its methods may be called from any goroutine. commands appends a line
// before and after each verb that changes something, sshd (by way of cmd/berth) one for each login, and
// audit/follow the events about sessions. A verb must not run while its line can't be written.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"berth/api"
	"berth/terminal"
)

// Kind is the type of a line.
type Kind string

// The kinds.
const (
	KindOpened  Kind = "opened"  // the log, by a server that starts
	KindLogin   Kind = "login"   // a client logged in
	KindRefused Kind = "refused" // a login or a command was refused
	KindVerb    Kind = "verb"    // a command that changes something starts
	KindDone    Kind = "done"    // it ended
	KindEvent   Kind = "event"   // an event about what a caller did to a session
	KindKeys    Kind = "keys"    // who may log in has changed
	KindHead    Kind = "head"    // the lines so far are signed
	KindTorn    Kind = "torn"    // the line before was cut off by a crash
	KindRetired Kind = "retired" // the oldest lines were removed
	KindAmiss   Kind = "amiss"   // the file was changed by another program
)

var kinds = []Kind{
	KindOpened, KindLogin, KindRefused, KindVerb, KindDone, KindEvent, KindKeys, KindHead, KindTorn, KindRetired, KindAmiss,
}

// Entry is one line. It never contains keystrokes, the text of a message or a secret. The log fills in
// N, Time and Prev.
type Entry struct {
	N           uint64          `json:"n"` // from 1, without a gap
	Time        api.Time        `json:"time"`
	Kind        Kind            `json:"kind"`
	Identity    string          `json:"identity,omitempty"`
	Caller      string          `json:"caller,omitempty"`    // key, local, agent
	CallerID    string          `json:"caller_id,omitempty"` // id of the agent's session: another session may have its name later
	Fingerprint string          `json:"fingerprint,omitempty"`
	Line        string          `json:"line,omitempty"` // of the key file that admitted it
	Source      string          `json:"source,omitempty"`
	User        string          `json:"user,omitempty"` // SSH user name; it grants nothing
	PID         int             `json:"pid,omitempty"`
	Conn        uint64          `json:"conn,omitempty"`
	Client      string          `json:"client,omitempty"`
	Session     string          `json:"session,omitempty"` // name at the time
	ID          string          `json:"id,omitempty"`      // of the session
	Verb        string          `json:"verb,omitempty"`
	Of          uint64          `json:"of,omitempty"`     // done: the line of its start; head: the last line signed
	Status      *int            `json:"status,omitempty"` // exit status
	Code        string          `json:"code,omitempty"`
	Text        string          `json:"text,omitempty"`    // why
	Count       uint64          `json:"count,omitempty"`   // how many lines this one is for, of a caller with too many
	Offered     []string        `json:"offered,omitempty"` // fingerprints of keys, proven or not
	Event       json.RawMessage `json:"event,omitempty"`
	Cursor      string          `json:"cursor,omitempty"` // of the newest event that the log has looked at
	Hash        string          `json:"hash,omitempty"`   // head: of the line Of
	Key         string          `json:"key,omitempty"`    // head: fingerprint of the host key that signed
	Signature   string          `json:"signature,omitempty"`
	Prev        string          `json:"prev"` // hash of the line before

	Admin   bool      `json:"-"` // an admin's doing
	counted time.Time // since when Count
}

const (
	// maxText bounds a client's part of one line: names and reasons come from outside.
	maxText = 1024
	// maxLine is the most bytes of a line: an event with a prompt is a few KiB.
	maxLine = 64 << 10
)

// digest is the hash of a line without its line feed.
type digest [sha256.Size]byte

func (d digest) String() string { return hex.EncodeToString(d[:]) }

func digestOf(line []byte) digest { return sha256.Sum256(line) }

func parseDigest(s string) (d digest, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(d) {
		return d, fmt.Errorf("%q isn't a SHA-256 hash in hexadecimal digits", s)
	}
	return digest(b), nil
}

var errTooLong = errors.New("the line would be too long")

// encode is the entry as a line, with its line feed.
func (e Entry) encode() ([]byte, error) {
	for _, s := range []*string{&e.Identity, &e.Fingerprint, &e.Line, &e.Source, &e.User, &e.Session, &e.Verb, &e.Text} {
		*s = bounded(*s)
	}
	if len(e.Event) > maxLine/2 {
		e.Event = nil // its cursor leads to it
	}
	e.Event = terminal.EscapeJSON(e.Event) // it may contain an agent's text
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, fmt.Errorf("encode a line of the audit log: %w", err)
	}
	if b.Len() > maxLine {
		return nil, errTooLong
	}
	return b.Bytes(), nil
}

// bounded shortens text from outside and replaces anything that could control a reader's terminal.
func bounded(s string) string {
	const more = "…"
	s = terminal.Printable(s)
	if len(s) <= maxText {
		return s
	}
	cut := maxText - len(more)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	// Once more, because the cut may leave an incomplete sequence at the end: the line must be read back
	// unchanged.
	return terminal.Printable(s[:cut]) + more
}

// parse reads a line without its line feed.
func parse(line []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, fmt.Errorf("it isn't a line of the audit log: %w", err)
	}
	if d.More() || e.N == 0 || !slices.Contains(kinds, e.Kind) {
		return Entry{}, errors.New("it isn't a line of the audit log")
	}
	return e, nil
}
