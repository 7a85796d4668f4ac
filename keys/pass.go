package keys

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Pass is what a fleet's gateway says to one of the fleet's hosts about a caller: who it is, and what it
// may do there. It is a user certificate by the fleet's authority for a key of the gateway: the gateway
// proves that key, and vouches for the person, whose own key the host never sees proven.
//
// A pass is for one host, known by its name and its host key, and lets a caller log in for a few minutes.
// The rights are critical options, so a server that doesn't know them refuses the certificate.
type Pass struct {
	Person      Identity      // as the gateway has identified the caller
	Gateway     ssh.PublicKey // the key that the gateway proves
	GatewayName string
	Host        string
	HostKey     ssh.PublicKey // one of the host's keys, as the gateway knows it
}

// PassRules say which passes a host accepts.
type PassRules struct {
	Authority ssh.PublicKey // of the fleet
	Host      string        // this host's name in it
	HostKeys  []ssh.PublicKey
	MaxRole   Role // the most that a pass gives, whatever it says
}

// IsPass says whether a certificate is in the form of a pass. It says nothing about who made it.
func IsPass(cert *ssh.Certificate) bool {
	_, has := cert.CriticalOptions[passHost]
	return has
}

// ViaGateway says whether the caller came with a pass.
func (id Identity) ViaGateway() bool {
	if id.Certificate == nil {
		return false
	}
	key, err := ssh.ParsePublicKey(id.Certificate)
	cert, ok := key.(*ssh.Certificate)
	return err == nil && ok && IsPass(cert)
}

// Why a pass isn't made or accepted.
var (
	ErrPass    = errors.New("the pass can't be used")
	ErrNoVouch = errors.New("the gateway doesn't vouch for this caller")
	// ErrNotYet says that the gateway was asked for the caller's rights now, and hasn't answered.
	ErrNotYet = errors.New("the fleet's gateway hasn't confirmed the sender's rights yet")
)

const (
	passLife    = 3 * time.Minute  // to log in
	passSkew    = 2 * time.Minute  // by how much a host's clock may be slow
	passLongest = 10 * time.Minute // of a pass that a host accepts
)

// The critical options of a pass.
const (
	passHost     = "host@berth"    // name and host key's fingerprint
	passGateway  = "gateway@berth" // name
	passRole     = "role@berth"
	passSessions = "sessions@berth" // as sessions=, if the caller has it
	passVerbs    = "verbs@berth"    // as verbs=, likewise
	passUntil    = "until@berth"    // when the person's own access ends, in seconds since 1970
	passSource   = "source@berth"   // the person's address, as the gateway saw it
	passProof    = "proof@berth"    // the certificate that the person proved, in base64; none for a plain key
)

var passOptions = []string{passHost, passGateway, passRole, passSessions, passVerbs, passUntil, passSource, passProof, forceCommand}

// Sign makes the certificate. It refuses a process inside a session, which isn't a person, and a caller
// whose sessions= has nothing on the host.
func (p Pass) Sign(authority ssh.Signer, now time.Time) (*ssh.Certificate, error) {
	id := p.Person
	switch {
	case id.Kind != KindKey && id.Kind != KindLocal:
		return nil, fmt.Errorf("%w: %s isn't a person", ErrNoVouch, id.Name)
	case id.Role == None:
		return nil, fmt.Errorf("%w: %s has no role", ErrNoVouch, id.Name)
	case !id.Expires.IsZero() && !now.Before(id.Expires):
		return nil, fmt.Errorf("%w: %s: %w", ErrNoVouch, id.Name, ErrExpired)
	}
	options := map[string]string{
		passHost: p.Host + " " + ssh.FingerprintSHA256(p.HostKey), passGateway: p.GatewayName, passRole: id.Role.String(),
	}
	if len(id.Sessions) > 0 {
		here := sessionsOn(id.Sessions, p.Host)
		if len(here) == 0 {
			return nil, fmt.Errorf("%w: the sessions= of %s has nothing on %s", ErrNoVouch, id.Name, p.Host)
		}
		options[passSessions] = strings.Join(here, ",")
	}
	if len(id.Verbs) > 0 {
		options[passVerbs] = strings.Join(id.Verbs, ",")
	}
	if !id.Expires.IsZero() {
		options[passUntil] = strconv.FormatInt(id.Expires.Unix(), 10)
	}
	if id.Command != "" {
		options[forceCommand] = id.Command
	}
	if id.Source != "" {
		options[passSource] = id.Source
	}
	if id.Certificate != nil {
		options[passProof] = base64.StdEncoding.EncodeToString(id.Certificate)
	}
	extensions := map[string]string{}
	if !id.NoPTY {
		extensions[permitPTY] = ""
	}
	var serial [8]byte
	if _, err := rand.Read(serial[:]); err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	cert := &ssh.Certificate{
		Key: p.Gateway, Serial: binary.BigEndian.Uint64(serial[:]), CertType: ssh.UserCert, KeyId: personOf(id),
		ValidPrincipals: []string{UsualUser},
		ValidAfter:      uint64(now.Add(-passSkew).Unix()), ValidBefore: uint64(now.Add(passLife).Unix()),
		Permissions: ssh.Permissions{CriticalOptions: options, Extensions: extensions},
	}
	if err := cert.SignCert(rand.Reader, authority); err != nil {
		return nil, fmt.Errorf("sign the pass: %w", err)
	}
	return cert, nil
}

// personOf is the pass's key id: the name and the fingerprint, which is - for a caller on the gateway
// itself. The kind in front of such a name and of a guest's means nothing on another host.
func personOf(id Identity) string {
	name := id.Name
	for _, kind := range []string{"local:", "guest:"} {
		name = strings.TrimPrefix(name, kind)
	}
	fingerprint := id.Fingerprint
	if fingerprint == "" {
		fingerprint = "-"
	}
	return name + " " + fingerprint
}

// sessionsOn are the patterns that match sessions of a host: tag:T and those without a host match on
// each, HOST/PATTERN on the hosts that HOST matches.
func sessionsOn(patterns []string, host string) (here []string) {
	for _, p := range patterns {
		of, pattern, has := strings.Cut(p, "/")
		switch {
		case strings.HasPrefix(p, "tag:") || !has:
			here = append(here, p)
		case matches(of, host) && pattern != "":
			here = append(here, pattern)
		}
	}
	return here
}

// Identity is the caller that a pass names, with its rights here. The gateway must have proven the
// pass's key, now: a pass says nothing about later.
func (r PassRules) Identity(key ssh.PublicKey, now time.Time) (Identity, error) {
	cert, ok := key.(*ssh.Certificate)
	if !ok {
		return Identity{}, fmt.Errorf("%w: it isn't a certificate", ErrPass)
	}
	id, err := r.identity(cert, now)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w (serial %d of %s)", ErrPass, err, cert.Serial, ssh.FingerprintSHA256(cert.SignatureKey))
	}
	return id, nil
}

func (r PassRules) identity(cert *ssh.Certificate, now time.Time) (Identity, error) {
	if err := r.sound(cert, now); err != nil {
		return Identity{}, err
	}
	gateway := cert.CriticalOptions[passGateway]
	space := strings.LastIndexByte(cert.KeyId, ' ')
	if space < 1 || gateway == "" || cleanName(gateway) != gateway {
		return Identity{}, errors.New("it doesn't name the person and the gateway")
	}
	name, fingerprint := cert.KeyId[:space], cert.KeyId[space+1:]
	if fingerprint == "-" {
		fingerprint = ""
	} else if !strings.HasPrefix(fingerprint, "SHA256:") || len(fingerprint) != len("SHA256:")+43 {
		return Identity{}, errors.New("it doesn't name the person's key")
	}
	// A key without a comment is named by its fingerprint's start.
	if cleanName(name) != name && (len(name) < len("SHA256:")+12 || !strings.HasPrefix(fingerprint, name)) {
		return Identity{}, fmt.Errorf("%s isn't a person's name", quote(name))
	}
	id := Identity{
		Kind: KindKey, Name: name + " via " + gateway, Fingerprint: fingerprint, Certificate: cert.Marshal(),
		Command: cert.CriticalOptions[forceCommand], NoPTY: !hasExtension(cert, permitPTY),
		Line: fmt.Sprintf("pass of %s (%s)", gateway, ssh.FingerprintSHA256(cert.Key)),
	}
	if _, err := Proof(cert); err != nil {
		return Identity{}, err
	}
	err := r.rights(&id, cert)
	return id, err
}

// Proof is the certificate that the person of a pass has proven at the gateway; nil for a plain key.
func Proof(pass *ssh.Certificate) (*ssh.Certificate, error) {
	text, has := pass.CriticalOptions[passProof]
	if !has {
		return nil, nil
	}
	wire, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("read the person's certificate: %w", err)
	}
	key, err := ssh.ParsePublicKey(wire)
	if err != nil {
		return nil, fmt.Errorf("read the person's certificate: %w", err)
	}
	cert, ok := key.(*ssh.Certificate)
	if !ok || !strings.HasSuffix(pass.KeyId, " "+ssh.FingerprintSHA256(cert.Key)) {
		return nil, errors.New("the person's certificate is for another key")
	}
	return cert, nil
}

// Vouched is the caller of a pass as the gateway that made it had identified it, without rights: the gateway looks
// those up again. host is the one that shows the pass.
func Vouched(pass *ssh.Certificate, authority ssh.PublicKey, host string) (Identity, error) {
	of, _, _ := strings.Cut(pass.CriticalOptions[passHost], " ")
	checker := ssh.CertChecker{ // of another time than that of the login
		Clock:                    func() time.Time { return time.Unix(int64(min(pass.ValidAfter, 1<<62)), 0) },
		SupportedCriticalOptions: passOptions,
	}
	switch err := checker.CheckCert(UsualUser, pass); {
	case string(pass.SignatureKey.Marshal()) != string(authority.Marshal()):
		return Identity{}, fmt.Errorf("%w: another authority signed it", ErrPass)
	case err != nil:
		return Identity{}, fmt.Errorf("%w: %w", ErrPass, err)
	case of != host:
		return Identity{}, fmt.Errorf("%w: it is for another host", ErrPass)
	}
	space := max(strings.LastIndexByte(pass.KeyId, ' '), 0)
	name, fingerprint := pass.KeyId[:space], strings.TrimPrefix(pass.KeyId[space:], " ")
	if fingerprint == "-" {
		return Identity{Kind: KindLocal, Name: "local:" + name}, nil
	}
	proof, err := Proof(pass)
	if err != nil {
		return Identity{}, fmt.Errorf("%w: %w", ErrPass, err)
	}
	id := Identity{Kind: KindKey, Name: name, Fingerprint: fingerprint, Source: pass.CriticalOptions[passSource]}
	if proof != nil {
		id.Certificate = proof.Marshal()
	}
	return id, nil
}

// rights reads what the person may do. An option that is there has a value: an empty list of rights
// means all rights.
func (r PassRules) rights(id *Identity, cert *ssh.Certificate) error {
	for name, value := range cert.CriticalOptions {
		if strings.TrimSpace(value) == "" {
			return fmt.Errorf("its option %s is empty", name)
		}
	}
	role, err := ParseRole(cert.CriticalOptions[passRole])
	if err != nil {
		return err
	}
	id.Role = min(role, r.MaxRole)
	if id.Role == None {
		return errors.New("no role is left of it here")
	}
	var f *fault
	if value, has := cert.CriticalOptions[passSessions]; has {
		if id.Sessions, f = list(passSessions, value, checkPattern); f != nil {
			return errors.New(f.text)
		}
	}
	if value, has := cert.CriticalOptions[passVerbs]; has {
		if id.Verbs, f = list(passVerbs, value, checkVerb); f != nil {
			return errors.New(f.text)
		}
	}
	if value, has := cert.CriticalOptions[passUntil]; has {
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return fmt.Errorf("read its end: %w", err)
		}
		id.Expires = time.Unix(seconds, 0)
	}
	return nil
}

// sound checks that the fleet's authority made the certificate, for this host and for now.
func (r PassRules) sound(cert *ssh.Certificate, now time.Time) error {
	bits := rsaBits(cert.Key)
	from, until := time.Unix(int64(cert.ValidAfter), 0), time.Unix(int64(cert.ValidBefore), 0)
	switch {
	case r.Authority == nil || string(cert.SignatureKey.Marshal()) != string(r.Authority.Marshal()):
		return errors.New("another authority signed it")
	case cert.CertType != ssh.UserCert:
		return errors.New("it isn't a user certificate")
	case !keyTypes[cert.Key.Type()] || bits > 0 && bits < minRSABits:
		return errors.New("the gateway's key is of a type or size that isn't accepted")
	case cert.Signature == nil || cert.Signature.Format == ssh.KeyAlgoRSA:
		return errors.New("it is signed with SHA-1")
	case !slices.Equal(cert.ValidPrincipals, []string{UsualUser}):
		return errors.New("its principal is another one")
	case cert.ValidBefore > 1<<62 || cert.ValidAfter > cert.ValidBefore || until.Sub(from) > passLongest:
		return fmt.Errorf("it is valid for longer than %s", passLongest)
	}
	checker := ssh.CertChecker{Clock: func() time.Time { return now }, SupportedCriticalOptions: passOptions}
	if err := checker.CheckCert(UsualUser, cert); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "ssh: "))
	}
	if !slices.ContainsFunc(r.HostKeys, func(k ssh.PublicKey) bool {
		return cert.CriticalOptions[passHost] == r.Host+" "+ssh.FingerprintSHA256(k)
	}) {
		return errors.New("it is for another host")
	}
	return nil
}
