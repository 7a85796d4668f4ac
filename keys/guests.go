package keys

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"berth/api"
)

const (
	// guestLongest is the longest time of a guest. For a longer stay, add a line to a key file.
	guestLongest = 30 * 24 * time.Hour
	// guestKept is how long a guest stays listed after it expired.
	guestKept = 30 * 24 * time.Hour
	// guestsMost bounds how many are listed at once.
	guestsMost = 10_000
	// guestBackdate allows for clients whose clocks are slow. Only the server's own clock decides, so it
	// grants nothing.
	guestBackdate = 5 * time.Minute
)

// Guest is a person with a short-lived certificate by the server's own authority. The rights are kept
// here and not in the certificate, so that they can be narrowed and revoked.
type Guest struct {
	Serial      uint64   `json:"serial"`
	Name        string   `json:"name"`
	Fingerprint string   `json:"fingerprint"` // of the certified key
	Role        string   `json:"role"`
	Sessions    []string `json:"sessions"`
	Verbs       []string `json:"verbs"`
	From        string   `json:"from"`
	Since       api.Time `json:"since"`
	Expires     api.Time `json:"expires"`
	Revoked     api.Time `json:"revoked"` // zero: it isn't revoked
	By          string   `json:"by"`      // who issued it
}

// guestBook is the server's file of guests.
type guestBook struct {
	Next   uint64  `json:"next"` // serial
	Guests []Guest `json:"guests"`
}

var (
	// ErrGuest says that there is no such guest, or that it can't have what was asked for.
	ErrGuest = errors.New("it can't be a guest")
	// ErrNoGuest says that no guest has that serial or name.
	ErrNoGuest = errors.New("there is no such guest")
)

// guestRules are the guests of one reading of the files.
type guestRules struct {
	authority string // wire form of the server's own authority; empty if there is none yet
	bySerial  map[uint64]entry
	guests    map[uint64]Guest
}

// entry checks the guest's rights as those of a key line are checked.
func (g Guest) entry(place string) (entry, error) {
	role, err := ParseRole(g.Role)
	if err != nil || role == Admin {
		return entry{}, fmt.Errorf("%w: a guest is viewer, responder or operator", ErrGuest)
	}
	e := entry{name: "guest:" + g.Name, fingerprint: g.Fingerprint, line: place, grants: grants{role: role, sessions: g.Sessions, verbs: g.Verbs, expires: g.Expires.Time}}
	if cleanName(g.Name) != g.Name || g.Name == "" {
		return entry{}, fmt.Errorf("%w: its name may have letters, digits, blanks and . _ - @, at most %d", ErrGuest, nameLimit)
	}
	for _, p := range g.Sessions {
		if f := checkPattern(p); f != nil {
			return entry{}, fmt.Errorf("%w: %s; %s", ErrGuest, f.text, f.remedy)
		}
	}
	for _, v := range g.Verbs {
		if f := checkVerb(v); f != nil {
			return entry{}, fmt.Errorf("%w: %s; %s", ErrGuest, f.text, f.remedy)
		}
	}
	if g.From != "" {
		from, f := parseSources(g.From)
		if f != nil {
			return entry{}, fmt.Errorf("%w: %s; %s", ErrGuest, f.text, f.remedy)
		}
		e.from = from
	}
	return e, nil
}

// lookup finds the guest of a certificate. The caller has checked that the server's own authority
// signed it, and its time and form.
func (r *guestRules) lookup(cert *ssh.Certificate, remote net.Addr, now time.Time) (Identity, error) {
	g, known := r.guests[cert.Serial]
	e := r.bySerial[cert.Serial]
	switch {
	case !known || g.Fingerprint != ssh.FingerprintSHA256(cert.Key):
		return Identity{}, fmt.Errorf("guest certificate, serial %d: %w", cert.Serial, ErrNoGuest)
	case !g.Revoked.IsZero():
		return Identity{}, fmt.Errorf("guest:%s: %w", g.Name, ErrRevoked)
	case e.role == None:
		return Identity{}, fmt.Errorf("guest:%s: its rights can't be read (%s)", g.Name, e.line)
	case !now.Before(g.Expires.Time):
		return Identity{}, fmt.Errorf("guest:%s: %w", g.Name, ErrExpired)
	case !e.from.allow(remote):
		return Identity{}, fmt.Errorf("guest:%s: %w", g.Name, ErrSource)
	}
	id := e.identity(remote)
	id.Certificate = cert.Marshal()
	id.NoForward = !hasExtension(cert, permitForwarding)
	return id, nil
}

// readGuests reads the file of guests and the authority next to it.
func (s *Store) readGuests() (*guestRules, []Problem) {
	if s.o.Guests == "" {
		return nil, nil
	}
	r := &guestRules{bySerial: map[uint64]entry{}, guests: map[uint64]Guest{}}
	signer, err := loadHostKey(s.o.GuestAuthority)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, nil
	case err != nil:
		return r, []Problem{problemOf(s.o.GuestAuthority, err)}
	}
	r.authority = string(signer.PublicKey().Marshal())
	book, err := s.readBook()
	if err != nil {
		return r, []Problem{problemOf(s.o.Guests, err)}
	}
	var problems []Problem
	for _, g := range book.Guests {
		e, err := g.entry(fmt.Sprintf("%s:serial %d", s.o.Guests, g.Serial))
		if err != nil {
			problems = append(problems, Problem{File: s.o.Guests, Kind: Refused, Text: fmt.Sprintf("guest of serial %d: %v", g.Serial, err)})
		}
		r.bySerial[g.Serial], r.guests[g.Serial] = e, g
	}
	return r, problems
}

func (s *Store) readBook() (guestBook, error) {
	book := guestBook{Next: 1}
	data, err := readTrusted(s.o.Guests)
	if errors.Is(err, fs.ErrNotExist) {
		return book, nil
	}
	if err != nil {
		return book, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&book); err != nil {
		return book, fmt.Errorf("%s isn't a valid file of guests: %w", s.o.Guests, err)
	}
	for _, g := range book.Guests {
		book.Next = max(book.Next, g.Serial+1)
	}
	return book, nil
}

// Guests lists the guests, newest last.
func (s *Store) Guests() []Guest {
	set := s.Current()
	if set.guests == nil {
		return nil
	}
	var out []Guest
	for _, g := range set.guests.guests {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Guest) int {
		if a.Serial < b.Serial {
			return -1
		}
		return 1
	})
	return out
}

// AddGuest certifies key until g.Expires, with the rights in g. It fills in serial, fingerprint and
// start. The guest is in the file before the certificate exists.
func (s *Store) AddGuest(key ssh.PublicKey, g Guest) (Guest, *ssh.Certificate, error) {
	now := s.o.Now()
	if _, ok := key.(*ssh.Certificate); ok {
		return g, nil, fmt.Errorf("%w: give the plain public key", ErrGuest)
	}
	g.Fingerprint, g.Since = ssh.FingerprintSHA256(key), api.At(now.UTC().Truncate(time.Second))
	g.Expires = api.At(g.Expires.UTC().Truncate(time.Second))
	if d := g.Expires.Sub(now); d <= 0 || d > guestLongest {
		return g, nil, fmt.Errorf("%w: its time can be at most %d days", ErrGuest, int(guestLongest.Hours()/24))
	}
	if _, err := g.entry(""); err != nil {
		return g, nil, err
	}
	s.editing.Lock()
	defer s.editing.Unlock()
	if len(s.Current().Named(g.Fingerprint)) > 0 {
		return g, nil, fmt.Errorf("%w: %w", ErrGuest, ErrListed)
	}
	host, err := LoadOrCreateHostKeys(s.o.GuestAuthority)
	if err != nil {
		return g, nil, fmt.Errorf("the guests' authority: %w", err)
	}
	err = s.writeGuests(func(b *guestBook) error {
		if len(b.Guests) >= guestsMost {
			return fmt.Errorf("%w: there are already %d guests", ErrGuest, len(b.Guests))
		}
		for _, other := range b.Guests {
			if other.Name == g.Name && other.Revoked.IsZero() && now.Before(other.Expires.Time) {
				return fmt.Errorf("%w: the guest with serial %d has the name %s", ErrGuest, other.Serial, g.Name)
			}
		}
		g.Serial = b.Next
		b.Next++
		b.Guests = append(b.Guests, g)
		return nil
	})
	if err != nil {
		return g, nil, err
	}
	cert := &ssh.Certificate{
		Key: key, Serial: g.Serial, CertType: ssh.UserCert, KeyId: "guest:" + g.Name, ValidPrincipals: []string{UsualUser},
		ValidAfter: uint64(g.Since.Add(-guestBackdate).Unix()), ValidBefore: uint64(g.Expires.Unix()),
		Permissions: ssh.Permissions{Extensions: map[string]string{permitPTY: ""}},
	}
	if err := cert.SignCert(rand.Reader, host[0].Signer); err != nil {
		return g, nil, fmt.Errorf("sign the certificate: %w", err)
	}
	return g, cert, nil
}

// ChangeGuest changes the guest with that serial. change gets the current guest and returns the new
// one; serial, key and start stay.
func (s *Store) ChangeGuest(serial uint64, change func(*Guest) error) (Guest, error) {
	s.editing.Lock()
	defer s.editing.Unlock()
	var out Guest
	return out, s.writeGuests(func(b *guestBook) error {
		i := slices.IndexFunc(b.Guests, func(g Guest) bool { return g.Serial == serial })
		if i < 0 {
			return fmt.Errorf("serial %d: %w", serial, ErrNoGuest)
		}
		g := b.Guests[i]
		if err := change(&g); err != nil {
			return err
		}
		g.Serial, g.Fingerprint, g.Since = serial, b.Guests[i].Fingerprint, b.Guests[i].Since
		if _, err := g.entry(""); err != nil {
			return err
		}
		b.Guests[i], out = g, g
		return nil
	})
}

// openGuests returns the serials that admit a key as a guest.
func (s *Store) openGuests(fingerprint string) (serials []uint64) {
	for _, g := range s.Guests() {
		if g.Fingerprint == fingerprint && g.Revoked.IsZero() && s.o.Now().Before(g.Expires.Time) {
			serials = append(serials, g.Serial)
		}
	}
	return serials
}

// revokeGuests ends a key's rights as a guest. The caller holds s.editing.
func (s *Store) revokeGuests(fingerprint string) error {
	open := s.openGuests(fingerprint)
	if len(open) == 0 {
		return nil
	}
	return s.writeGuests(func(b *guestBook) error {
		for i := range b.Guests {
			if slices.Contains(open, b.Guests[i].Serial) {
				b.Guests[i].Revoked = api.At(s.o.Now().UTC())
			}
		}
		return nil
	})
}

// Narrow reduces a guest's rights: a lower role, some of its sessions and verbs, an earlier end.
// Anything that would widen them is refused.
func (g *Guest) Narrow(to Guest) error {
	role, err := ParseRole(g.Role)
	if err != nil {
		return err
	}
	if to.Role != "" {
		lower, err := ParseRole(to.Role)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrGuest, err)
		}
		if lower > role {
			return fmt.Errorf("%w: %s is more than %s; issue a new certificate", ErrGuest, lower, role)
		}
		g.Role = to.Role
	}
	for _, list := range []struct {
		name string
		old  *[]string
		new  []string
	}{{"sessions", &g.Sessions, to.Sessions}, {"verbs", &g.Verbs, to.Verbs}} {
		if len(list.new) == 0 {
			continue
		}
		for _, e := range list.new {
			if len(*list.old) > 0 && !slices.Contains(*list.old, e) {
				return fmt.Errorf("%w: its %s are %v, which doesn't include %s; issue a new certificate", ErrGuest, list.name, *list.old, quote(e))
			}
		}
		*list.old = list.new
	}
	if !to.Expires.IsZero() {
		if to.Expires.After(g.Expires.Time) {
			return fmt.Errorf("%w: its time ends at %s, which is earlier; issue a new certificate", ErrGuest, g.Expires.UTC().Format(time.RFC3339))
		}
		g.Expires = to.Expires
	}
	return nil
}

// writeGuests rewrites the file of guests and reloads it. The caller holds s.editing.
func (s *Store) writeGuests(change func(*guestBook) error) error {
	book, err := s.readBook()
	if err != nil {
		return err
	}
	if err := change(&book); err != nil {
		return err
	}
	now := s.o.Now()
	book.Guests = slices.DeleteFunc(book.Guests, func(g Guest) bool { return now.Sub(g.Expires.Time) > guestKept })
	data, err := json.MarshalIndent(book, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the guests: %w", err)
	}
	if data = append(data, '\n'); len(data) > maxFile {
		return fmt.Errorf("%w: the file of guests would be longer than %d bytes and couldn't be read", ErrGuest, maxFile)
	}
	aside, err := writeAside(s.o.Guests, data, 0o600)
	if err != nil {
		return fmt.Errorf("write the guests: %w", err)
	}
	if err := os.Rename(aside, s.o.Guests); err != nil {
		return errors.Join(fmt.Errorf("write the guests: %w", err), os.Remove(aside))
	}
	if err := syncDir(filepath.Dir(s.o.Guests)); err != nil {
		return fmt.Errorf("write the guests: %w", err)
	}
	s.Reload()
	return nil
}
