package keys

import (
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// certify makes a certificate for a new key, as change says.
func certify(t *testing.T, authority ssh.Signer, change func(*ssh.Certificate)) *ssh.Certificate {
	t.Helper()
	key, _ := newKey(t)
	cert := &ssh.Certificate{
		Key: key, CertType: ssh.UserCert, KeyId: "alice@laptop", Serial: 7, ValidPrincipals: []string{"agents"},
		ValidAfter: uint64(noon.Unix()), ValidBefore: uint64(noon.Add(time.Hour).Unix()),
		Permissions: ssh.Permissions{CriticalOptions: map[string]string{}, Extensions: map[string]string{"permit-pty": ""}},
	}
	if change != nil {
		change(cert)
	}
	if err := cert.SignCert(rand.Reader, authority); err != nil {
		t.Fatal(err)
	}
	return cert
}

func newAuthority(t *testing.T, bits int) (ssh.Signer, string) {
	t.Helper()
	secret, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return signer, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

func TestCertificates(t *testing.T) {
	signer, line := newAuthority(t, 2048)
	set, problems := parseOne(t, `cert-authority,role="responder",from="10.0.0.0/8",expiry-time="20270101Z" `+line)
	if problems != nil {
		t.Fatal(problems)
	}
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	shortKey, err := ssh.NewPublicKey(&short.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*ssh.Certificate)
		at     time.Time
		remote string
		why    error // nil: it is let in
	}{
		"as it should be":          {},
		"the last moment":          {at: noon.Add(time.Hour - time.Second)},
		"over":                     {at: noon.Add(time.Hour), why: ErrCertificate},
		"not begun":                {at: noon.Add(-time.Second), why: ErrCertificate},
		"without an end":           {change: func(c *ssh.Certificate) { c.ValidBefore = ssh.CertTimeInfinity }},
		"an end beyond all clocks": {change: func(c *ssh.Certificate) { c.ValidBefore = 1 << 63 }, why: ErrCertificate},
		"a host's":                 {change: func(c *ssh.Certificate) { c.CertType = ssh.HostCert }, why: ErrCertificate},
		"no principal":             {change: func(c *ssh.Certificate) { c.ValidPrincipals = nil }, why: ErrCertificate},
		"another principal":        {change: func(c *ssh.Certificate) { c.ValidPrincipals = []string{"root", "agent"} }, why: ErrCertificate},
		"one of two principals":    {change: func(c *ssh.Certificate) { c.ValidPrincipals = []string{"root", "agents"} }},
		"a short key":              {change: func(c *ssh.Certificate) { c.Key = shortKey }, why: ErrCertificate},
		"from elsewhere":           {remote: "192.0.2.1", why: ErrSource},
		"its own networks":         {change: critical("source-address", "10.1.0.0/16,10.0.0.1/32")},
		"other networks":           {change: critical("source-address", "10.1.0.0/16"), why: ErrSource},
		"networks that are none":   {change: critical("source-address", "!10.1.0.0/16"), why: ErrCertificate},
		"no networks":              {change: critical("source-address", ""), why: ErrCertificate},
		"an unknown option":        {change: critical("verify-required", ""), why: ErrCertificate},
		"an empty forced command":  {change: critical("force-command", " "), why: ErrCertificate},
	} {
		at, remote := noon, "10.0.0.1"
		if !c.at.IsZero() {
			at = c.at
		}
		if c.remote != "" {
			remote = c.remote
		}
		id, err := set.Lookup(certify(t, signer, c.change), from(remote), at)
		if c.why != nil {
			if !errors.Is(err, c.why) || id.Role != None {
				t.Errorf("%s: %+v, %v", name, id, err)
			}
			continue
		}
		if err != nil || id.Role != Responder || id.Name != "alice@laptop" || id.Certificate == nil || id.NoPTY {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}

func critical(name, value string) func(*ssh.Certificate) {
	return func(c *ssh.Certificate) { maps.Copy(c.CriticalOptions, map[string]string{name: value}) }
}

func TestCertificateSignedWithSHA1(t *testing.T) {
	signer, line := newAuthority(t, 2048)
	set, _ := parseOne(t, "cert-authority "+line)
	old, err := ssh.NewSignerWithAlgorithms(signer.(ssh.AlgorithmSigner), []string{ssh.KeyAlgoRSA})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Lookup(certify(t, old, nil), from("10.0.0.1"), noon); !errors.Is(err, ErrCertificate) {
		t.Error(err)
	}
}

func TestCertificateChangedAfterSigning(t *testing.T) {
	signer, line := newAuthority(t, 2048)
	set, _ := parseOne(t, "cert-authority "+line)
	for name, change := range map[string]func(*ssh.Certificate){
		"serial":     func(c *ssh.Certificate) { c.Serial++ },
		"principals": func(c *ssh.Certificate) { c.ValidPrincipals = append(c.ValidPrincipals, "x") },
		"end":        func(c *ssh.Certificate) { c.ValidBefore++ },
		"option":     func(c *ssh.Certificate) { delete(c.CriticalOptions, "force-command") },
		"key":        func(c *ssh.Certificate) { c.Key, _ = newKey(t) },
	} {
		cert := certify(t, signer, critical("force-command", "ls"))
		change(cert)
		if _, err := set.Lookup(cert, from("10.0.0.1"), noon); !errors.Is(err, ErrCertificate) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatTheCertificateTakesAway(t *testing.T) {
	signer, line := newAuthority(t, 2048)
	set, _ := parseOne(t, `cert-authority,command="ls",expiry-time="20261120123000Z" `+line)
	same, err := set.Lookup(certify(t, signer, critical("force-command", "ls")), nil, noon)
	if err != nil || same.Command != "ls" || !same.Expires.Equal(noon.Add(30*time.Minute)) {
		t.Errorf("%+v %v", same, err)
	}
	if _, err := set.Lookup(certify(t, signer, critical("force-command", "state")), nil, noon); !errors.Is(err, ErrCertificate) {
		t.Errorf("two commands: %v", err)
	}
	id, err := set.Lookup(certify(t, signer, func(c *ssh.Certificate) { delete(c.Extensions, "permit-pty") }), nil, noon)
	if err != nil || !id.NoPTY {
		t.Errorf("%+v %v", id, err)
	}
	again, err := set.ByCertificate(id.Certificate, "10.0.0.1:99", noon)
	if err != nil || again.Name != id.Name {
		t.Errorf("%+v %v", again, err)
	}
	if _, err := set.ByCertificate(id.Certificate, "10.0.0.1:99", noon.Add(time.Hour)); err == nil {
		t.Error("an old one was taken")
	}
	key, _ := newKey(t)
	if _, err := set.ByCertificate(key.Marshal(), "", noon); !errors.Is(err, ErrCertificate) {
		t.Error(err)
	}
}

func TestRevocations(t *testing.T) {
	signer, line := newAuthority(t, 2048)
	set, _ := parseOne(t, "cert-authority "+line)
	cert := certify(t, signer, nil)
	authority, key := ssh.FingerprintSHA256(signer.PublicKey()), ssh.FingerprintSHA256(cert.Key)
	for text, want := range map[string]error{
		"":                               nil,
		"# serial: 7\n\n":                nil,
		"serial: 7":                      ErrRevoked,
		"serial: 1-6\nserial: 8":         nil,
		"serial: 1-18446744073709551615": ErrRevoked,
		"serial: 7 " + authority:         ErrRevoked,
		"serial: 7 " + key:               nil, // of another authority
		"id: alice@laptop":               ErrRevoked,
		"id: alice":                      nil,
		key:                              ErrRevoked,
		"hash: " + key:                   ErrRevoked,
		authority:                        ErrRevoked,
		line:                             ErrRevoked,
		"key: " + line:                   ErrRevoked,
		"serial: x":                      ErrCertificate,
		"serial: 9-7":                    ErrCertificate,
		"serial: 7 alice":                ErrCertificate,
		"serial":                         ErrCertificate,
		"id:":                            ErrCertificate,
		"SHA256:short":                   ErrCertificate,
		"ssh-ed25519 AAAA":               ErrCertificate,
		"SSHKRL\n\x00\x00\x00\x00\x01":   ErrCertificate,
	} {
		r, problems := parseRevoked("revoked", []byte(text))
		set.revoked = r
		_, err := set.Lookup(cert, nil, noon)
		if want == nil && err != nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
		if (want == ErrCertificate) != (len(problems) == 1) {
			t.Errorf("%q: problems %v", text, problems)
		}
	}
}

func TestARevokedKey(t *testing.T) {
	key, text := newKey(t)
	set, _ := parseOne(t, text)
	set.revoked, _ = parseRevoked("revoked", []byte(ssh.FingerprintSHA256(key)))
	if _, err := set.Lookup(key, nil, noon); !errors.Is(err, ErrRevoked) {
		t.Error(err)
	}
	set.revoked, _ = parseRevoked("revoked", []byte("what is this"))
	if _, err := set.Lookup(key, nil, noon); err != nil {
		t.Errorf("a key in a key file: %v", err)
	}
}

func FuzzRevoked(f *testing.F) {
	f.Add([]byte("serial: 1-2 SHA256:x\nid: a\nssh-ed25519 AAAA\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, problems := parseRevoked("f", data)
		if r.unsound != (len(problems) > 0) {
			t.Errorf("unsound %v with %d problems", r.unsound, len(problems))
		}
	})
}

func FuzzCertificate(f *testing.F) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		f.Fatal(err)
	}
	set, _ := Parse("f", []byte("cert-authority "+string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), noon)
	cert := &ssh.Certificate{Key: signer.PublicKey(), CertType: ssh.UserCert, ValidPrincipals: []string{"agents"}, ValidBefore: ssh.CertTimeInfinity}
	if err := cert.SignCert(rand.Reader, signer); err != nil {
		f.Fatal(err)
	}
	good := cert.Marshal()
	f.Add(good)
	f.Fuzz(func(t *testing.T, wire []byte) {
		// Nothing but what was signed is let in.
		if id, err := set.ByCertificate(wire, "10.0.0.1", noon); err == nil && string(wire) != string(good) {
			t.Errorf("let in: %+v by %x", id, wire)
		}
	})
}
