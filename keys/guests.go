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
	// guestLongest is how long a guest can be let in: who stays longer gets a
	// line in a key file.
	guestLongest = 30 * 24 * time.Hour
	// guestKept is how long a guest stays listed after its time.
	guestKept = 30 * 24 * time.Hour
	// guestsMost are listed at once.
	guestsMost = 10_000
	// guestBackdate is for clients' clocks that are behind: nobody but the
	// server's own clock decides, so that it gives nothing away.
	guestBackdate = 5 * time.Minute
)

// Guest is somebody with a short-lived certificate of the server's own. What
// the certificate may is written here and not in it, so that it can be
// narrowed and taken back.
type Guest struct {
	Serial      uint64   `json:"serial"`
	Name        string   `json:"name"`
	Fingerprint string   `json:"fingerprint"` // of the key that is certified
	Role        string   `json:"role"`
	Sessions    []string `json:"sessions"`
	Verbs       []string `json:"verbs"`
	From        string   `json:"from"`
	Since       api.Time `json:"since"`
	Expires     api.Time `json:"expires"`
	Revoked     api.Time `json:"revoked"` // zero: it is not
	By          string   `json:"by"`      // who let it in
}

// guestBook is the server's file of guests.
type guestBook struct {
	Next   uint64  `json:"next"` // serial
	Guests []Guest `json:"guests"`
}

var (
	// ErrGuest: there is no such guest, or what is wanted for it cannot be given.
	ErrGuest = errors.New("it cannot be a guest")
	// ErrNoGuest: no guest has that serial or name.
	ErrNoGuest = errors.New("there is no such guest")
)

// guestRules are the guests as one reading of the files had them.
type guestRules struct {
	authority string // wire form of the server's own authority; empty: none is made yet
	bySerial  map[uint64]entry
	guests    map[uint64]Guest
}

// entry checks the guest's rights as those of a key line are.
func (g Guest) entry(place string) (entry, error) {
	role, err := ParseRole(g.Role)
	if err != nil || role == Admin {
		return entry{}, fmt.Errorf("%w: a guest is viewer, responder or operator", ErrGuest)
	}
	e := entry{name: "guest:" + g.Name, fingerprint: g.Fingerprint, line: place, grants: grants{role: role, sessions: g.Sessions, verbs: g.Verbs, expires: g.Expires.Time}}
	if cleanName(g.Name) != g.Name || g.Name == "" {
		return entry{}, fmt.Errorf("%w: its name is letters, digits, blanks and . _ - @, at most %d", ErrGuest, nameLimit)
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

// lookup finds the guest of a certificate that the server's own authority
// signed and whose time and form are right.
func (r *guestRules) lookup(cert *ssh.Certificate, remote net.Addr, now time.Time) (Identity, error) {
	g, known := r.guests[cert.Serial]
	e := r.bySerial[cert.Serial]
	switch {
	case !known || g.Fingerprint != ssh.FingerprintSHA256(cert.Key):
		return Identity{}, fmt.Errorf("guest certificate, serial %d: %w", cert.Serial, ErrNoGuest)
	case !g.Revoked.IsZero():
		return Identity{}, fmt.Errorf("guest:%s: %w", g.Name, ErrRevoked)
	case e.role == None:
		return Identity{}, fmt.Errorf("guest:%s: its rights are not understood (%s)", g.Name, e.line)
	case !now.Before(g.Expires.Time):
		return Identity{}, fmt.Errorf("guest:%s: %w", g.Name, ErrExpired)
	case !e.from.allow(remote):
		return Identity{}, fmt.Errorf("guest:%s: %w", g.Name, ErrSource)
	}
	id := e.identity(remote)
	id.Certificate = cert.Marshal()
	return id, nil
}

// readGuests reads the file of guests and the authority beside it.
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
		return book, fmt.Errorf("%s is no file of guests: %w", s.o.Guests, err)
	}
	for _, g := range book.Guests {
		book.Next = max(book.Next, g.Serial+1)
	}
	return book, nil
}

// Guests lists the guests, the newest last.
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

// AddGuest certifies key for the time until g.Expires, with the rights that g
// says. Serial, fingerprint and beginning are filled in. The guest stands in
// the file before there is a certificate.
func (s *Store) AddGuest(key ssh.PublicKey, g Guest) (Guest, *ssh.Certificate, error) {
	now := s.o.Now()
	if _, ok := key.(*ssh.Certificate); ok {
		return g, nil, fmt.Errorf("%w: give the plain public key", ErrGuest)
	}
	g.Fingerprint, g.Since = ssh.FingerprintSHA256(key), api.At(now.UTC().Truncate(time.Second))
	g.Expires = api.At(g.Expires.UTC().Truncate(time.Second))
	if d := g.Expires.Sub(now); d <= 0 || d > guestLongest {
		return g, nil, fmt.Errorf("%w: its time is up to %d days", ErrGuest, int(guestLongest.Hours()/24))
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
			return fmt.Errorf("%w: there are %d guests", ErrGuest, len(b.Guests))
		}
		for _, other := range b.Guests {
			if other.Name == g.Name && other.Revoked.IsZero() && now.Before(other.Expires.Time) {
				return fmt.Errorf("%w: the guest of serial %d has the name %s", ErrGuest, other.Serial, g.Name)
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

// ChangeGuest changes a guest that is known by serial. change gets it as it is
// and says what it is to be; its serial, key and beginning stay.
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

// Narrow gives the guest less than it has: a lower role, some of its sessions and
// verbs, an earlier end. Whatever would be more is refused.
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
			return fmt.Errorf("%w: %s is more than %s; let it in anew", ErrGuest, lower, role)
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
				return fmt.Errorf("%w: its %s are %v, and %s is none of them; let it in anew", ErrGuest, list.name, *list.old, quote(e))
			}
		}
		*list.old = list.new
	}
	if !to.Expires.IsZero() {
		if to.Expires.After(g.Expires.Time) {
			return fmt.Errorf("%w: its time ends at %s, which is sooner; let it in anew", ErrGuest, g.Expires.UTC().Format(time.RFC3339))
		}
		g.Expires = to.Expires
	}
	return nil
}

// writeGuests rewrites the file of guests, and reads it for everybody.
// s.editing is held.
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
		return fmt.Errorf("%w: the file of guests would be longer than %d bytes, and none of them could be read", ErrGuest, maxFile)
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
