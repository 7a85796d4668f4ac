// Package audit keeps who was let in and who did what: an append-only log of
// JSON lines, each with the hash of the one before, its head signed now and
// then. Whoever kept a head can tell later whether a line up to it was changed
// or taken out.
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

// Kind is what a line tells of.
type Kind string

// The kinds.
const (
	KindOpened  Kind = "opened"  // the log, by a server that starts
	KindLogin   Kind = "login"   // somebody was let in
	KindRefused Kind = "refused" // somebody was not let in, or may not do what they asked
	KindVerb    Kind = "verb"    // a command that changes something begins
	KindDone    Kind = "done"    // it ended
	KindEvent   Kind = "event"   // what somebody did to a session, as watchers are told
	KindKeys    Kind = "keys"    // who may log in has changed
	KindHead    Kind = "head"    // the lines so far are signed
	KindTorn    Kind = "torn"    // the line before was cut off by a crash
	KindRetired Kind = "retired" // the oldest lines were removed
	KindAmiss   Kind = "amiss"   // the file is not as it was left
)

var kinds = []Kind{
	KindOpened, KindLogin, KindRefused, KindVerb, KindDone, KindEvent, KindKeys, KindHead, KindTorn, KindRetired, KindAmiss,
}

// Entry is one line. It never holds what was typed, the text of a message or a
// secret. N, Time and Prev are the log's to fill in.
type Entry struct {
	N           uint64          `json:"n"` // from 1, without a gap
	Time        api.Time        `json:"time"`
	Kind        Kind            `json:"kind"`
	Identity    string          `json:"identity,omitempty"`
	Caller      string          `json:"caller,omitempty"`    // key, local, agent
	CallerID    string          `json:"caller_id,omitempty"` // id of the agent's session: another session may have its name later
	Fingerprint string          `json:"fingerprint,omitempty"`
	Line        string          `json:"line,omitempty"` // of the key file that let it in
	Source      string          `json:"source,omitempty"`
	User        string          `json:"user,omitempty"` // SSH user name; it grants nothing
	PID         int             `json:"pid,omitempty"`
	Conn        uint64          `json:"conn,omitempty"`
	Client      string          `json:"client,omitempty"`
	Session     string          `json:"session,omitempty"` // name at the time
	ID          string          `json:"id,omitempty"`      // of the session
	Verb        string          `json:"verb,omitempty"`
	Of          uint64          `json:"of,omitempty"`     // done: the line by which it began; head: the last line signed
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
	// maxText bounds what a client can put into one line: names and reasons
	// come from outside.
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
		return d, fmt.Errorf("%q is no SHA-256 hash in hexadecimal digits", s)
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
	e.Event = terminal.EscapeJSON(e.Event) // an agent's words may stand in it
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

// bounded is text from outside made fit for a line: of bounded length, with
// nothing in it that would move a reader's terminal.
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
	// Again, since what the cut ends with may be nothing without what came next:
	// the line has to be read back as it was written.
	return terminal.Printable(s[:cut]) + more
}

// parse reads a line without its line feed.
func parse(line []byte) (Entry, error) {
	var e Entry
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, fmt.Errorf("it is no line of the audit log: %w", err)
	}
	if d.More() || e.N == 0 || !slices.Contains(kinds, e.Kind) {
		return Entry{}, errors.New("it is no line of the audit log")
	}
	return e, nil
}
