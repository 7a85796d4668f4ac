package keys

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// revocations are keys and certificates that may not log in, whatever a key file says. The zero value
// revokes nothing. It is immutable.
type revocations struct {
	keys    map[string]bool // fingerprints, of users' keys and of authorities
	serials []serials
	ids     map[string]bool
	// unsound: a line can't be read. It may have been meant for any certificate, so none is accepted until
	// it is corrected. Plain keys in a key file stay valid: they have their own line there to remove.
	unsound bool
}

// serials are a range of an authority's certificates.
type serials struct {
	first, last uint64
	authority   string // fingerprint; empty is any
}

// key says whether a key is revoked.
func (r *revocations) key(fingerprint string) bool { return r != nil && r.keys[fingerprint] }

// certificate is why the certificate is revoked; nil if it isn't.
func (r *revocations) certificate(cert *ssh.Certificate) error {
	if r == nil {
		return nil
	}
	authority := ssh.FingerprintSHA256(cert.SignatureKey)
	switch {
	case r.unsound:
		return fmt.Errorf("%w: a line of the revocations can't be read, and no certificate is accepted until it is corrected", ErrCertificate)
	case r.keys[ssh.FingerprintSHA256(cert.Key)]:
		return fmt.Errorf("%w, by its key", ErrRevoked)
	case r.keys[authority]:
		return fmt.Errorf("%w, by its authority", ErrRevoked)
	case r.ids[cert.KeyId]:
		return fmt.Errorf("%w, by its id", ErrRevoked)
	}
	for _, s := range r.serials {
		if (s.authority == "" || s.authority == authority) && s.first <= cert.Serial && cert.Serial <= s.last {
			return fmt.Errorf("%w, by its serial", ErrRevoked)
		}
	}
	return nil
}

// CheckPass says why a pass of a fleet is revoked here, for a person whose key has that fingerprint; nil if it isn't.
// A key or a certificate that may not log in may not come through a gateway either.
func (s *Set) CheckPass(pass *ssh.Certificate, person string) error {
	if err := s.revoked.certificate(pass); err != nil {
		return err
	}
	if person != "" && s.revoked.key(person) {
		return fmt.Errorf("%w, by the person's key", ErrRevoked)
	}
	proof, err := Proof(pass)
	if proof != nil {
		err = s.revoked.certificate(proof)
	}
	if err != nil {
		return fmt.Errorf("the person's certificate: %w", err)
	}
	return nil
}

// parseRevoked reads revocations, one a line, in the form of ssh-keygen's specification of a
// revocation list:
//
//	ssh-ed25519 AAAA...          a key, of a user or of an authority
//	SHA256:...                   the same by its fingerprint
//	serial: 7                    certificates by serial, of any authority
//	serial: 7-9 SHA256:...       of that authority
//	id: alice@laptop             certificates by their id
func parseRevoked(file string, data []byte) (*revocations, []Problem) {
	r := &revocations{keys: map[string]bool{}, ids: map[string]bool{}}
	var problems []Problem
	if bytes.HasPrefix(data, []byte("SSHKRL\n\x00")) {
		r.unsound = true
		return r, []Problem{{File: file, Kind: Refused, Text: "this is a revocation list in binary form", Remedy: "write it as text, one entry a line: a key, SHA256:..., serial: N or id: TEXT"}}
	}
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if f := r.add(line); f != nil {
			r.unsound = true
			problems = append(problems, Problem{File: file, Line: n + 1, Kind: Refused, Text: f.text + ": no certificate is accepted until it is corrected", Remedy: f.remedy})
		}
	}
	return r, problems
}

func (r *revocations) add(line string) *fault {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case word == "id:" && rest != "":
		r.ids[rest] = true
	case word == "serial:":
		s, f := parseSerials(rest)
		if f != nil {
			return f
		}
		r.serials = append(r.serials, s)
	case word == "key:" && isKeyType(firstWord(rest)):
		return r.add(rest)
	case isKeyType(word):
		key, f := parseKey(word, firstWord(rest))
		if f != nil {
			return f
		}
		r.keys[ssh.FingerprintSHA256(key)] = true
	case (word == "hash:" || word == "sha256:") && isFingerprint(rest):
		r.keys[rest] = true
	case isFingerprint(word):
		r.keys[word] = true
	default:
		return faultf("write a key, SHA256:..., serial: N, serial: N-M SHA256:AUTHORITY or id: TEXT", "the line can't be read")
	}
	return nil
}

func parseSerials(text string) (serials, *fault) {
	list, authority, _ := strings.Cut(text, " ")
	authority = strings.TrimSpace(authority)
	low, high, isRange := strings.Cut(list, "-")
	if !isRange {
		high = low
	}
	first, err1 := strconv.ParseUint(low, 10, 64)
	last, err2 := strconv.ParseUint(high, 10, 64)
	switch {
	case err1 != nil || err2 != nil || last < first:
		return serials{}, faultf("write serial: N or serial: N-M", "%s isn't a valid serial", quote(list))
	case authority != "" && !isFingerprint(authority):
		return serials{}, faultf("write the authority's SHA256:...", "%s isn't a valid fingerprint", quote(authority))
	}
	return serials{first, last, authority}, nil
}

func isFingerprint(s string) bool {
	sum, ok := strings.CutPrefix(s, "SHA256:")
	raw, err := base64.RawStdEncoding.Strict().DecodeString(sum)
	return ok && err == nil && len(raw) == 32
}
