package keys

import (
	"crypto/rand"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"berth/test/signer"
)

// passes is a fleet with one gateway, and a host box2 in it.
type passes struct {
	ca, gateway, host ssh.Signer
	rules             PassRules
	now               time.Time
}

func newPasses(t testing.TB) *passes {
	p := &passes{ca: signer.New(t), gateway: signer.New(t), host: signer.New(t), now: time.Unix(1_800_000_000, 0)}
	p.rules = PassRules{Authority: p.ca.PublicKey(), Host: "box2", HostKeys: []ssh.PublicKey{signer.New(t).PublicKey(), p.host.PublicKey()}, MaxRole: Operator}
	return p
}

func (p *passes) of(person Identity) Pass {
	return Pass{Person: person, Gateway: p.gateway.PublicKey(), GatewayName: "gw", Host: "box2", HostKey: p.host.PublicKey()}
}

func (p *passes) sign(t testing.TB, person Identity) *ssh.Certificate {
	t.Helper()
	cert, err := p.of(person).Sign(p.ca, p.now)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

var somePrint = "SHA256:" + strings.Repeat("x", 43)

func person(change func(*Identity)) Identity {
	id := Identity{Kind: KindKey, Name: "ann@laptop", Fingerprint: somePrint, Role: Operator}
	if change != nil {
		change(&id)
	}
	return id
}

func TestPass(t *testing.T) {
	p := newPasses(t)
	until, certified := p.now.Add(time.Hour), ""
	for name, c := range map[string]struct {
		person Identity
		want   func(*Identity)
	}{
		"a key": {person(nil), nil},
		"a narrowed key": {person(func(id *Identity) {
			id.Sessions, id.Verbs = []string{"web*", "tag:release", "box2/api", "box*/db", "box3/x", "other/y"}, []string{"ls", "nudge"}
		}), func(id *Identity) {
			id.Sessions, id.Verbs = []string{"web*", "tag:release", "api", "db"}, []string{"ls", "nudge"}
		}},
		"an admin, above max_role": {person(func(id *Identity) { id.Role = Admin }), nil},
		"a viewer":                 {person(func(id *Identity) { id.Role = Viewer }), func(id *Identity) { id.Role = Viewer }},
		"a key that expires":       {person(func(id *Identity) { id.Expires = until }), func(id *Identity) { id.Expires = until }},
		"a forced command":         {person(func(id *Identity) { id.Command = "watch --state prompt" }), func(id *Identity) { id.Command = "watch --state prompt" }},
		"without a terminal":       {person(func(id *Identity) { id.NoPTY = true }), func(id *Identity) { id.NoPTY = true }},
		"a key without a comment":  {person(func(id *Identity) { id.Name = somePrint[:19] }), func(id *Identity) { id.Name = somePrint[:19] + " via gw" }},
		"a name with a blank":      {person(func(id *Identity) { id.Name = "Ann Onym" }), func(id *Identity) { id.Name = "Ann Onym via gw" }},
		"a guest":                  {person(func(id *Identity) { id.Name = "guest:bob" }), func(id *Identity) { id.Name = "bob via gw" }},
		"a caller on the gateway":  {Identity{Kind: KindLocal, Name: "local:root", Role: Operator}, func(id *Identity) { id.Name, id.Fingerprint = "root via gw", "" }},
		"a certificate's own rights": {person(func(id *Identity) {
			proven := userCert(t, signer.New(t))
			id.Certificate, id.Fingerprint, id.Line = proven.Marshal(), ssh.FingerprintSHA256(proven.Key), "keys:3"
			certified = id.Fingerprint
		}), func(id *Identity) { id.Fingerprint = certified }},
	} {
		t.Run(name, func(t *testing.T) {
			cert := p.sign(t, c.person)
			got, err := p.rules.Identity(cert, p.now)
			if err != nil {
				t.Fatal(err)
			}
			want := Identity{Kind: KindKey, Name: "ann@laptop via gw", Fingerprint: somePrint, Role: Operator}
			if c.want != nil {
				c.want(&want)
			}
			if !slices.Equal(got.Sessions, want.Sessions) || !slices.Equal(got.Verbs, want.Verbs) || got.Role != want.Role || got.Name != want.Name ||
				got.Fingerprint != want.Fingerprint || got.NoPTY != want.NoPTY || got.Command != want.Command || !got.Expires.Equal(want.Expires) || got.Kind != want.Kind {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
			if !strings.Contains(got.Line, "gw") || !strings.Contains(got.Line, ssh.FingerprintSHA256(p.gateway.PublicKey())) {
				t.Errorf("the audit log would have %q", got.Line)
			}
		})
	}
}

func TestNoPassFor(t *testing.T) {
	p := newPasses(t)
	for name, id := range map[string]Identity{
		"an agent on the gateway":        Agent("01J", "web", 7),
		"no role":                        person(func(id *Identity) { id.Role = None }),
		"an expired key":                 person(func(id *Identity) { id.Expires = p.now }),
		"sessions= of other hosts alone": person(func(id *Identity) { id.Sessions = []string{"box3/*", "gw/web"} }),
	} {
		if _, err := p.of(id).Sign(p.ca, p.now); !errors.Is(err, ErrNoVouch) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestForgedPasses has passes that a host must refuse, and why it does.
func TestForgedPasses(t *testing.T) {
	p := newPasses(t)
	resigned := func(change func(*ssh.Certificate)) func(*testing.T) ssh.PublicKey {
		return func(t *testing.T) ssh.PublicKey {
			cert := p.sign(t, person(func(id *Identity) { id.Sessions, id.Verbs = []string{"web"}, []string{"ls"} }))
			change(cert)
			if err := cert.SignCert(rand.Reader, p.ca); err != nil {
				t.Fatal(err)
			}
			return cert
		}
	}
	altered := func(change func(*ssh.Certificate)) func(*testing.T) ssh.PublicKey {
		return func(t *testing.T) ssh.PublicKey {
			cert := p.sign(t, person(func(id *Identity) { id.Role, id.Verbs = Viewer, []string{"ls"} }))
			change(cert)
			return cert
		}
	}
	for name, c := range map[string]struct {
		pass func(*testing.T) ssh.PublicKey
		why  string
	}{
		"of another host": {func(t *testing.T) ssh.PublicKey {
			other := p.of(person(nil))
			other.Host = "box3"
			cert, _ := other.Sign(p.ca, p.now)
			return cert
		}, "for another host"},
		"of an older host with this name": {func(t *testing.T) ssh.PublicKey {
			other := p.of(person(nil))
			other.HostKey = signer.New(t).PublicKey()
			cert, _ := other.Sign(p.ca, p.now)
			return cert
		}, "for another host"},
		"of another fleet": {func(t *testing.T) ssh.PublicKey {
			cert, _ := p.of(person(nil)).Sign(signer.New(t), p.now)
			return cert
		}, "another authority"},
		"signed by the gateway's own key": {func(t *testing.T) ssh.PublicKey {
			cert, _ := p.of(person(nil)).Sign(p.gateway, p.now)
			return cert
		}, "another authority"},
		"the gateway's plain key":         {func(*testing.T) ssh.PublicKey { return p.gateway.PublicKey() }, "isn't a certificate"},
		"the authority's plain key":       {func(*testing.T) ssh.PublicKey { return p.ca.PublicKey() }, "isn't a certificate"},
		"for another key, altered":        {altered(func(c *ssh.Certificate) { c.Key = signer.New(t).PublicKey() }), "signature"},
		"a higher role, altered":          {altered(func(c *ssh.Certificate) { c.CriticalOptions[passRole] = "operator" }), "signature"},
		"wider verbs, altered":            {altered(func(c *ssh.Certificate) { delete(c.CriticalOptions, passVerbs) }), "signature"},
		"another person, altered":         {altered(func(c *ssh.Certificate) { c.KeyId = "root -" }), "signature"},
		"for longer, altered":             {altered(func(c *ssh.Certificate) { c.ValidBefore += 60 }), "signature"},
		"a certificate of a host":         {resigned(func(c *ssh.Certificate) { c.CertType = ssh.HostCert }), "user certificate"},
		"for a day":                       {resigned(func(c *ssh.Certificate) { c.ValidBefore += 24 * 3600 }), "longer than"},
		"for ever":                        {resigned(func(c *ssh.Certificate) { c.ValidBefore = ssh.CertTimeInfinity }), "longer than"},
		"since ever":                      {resigned(func(c *ssh.Certificate) { c.ValidAfter = 0 }), "longer than"},
		"that ends before it begins":      {resigned(func(c *ssh.Certificate) { c.ValidBefore = c.ValidAfter - 1 }), "longer than"},
		"without a role":                  {resigned(func(c *ssh.Certificate) { delete(c.CriticalOptions, passRole) }), "valid role"},
		"with the role none":              {resigned(func(c *ssh.Certificate) { c.CriticalOptions[passRole] = "none" }), "valid role"},
		"without a host":                  {resigned(func(c *ssh.Certificate) { delete(c.CriticalOptions, passHost) }), "for another host"},
		"without a gateway":               {resigned(func(c *ssh.Certificate) { delete(c.CriticalOptions, passGateway) }), "the gateway"},
		"with an unknown option":          {resigned(func(c *ssh.Certificate) { c.CriticalOptions["shell@berth"] = "no" }), "critical option"},
		"with source-address":             {resigned(func(c *ssh.Certificate) { c.CriticalOptions[sourceAddress] = "10.0.0.0/8" }), "critical option"},
		"with empty sessions":             {resigned(func(c *ssh.Certificate) { c.CriticalOptions[passSessions] = "" }), "empty"},
		"with blank verbs":                {resigned(func(c *ssh.Certificate) { c.CriticalOptions[passVerbs] = " " }), "empty"},
		"with an empty command":           {resigned(func(c *ssh.Certificate) { c.CriticalOptions[forceCommand] = "" }), "empty"},
		"with a malformed pattern":        {resigned(func(c *ssh.Certificate) { c.CriticalOptions[passSessions] = "web,[a" }), "malformed"},
		"with a malformed verb":           {resigned(func(c *ssh.Certificate) { c.CriticalOptions[passVerbs] = "ls,rm -f" }), "verbs="},
		"with a malformed end":            {resigned(func(c *ssh.Certificate) { c.CriticalOptions[passUntil] = "soon" }), "its end"},
		"with every principal":            {resigned(func(c *ssh.Certificate) { c.ValidPrincipals = nil }), "principal"},
		"with a second principal":         {resigned(func(c *ssh.Certificate) { c.ValidPrincipals = append(c.ValidPrincipals, "root") }), "principal"},
		"of an agent":                     {resigned(func(c *ssh.Certificate) { c.KeyId = "agent:web -" }), "person's name"},
		"of a caller on this host":        {resigned(func(c *ssh.Certificate) { c.KeyId = "local:root -" }), "person's name"},
		"of the server":                   {resigned(func(c *ssh.Certificate) { c.KeyId = "berth -" }), "person's name"},
		"of a name that hides":            {resigned(func(c *ssh.Certificate) { c.KeyId = "ann\u202e " + somePrint }), "person's name"},
		"of a name with escapes":          {resigned(func(c *ssh.Certificate) { c.KeyId = "ann\x1b[2J " + somePrint }), "person's name"},
		"of another key's name":           {resigned(func(c *ssh.Certificate) { c.KeyId = "SHA256:aaaaaaaaaaaa " + somePrint }), "person's name"},
		"of a person without a key":       {resigned(func(c *ssh.Certificate) { c.KeyId = "ann MD5:aa" }), "person's key"},
		"of a person without a name":      {resigned(func(c *ssh.Certificate) { c.KeyId = " " + somePrint }), "the person"},
		"with a gateway's name that lies": {resigned(func(c *ssh.Certificate) { c.CriticalOptions[passGateway] = "gw\x1b[2J" }), "the gateway"},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := p.rules.Identity(c.pass(t), p.now)
			if !errors.Is(err, ErrPass) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("it gives %+v, %v; wanted an error with %q", id, err, c.why)
			}
		})
	}
}

// userCert is a certificate of ann's, by an authority of people.
func userCert(t testing.TB, authority ssh.Signer) *ssh.Certificate {
	t.Helper()
	cert := &ssh.Certificate{Key: signer.New(t).PublicKey(), Serial: 7, CertType: ssh.UserCert, KeyId: "ann in person", ValidPrincipals: []string{UsualUser}, ValidBefore: ssh.CertTimeInfinity}
	if err := cert.SignCert(rand.Reader, authority); err != nil {
		t.Fatal(err)
	}
	return cert
}

// TestVouched: the gateway knows from a pass, at any later time, whose rights to look up.
func TestVouched(t *testing.T) {
	p := newPasses(t)
	proven := userCert(t, signer.New(t))
	print := ssh.FingerprintSHA256(proven.Key)
	for name, id := range map[string]Identity{
		"a key":                   person(func(id *Identity) { id.Source = "10.0.0.7:4711" }),
		"a certificate":           person(func(id *Identity) { id.Certificate, id.Fingerprint = proven.Marshal(), print }),
		"a caller on the gateway": {Kind: KindLocal, Name: "local:root", Role: Operator},
	} {
		got, err := Vouched(p.sign(t, id), p.ca.PublicKey(), "box2")
		if err != nil || got.Kind != id.Kind || got.Name != id.Name || got.Fingerprint != id.Fingerprint || got.Source != id.Source || string(got.Certificate) != string(id.Certificate) || got.Role != None {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	altered := p.sign(t, person(nil))
	altered.KeyId = "root " + somePrint
	lying := p.sign(t, person(func(id *Identity) { id.Certificate = proven.Marshal() })) // for another key than the pass says
	for name, c := range map[string]struct {
		pass *ssh.Certificate
		host string
	}{
		"shown by another host":    {p.sign(t, person(nil)), "box3"},
		"of no host":               {p.sign(t, person(nil)), ""},
		"altered":                  {altered, "box2"},
		"a person's certificate":   {proven, "box2"},
		"with another certificate": {lying, "box2"},
	} {
		if id, err := Vouched(c.pass, p.ca.PublicKey(), c.host); !errors.Is(err, ErrPass) {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
	if id, err := Vouched(p.sign(t, person(nil)), signer.New(t).PublicKey(), "box2"); !errors.Is(err, ErrPass) {
		t.Errorf("of another fleet: %+v, %v", id, err)
	}
	if id, err := p.rules.Identity(lying, p.now); !errors.Is(err, ErrPass) {
		t.Errorf("a host takes a pass with another certificate: %+v, %v", id, err)
	}
}

// TestPassesExpire also has a host whose clock differs from the gateway's.
func TestPassesExpire(t *testing.T) {
	p := newPasses(t)
	cert := p.sign(t, person(nil))
	for late, valid := range map[time.Duration]bool{
		-passSkew - 2*time.Second: false, -passSkew: true, 0: true, passLife - 2*time.Second: true, passLife + time.Second: false, time.Hour: false,
	} {
		if _, err := p.rules.Identity(cert, p.now.Add(late)); (err == nil) != valid {
			t.Errorf("%s later: %v", late, err)
		}
	}
}

func TestNoRulesNoPass(t *testing.T) {
	p := newPasses(t)
	cert := p.sign(t, person(nil))
	for name, change := range map[string]func(*PassRules){
		"no authority": func(r *PassRules) { r.Authority = nil },
		"no host key":  func(r *PassRules) { r.HostKeys = nil },
		"no max_role":  func(r *PassRules) { r.MaxRole = None },
		"another name": func(r *PassRules) { r.Host = "box" },
	} {
		rules := p.rules
		change(&rules)
		if id, err := rules.Identity(cert, p.now); !errors.Is(err, ErrPass) {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}
}

// TestPassAmongKeys: a key file that trusts the fleet's authority as any other admits no pass, because
// its rights would be the line's and not the pass's.
func TestPassAmongKeys(t *testing.T) {
	p := newPasses(t)
	set, problems := Parse("keys", append([]byte("cert-authority,role=\"admin\" "), ssh.MarshalAuthorizedKey(p.ca.PublicKey())...), p.now)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if id, err := set.Lookup(p.sign(t, person(nil)), &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1)}, p.now); !errors.Is(err, ErrCertificate) {
		t.Errorf("%+v, %v", id, err)
	}
}

// TestRevokedPasses: what may not log in at a host may not come there through a gateway either.
func TestRevokedPasses(t *testing.T) {
	p := newPasses(t)
	print, other := ssh.FingerprintSHA256(signer.New(t).PublicKey()), ssh.FingerprintSHA256(signer.New(t).PublicKey())
	pass := p.sign(t, person(func(id *Identity) { id.Fingerprint = print }))
	for text, want := range map[string]error{
		"":                                       nil,
		other:                                    nil,
		print:                                    ErrRevoked,
		ssh.FingerprintSHA256(pass.Key):          ErrRevoked,
		ssh.FingerprintSHA256(pass.SignatureKey): ErrRevoked,
		"id: ann@laptop " + print:                ErrRevoked,
		"a line that can't be read":              ErrCertificate,
	} {
		revoked, _ := parseRevoked("revoked", []byte(text))
		if err := (&Set{revoked: revoked}).CheckPass(pass, print); !errors.Is(err, want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	authority := signer.New(t)
	proven := userCert(t, authority)
	print = ssh.FingerprintSHA256(proven.Key)
	certified := p.sign(t, person(func(id *Identity) { id.Certificate, id.Fingerprint = proven.Marshal(), print }))
	people := ssh.FingerprintSHA256(authority.PublicKey())
	for text, want := range map[string]error{
		"": nil, "serial: 8": nil, "serial: 7 " + other: nil, "id: bob": nil,
		"serial: 7": ErrRevoked, "serial: 7-9 " + people: ErrRevoked, "id: ann in person": ErrRevoked, people: ErrRevoked, print: ErrRevoked,
	} {
		revoked, _ := parseRevoked("revoked", []byte(text))
		if err := (&Set{revoked: revoked}).CheckPass(certified, print); !errors.Is(err, want) {
			t.Errorf("the person's certificate, %q: %v", text, err)
		}
	}
	if err := (&Set{}).CheckPass(pass, ""); err != nil {
		t.Errorf("a caller on the gateway, without revocations: %v", err)
	}
}
