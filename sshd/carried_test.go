package sshd

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// passes is a KeySource of passes, whose rules tests change.
type passes struct {
	mu      sync.Mutex
	rules   keys.PassRules
	changes chan struct{}
}

func (p *passes) Lookup(key gossh.PublicKey, _ net.Addr, now time.Time) (keys.Identity, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rules.Identity(key, now)
}

func (p *passes) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changes
}

func (p *passes) change(f func(*keys.PassRules)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.rules)
	close(p.changes)
	p.changes = make(chan struct{})
}

// carrier is a gateway that reaches the server by a listener of its own.
type carrier struct {
	*harness
	ca, own keyPair
	host    gossh.PublicKey
	passes  *passes
	address net.Addr
}

func carry(t *testing.T, serve func(context.Context, *Session) int, change ...func(*Options)) *carrier {
	t.Helper()
	c := &carrier{}
	c.harness = start(t, serve, append(change, func(o *Options) { c.host = o.HostKeys[0].PublicKey() })...)
	c.ca, c.own = newKey(t, c.dir, "ca"), newKey(t, c.dir, "gateway")
	c.passes = &passes{changes: make(chan struct{}), rules: keys.PassRules{Authority: c.ca.public(), Host: "box2", HostKeys: []gossh.PublicKey{c.host}, MaxRole: keys.Operator}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.address = l.Addr()
	if err := c.server.Carry(l, c.passes); err != nil {
		t.Fatal(err)
	}
	return c
}

// pass signs for the gateway's own key.
func (c *carrier) pass(id keys.Identity) gossh.Signer {
	c.t.Helper()
	cert, err := keys.Pass{Person: id, Gateway: c.own.public(), GatewayName: "gw", Host: "box2", HostKey: c.host}.Sign(c.ca.signer, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	signer, err := gossh.NewCertSigner(cert, c.own.signer)
	if err != nil {
		c.t.Fatal(err)
	}
	return signer
}

func dialWith(address net.Addr, signer gossh.Signer) (*gossh.Client, error) {
	return gossh.Dial("tcp", address.String(), &gossh.ClientConfig{User: "agents", Auth: []gossh.AuthMethod{gossh.PublicKeys(signer)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 10 * time.Second})
}

var ann = keys.Identity{Kind: keys.KindKey, Name: "ann@laptop", Fingerprint: "SHA256:" + strings.Repeat("a", 43), Role: keys.Admin}

// TestCarried serves a person for whom a gateway vouches, and no one else: not the gateway itself, not a key
// of the key file, and not the pass over TCP.
func TestCarried(t *testing.T) {
	seen := make(chan keys.Identity, 1)
	c := carry(t, func(_ context.Context, s *Session) int { seen <- s.Identity(); return 0 })
	client, err := dialWith(c.address, c.pass(ann))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	session, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run("x"); err != nil {
		t.Error(err)
	}
	id := <-seen
	if id.Name != "ann@laptop via gw" || id.Fingerprint != ann.Fingerprint || id.Role != keys.Operator || id.Kind != keys.KindKey {
		t.Errorf("the caller is %+v", id)
	}
	if l := c.audited(); len(l) != 1 || !l[0].Accepted || l[0].Identity.Name != id.Name || !strings.Contains(l[0].Identity.Line, "gw") {
		t.Errorf("the audit log has %+v", l)
	}
	for name, try := range map[string]struct {
		address net.Addr
		signer  gossh.Signer
	}{
		"the gateway itself":       {c.address, c.own.signer},
		"a key of the key file":    {c.address, c.admin.signer},
		"the authority":            {c.address, c.ca.signer},
		"a pass at the TCP socket": {c.server.Addr(), c.pass(ann)},
	} {
		if other, err := dialWith(try.address, try.signer); err == nil {
			_ = other.Close()
			t.Errorf("%s was admitted", name)
		}
	}
}

// TestCarriedReviews: a pass that has expired since the login ends nothing. Another rule does, as does the
// end of the person's own rights.
func TestCarriedReviews(t *testing.T) {
	var mu sync.Mutex
	late := time.Duration(0)
	clock := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return time.Now().Add(late)
	}
	began := make(chan *Session, 1)
	c := carry(t, func(ctx context.Context, s *Session) int { began <- s; <-ctx.Done(); return 0 }, func(o *Options) { o.Now = clock })
	open := func(id keys.Identity) (*Session, chan error) {
		client, err := dialWith(c.address, c.pass(id))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		session, err := client.NewSession()
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- session.Run("x") }()
		return <-began, ended
	}
	limited := ann
	limited.Expires = time.Now().Add(2 * time.Hour)
	stays, staysEnded := open(ann)
	_, limitedEnded := open(limited)
	mu.Lock()
	late = time.Hour
	mu.Unlock()
	c.passes.change(func(r *keys.PassRules) { r.MaxRole = keys.Viewer }) // which also reviews
	eventually(t, "the lower role", func() bool { return stays.Identity().Role == keys.Viewer })
	for name, ended := range map[string]chan error{"without an end": staysEnded, "with a later end": limitedEnded} {
		select {
		case err := <-ended:
			t.Errorf("the session %s has ended: %v", name, err)
		default:
		}
	}
	mu.Lock()
	late = 3 * time.Hour
	mu.Unlock()
	c.passes.change(func(*keys.PassRules) {})
	within := func(what string, ended chan error) {
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Errorf("%s doesn't end the session", what)
		}
	}
	within("the end of the person's rights", limitedEnded)
	c.passes.change(func(r *keys.PassRules) { r.Authority = c.own.public() })
	within("leaving the fleet", staysEnded)
}

// TestCarriedShares counts connections by person, not by gateway, and beside those of a person who comes without the
// gateway.
func TestCarriedShares(t *testing.T) {
	c := carry(t, func(context.Context, *Session) int { return 0 }, func(o *Options) { o.Limits.Share = 2 })
	ann, bob := ann, ann
	ann.Fingerprint = gossh.FingerprintSHA256(c.admin.public())
	bob.Name, bob.Fingerprint = "bob", "SHA256:"+strings.Repeat("b", 43)
	for _, try := range []struct {
		who  keys.Identity
		fits bool
	}{{ann, true}, {ann, true}, {ann, false}, {bob, true}} {
		client, err := dialWith(c.address, c.pass(try.who))
		if err == nil {
			t.Cleanup(func() { _ = client.Close() })
		}
		if (err == nil) != try.fits {
			t.Errorf("%s: %v", try.who.Name, err)
		}
	}
	if client, err := dialWith(c.server.Addr(), c.admin.signer); err != nil {
		t.Errorf("the person's own login, after the gateway's: %v", err)
	} else {
		_ = client.Close()
	}
}
