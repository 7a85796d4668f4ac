package keys

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// UsualUser is the user name in ssh agents@host. An authority whose line has no principals= admits
// certificates with that name, as sshd admits those with the name of the user that logs in. The user
// name that a client gives decides nothing.
const UsualUser = "agents"

// Why a certificate isn't admitted.
var (
	ErrNoAuthority = errors.New("no key file trusts the authority of the certificate")
	ErrCertificate = errors.New("the certificate can't be used")
	ErrRevoked     = errors.New("it is revoked")
)

// The known critical options. A certificate with any other is refused, because Berth couldn't apply
// the restriction.
const (
	forceCommand  = "force-command"
	sourceAddress = "source-address"
	permitPTY     = "permit-pty" // an extension
	// an extension, without which no host of a fleet is reached end to end
	permitForwarding = "permit-port-forwarding"
	noTouch          = "no-touch-required" // an extension; the SSH library obeys it
)

// Plain is the key of a client that proved key: for a certificate, the certified key.
func Plain(key ssh.PublicKey) ssh.PublicKey {
	if c, ok := key.(*ssh.Certificate); ok {
		return c.Key
	}
	return key
}

// lookupCertificate finds the identity of a certificate: the first line of its authority whose
// principals=, from= and expiry-time= match decides alone.
func (s *Set) lookupCertificate(cert *ssh.Certificate, remote net.Addr, now time.Time) (Identity, error) {
	name := fmt.Sprintf("certificate %s, serial %d, of %s", quote(cert.KeyId), cert.Serial, ssh.FingerprintSHA256(cert.SignatureKey))
	if err := s.soundCertificate(cert, remote, now); err != nil {
		return Identity{}, fmt.Errorf("%s: %w", name, err)
	}
	if s.guests != nil && s.guests.authority == string(cert.SignatureKey.Marshal()) {
		return s.guests.lookup(cert, remote, now)
	}
	err := fmt.Errorf("%s: %w", name, ErrNoAuthority)
	for i, e := range s.byKey[string(cert.SignatureKey.Marshal())] {
		var why error
		switch {
		case !e.authority:
			why = ErrNoAuthority
		case !slices.ContainsFunc(e.allowed(), func(p string) bool { return slices.Contains(cert.ValidPrincipals, p) }):
			why = fmt.Errorf("%w: it names %s, and the line takes %s", ErrCertificate, quote(strings.Join(cert.ValidPrincipals, ",")), strings.Join(e.allowed(), ","))
		case !e.expires.IsZero() && !now.Before(e.expires):
			why = ErrExpired
		case !e.from.allow(remote):
			why = ErrSource
		default:
			return e.certified(cert, remote)
		}
		if i == 0 {
			err = fmt.Errorf("%s: %w (%s)", name, why, e.line)
		}
	}
	return Identity{}, err
}

// allowed are the names that a certificate may have: it needs one of them.
func (e entry) allowed() []string {
	if len(e.principals) > 0 {
		return e.principals
	}
	return []string{UsualUser}
}

// soundCertificate checks everything that doesn't depend on the line. x/crypto's own authentication
// admits a certificate without principals for every user.
func (s *Set) soundCertificate(cert *ssh.Certificate, remote net.Addr, now time.Time) error {
	bits := rsaBits(cert.Key)
	switch {
	case cert.CertType != ssh.UserCert:
		return fmt.Errorf("%w: it isn't a user certificate", ErrCertificate)
	case !keyTypes[cert.Key.Type()]:
		return fmt.Errorf("%w: its key is of the type %s", ErrCertificate, quote(cert.Key.Type()))
	case bits > 0 && bits < minRSABits:
		return fmt.Errorf("%w: its RSA key has %d bits; the minimum is %d", ErrCertificate, bits, minRSABits)
	case cert.Signature == nil || cert.Signature.Format == ssh.KeyAlgoRSA:
		return fmt.Errorf("%w: it is signed with SHA-1", ErrCertificate)
	case strings.HasPrefix(cert.Key.Type(), "sk-") && hasExtension(cert, noTouch):
		return fmt.Errorf("%w: it waives the touch of its security key (%s), which must always be touched: sign it without that option", ErrCertificate, noTouch)
	case len(cert.ValidPrincipals) == 0:
		return fmt.Errorf("%w: it names no principal", ErrCertificate)
	}
	if why := s.revoked.certificate(cert); why != nil {
		return why
	}
	checker := ssh.CertChecker{
		Clock: func() time.Time { return now }, SupportedCriticalOptions: []string{forceCommand, sourceAddress},
	}
	if err := checker.CheckCert(cert.ValidPrincipals[0], cert); err != nil {
		return fmt.Errorf("%w: %s", ErrCertificate, strings.TrimPrefix(err.Error(), "ssh: "))
	}
	list, ok := cert.CriticalOptions[sourceAddress]
	if !ok {
		return nil
	}
	from, f := parseCertSources(list)
	if f != nil {
		return fmt.Errorf("%w: its source-address: %s", ErrCertificate, f.text)
	}
	if !from.allow(remote) {
		return fmt.Errorf("%w: %w", ErrCertificate, ErrSource)
	}
	return nil
}

func hasExtension(cert *ssh.Certificate, name string) bool {
	_, has := cert.Extensions[name]
	return has
}

// parseCertSources reads a certificate's source-address: only addresses and networks, none negated.
func parseCertSources(list string) (sources, *fault) {
	if strings.ContainsAny(list, "!*?") {
		return nil, faultf("", "%s isn't a list of networks", quote(list))
	}
	return parseSources(list)
}

// certified is the identity of a certificate under a line. A restriction of either applies.
func (e entry) certified(cert *ssh.Certificate, remote net.Addr) (Identity, error) {
	id := e.identity(remote)
	id.Fingerprint = ssh.FingerprintSHA256(cert.Key)
	id.Certificate = cert.Marshal()
	if id.Name = cleanName(cert.KeyId); id.Name == "" {
		id.Name = shortFingerprint(cert.Key)
	}
	if cert.ValidBefore != ssh.CertTimeInfinity {
		if until := time.Unix(int64(cert.ValidBefore), 0); id.Expires.IsZero() || until.Before(id.Expires) {
			id.Expires = until
		}
	}
	if !hasExtension(cert, permitPTY) {
		id.NoPTY = true
	}
	if !hasExtension(cert, permitForwarding) {
		id.NoForward = true
	}
	command, forced := cert.CriticalOptions[forceCommand]
	switch {
	case !forced:
	case strings.TrimSpace(command) == "":
		return Identity{}, fmt.Errorf("%w: its force-command is empty", ErrCertificate)
	case id.Command != "" && id.Command != command:
		return Identity{}, fmt.Errorf("%w: its force-command differs from the command= of %s", ErrCertificate, e.line)
	default:
		id.Command = command
	}
	return id, nil
}

// ByCertificate is Lookup for a certificate whose key was proven earlier, from source.
func (s *Set) ByCertificate(wire []byte, source string, now time.Time) (Identity, error) {
	key, err := ssh.ParsePublicKey(wire)
	if err != nil {
		return Identity{}, fmt.Errorf("read a certificate: %w", err)
	}
	if _, ok := key.(*ssh.Certificate); !ok || !bytes.Equal(key.Marshal(), wire) {
		return Identity{}, fmt.Errorf("%w: it isn't a certificate", ErrCertificate)
	}
	return s.Lookup(key, address(source), now)
}
