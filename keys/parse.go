package keys

import (
	"bytes"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// maxLine is the longest accepted key line, in bytes. The longest RSA key is under 3 KiB; OpenSSH's
// own limit is 8 KiB.
const maxLine = 16 << 10

// minRSABits is the shortest accepted RSA key: NIST SP 800-131A's minimum.
const minRSABits = 2048

// The reasons why Lookup finds no identity. They are for the server's log: a client only learns that
// the key isn't admitted.
var (
	ErrNotListed = errors.New("the key is in no key file")
	ErrSource    = errors.New("the key may not be used from this address")
	ErrExpired   = errors.New("the key has expired")
	ErrAuthority = errors.New("the key is a certificate authority, which can't log in itself")
)

// Set is the keys of one or more files. It is immutable and may be used from any goroutine.
type Set struct {
	byKey   map[string][]entry // by the key's wire form, in the order of the files
	size    int
	revoked *revocations
	guests  *guestRules
}

// entry is one valid line.
type entry struct {
	grants
	name        string
	fingerprint string
	line        string // file:line
	order       int    // among the lines of all files
	defaulted   bool   // the line has no role=
}

// Parse reads a file in the authorized_keys format. It is strict: a line with an unknown part admits
// no key and becomes a Problem, whatever the other lines say. The file's name is only for messages. A
// line without role= is an operator. now is for expired lines, which become notices.
func Parse(file string, data []byte, now time.Time) (*Set, []Problem) {
	s := &Set{}
	problems := s.add(file, data, Operator, now)
	return s, problems
}

// add parses data and appends its lines to the set's.
func (s *Set) add(file string, data []byte, byDefault Role, now time.Time) []Problem {
	var problems []Problem
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(data, []byte("-----BEGIN ")) {
		return []Problem{{File: file, Kind: Refused, Text: "this is a private key", Remedy: "give its .pub file"}}
	}
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		problem := func(kind ProblemKind, text, remedy string) {
			problems = append(problems, Problem{File: file, Line: n, Kind: kind, Text: text, Remedy: remedy})
		}
		if len(line) > maxLine {
			problem(Refused, fmt.Sprintf("the line has %d bytes; the limit is %d", len(line), maxLine), "shorten its options")
			continue
		}
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		key, e, notices, f := parseLine(text)
		if f != nil {
			problem(Refused, f.text, f.remedy)
			continue
		}
		if e.role == None {
			e.role, e.defaulted = byDefault, true
		}
		e.line = fmt.Sprintf("%s:%d", file, n)
		for _, text := range notices {
			problem(Notice, text, "")
		}
		if !e.expires.IsZero() && !now.Before(e.expires) {
			problem(Notice, "the key expired on "+e.expires.UTC().Format(time.RFC3339), "remove the line, or give a later expiry-time=")
		}
		s.put(key, e)
	}
	return problems
}

func (s *Set) put(key ssh.PublicKey, e entry) {
	if s.byKey == nil {
		s.byKey = map[string][]entry{}
	}
	wire := string(key.Marshal())
	e.order = s.size
	s.byKey[wire] = append(s.byKey[wire], e)
	s.size++
}

// parseLine reads one line that is neither blank nor a comment: options if any, the key's type, the
// key, a comment.
func parseLine(line string) (ssh.PublicKey, entry, []string, *fault) {
	var e entry
	var notices []string
	if !isKeyType(firstWord(line)) {
		options, rest, f := splitOptions(line)
		if f != nil {
			return nil, e, nil, f
		}
		if e.grants, notices, f = readOptions(options); f != nil {
			return nil, e, nil, f
		}
		line = rest
	}
	kind := firstWord(line)
	if !isKeyType(kind) {
		return nil, e, nil, faultf("write [OPTIONS] TYPE KEY [COMMENT], as in a .pub file", "the key type is missing")
	}
	line = strings.TrimLeft(line[len(kind):], " \t")
	blob := firstWord(line)
	key, f := parseKey(kind, blob)
	if f != nil {
		return nil, e, nil, f
	}
	e.fingerprint = ssh.FingerprintSHA256(key)
	if e.name = cleanName(line[len(blob):]); e.name == "" {
		e.name = shortFingerprint(key)
	}
	return key, e, notices, nil
}

func firstWord(s string) string {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i]
	}
	return s
}

// isKeyType says whether a word is a key's type and not an option: no option starts like one.
func isKeyType(word string) bool {
	return strings.HasPrefix(word, "ssh-") || strings.HasPrefix(word, "ecdsa-") ||
		strings.HasPrefix(word, "sk-") || strings.HasPrefix(word, "rsa-")
}

var keyTypes = map[string]bool{
	ssh.KeyAlgoED25519: true, ssh.KeyAlgoSKED25519: true, ssh.KeyAlgoSKECDSA256: true, ssh.KeyAlgoRSA: true,
	ssh.KeyAlgoECDSA256: true, ssh.KeyAlgoECDSA384: true, ssh.KeyAlgoECDSA521: true,
}

const makeNewKey = "make a new one with ssh-keygen -t ed25519"

func parseKey(kind, blob string) (ssh.PublicKey, *fault) {
	switch {
	case kind == ssh.InsecureKeyAlgoDSA:
		return nil, faultf(makeNewKey, "DSA keys aren't accepted")
	case strings.Contains(kind, "-cert-"):
		return nil, faultf("list the authority with cert-authority, or the plain key", "this is a certificate, not a key")
	case !keyTypes[kind]:
		return nil, faultf(makeNewKey, "keys of the type %s aren't accepted", quote(kind))
	case blob == "":
		return nil, faultf("copy the whole line of the .pub file", "the key is missing after its type")
	}
	wire, err := base64.StdEncoding.Strict().DecodeString(blob)
	if err != nil {
		return nil, faultf("copy the whole line of the .pub file, unbroken", "the key isn't base64")
	}
	key, err := ssh.ParsePublicKey(wire)
	if err != nil {
		return nil, faultf("copy the whole line of the .pub file, unbroken", "the key cannot be read")
	}
	if key.Type() != kind {
		return nil, faultf("copy the whole line of the .pub file", "the line says %s but holds a key of the type %s", kind, quote(key.Type()))
	}
	// A client's key is compared in wire form. A key that isn't written in its canonical form would never
	// match.
	if !bytes.Equal(key.Marshal(), wire) {
		return nil, faultf("copy the whole line of the .pub file", "the key isn't in its canonical form")
	}
	if bits := rsaBits(key); bits > 0 && bits < minRSABits {
		return nil, faultf(makeNewKey, "an RSA key of %d bits is too short: the minimum is %d", bits, minRSABits)
	}
	return key, nil
}

// rsaBits is the length of an RSA key's modulus, 0 for other keys.
func rsaBits(key ssh.PublicKey) int {
	if c, ok := key.(ssh.CryptoPublicKey); ok {
		if k, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok {
			return k.N.BitLen()
		}
	}
	return 0
}

// Len is the number of lines that admit a key or an authority's certificates, expired ones included.
func (s *Set) Len() int { return s.size }

// Empty says that no key can log in.
func (s *Set) Empty() bool { return s.Len() == 0 }

// Lookup finds the identity of key. The caller must have seen the key proven, not merely offered. If a
// key is on several lines, the first one in the order of the files whose from= and expiry-time= match
// decides alone: its rights aren't added to those of later lines. The error is one of ErrNotListed,
// ErrSource, ErrExpired, ErrAuthority and ErrRevoked, with the line; for a certificate also
// ErrNoAuthority or ErrCertificate.
func (s *Set) Lookup(key ssh.PublicKey, remote net.Addr, now time.Time) (Identity, error) {
	if cert, ok := key.(*ssh.Certificate); ok {
		return s.lookupCertificate(cert, remote, now)
	}
	if s.revoked.key(ssh.FingerprintSHA256(key)) {
		return Identity{}, fmt.Errorf("%s: %w", ssh.FingerprintSHA256(key), ErrRevoked)
	}
	err := fmt.Errorf("%s: %w", ssh.FingerprintSHA256(key), ErrNotListed)
	for i, e := range s.byKey[string(key.Marshal())] {
		var why error
		switch {
		case e.authority:
			why = ErrAuthority
		case !e.expires.IsZero() && !now.Before(e.expires):
			why = ErrExpired
		case !e.from.allow(remote):
			why = ErrSource
		default:
			return e.identity(remote), nil
		}
		if i == 0 {
			err = fmt.Errorf("%s: %w (%s)", e.fingerprint, why, e.line)
		}
	}
	return Identity{}, err
}

// ByFingerprint is Lookup for a key that was proven earlier, from source, and is known only by its
// fingerprint.
func (s *Set) ByFingerprint(fingerprint, source string, now time.Time) (Identity, error) {
	remote := address(source)
	for wire, entries := range s.byKey {
		if entries[0].fingerprint != fingerprint {
			continue
		}
		key, err := ssh.ParsePublicKey([]byte(wire))
		if err != nil {
			return Identity{}, fmt.Errorf("%s: %w", fingerprint, err)
		}
		return s.Lookup(key, remote, now)
	}
	return Identity{}, fmt.Errorf("%s: %w", fingerprint, ErrNotListed)
}

// address reads a client's address from its identity; nil if it isn't an address.
func address(source string) net.Addr {
	if addr, err := netip.ParseAddr(source); err == nil {
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(addr, 0))
	}
	if at, err := netip.ParseAddrPort(source); err == nil {
		return net.TCPAddrFromAddrPort(at)
	}
	return nil
}

func (e entry) identity(remote net.Addr) Identity {
	id := Identity{
		Kind: KindKey, Name: e.name, Fingerprint: e.fingerprint,
		Role: e.role, RoleByDefault: e.defaulted,
		Sessions: e.sessions, Verbs: e.verbs, Command: e.command, NoPTY: e.noPTY, NoForward: e.noForward, Prefixes: e.prefixes,
		Expires: e.expires, Line: e.line,
	}
	if remote != nil {
		id.Source = remote.String()
	}
	return id
}
