package member

import (
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/join"
	"berth/fleet/registry"
	"berth/keys"
	"berth/test/cluster"
	"berth/test/signer"
)

const patience = 30 * time.Second

// fleet is a host, and what its gateway answers.
type fleet struct {
	t                        *testing.T
	authority, gateway, host gossh.Signer
	member                   *Member
	nc                       *nats.Conn
	answer                   atomic.Pointer[registry.Renewed] // nil: none
	asked                    atomic.Int64
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	server := cluster.Plain(t, 0)
	connect := func() *nats.Conn {
		nc, err := nats.Connect(server.ClientURL())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nc.Close)
		return nc
	}
	f := &fleet{t: t, authority: signer.New(t), gateway: signer.New(t), host: signer.New(t), nc: connect()}
	f.member = &Member{}
	f.member.in.Store(&joined{
		Membership: join.Membership{Name: "box2"}, nc: connect(),
		rules: keys.PassRules{Authority: f.authority.PublicKey(), Host: "box2", HostKeys: []gossh.PublicKey{f.host.PublicKey()}, MaxRole: keys.Operator},
	})
	_, err := f.nc.Subscribe("berth.from.box2."+registry.RenewSubject, func(m *nats.Msg) {
		a := f.answer.Load()
		if f.asked.Add(1); a == nil {
			return
		}
		data, err := json.Marshal(a)
		if err == nil {
			err = m.Respond(data)
		}
		if err != nil {
			t.Error(err)
		}
	})
	if err == nil {
		err = f.nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// pass is one for a person who had the role operator, made an hour ago or later.
func (f *fleet) pass(ago time.Duration, change func(*keys.Pass)) *gossh.Certificate {
	f.t.Helper()
	p := keys.Pass{
		Person:  keys.Identity{Kind: keys.KindKey, Name: "ann", Fingerprint: gossh.FingerprintSHA256(f.gateway.PublicKey()), Role: keys.Operator},
		Gateway: f.gateway.PublicKey(), GatewayName: "gw", Host: "box2", HostKey: f.host.PublicKey(),
	}
	if change != nil {
		change(&p)
	}
	cert, err := p.Sign(f.authority, time.Now().Add(-ago))
	if err != nil {
		f.t.Fatal(err)
	}
	return cert
}

// rights waits for the gateway's answer.
func (f *fleet) rights(pass *gossh.Certificate) (keys.Identity, error) {
	f.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) { // nothing says when it is here
		id, err := f.member.Rights(pass)
		if !errors.Is(err, keys.ErrNotYet) {
			return id, err
		}
		if time.Now().After(end) {
			f.t.Fatal("there is no answer")
		}
	}
}

// TestRenewed: what a caller of the gateway has left here has the rights that the gateway gives the caller now.
func TestRenewed(t *testing.T) {
	f := newFleet(t)
	newer := func(change func(*keys.Pass)) *registry.Renewed {
		return &registry.Renewed{Pass: f.pass(0, change).Marshal()}
	}
	soon := time.Now().Add(time.Second)
	for name, c := range map[string]struct {
		answer *registry.Renewed
		role   keys.Role
		want   error
	}{
		"the same rights":       {newer(nil), keys.Operator, nil},
		"a lower role":          {newer(func(p *keys.Pass) { p.Person.Role = keys.Viewer }), keys.Viewer, nil},
		"more than max_role":    {newer(func(p *keys.Pass) { p.Person.Role = keys.Admin }), keys.Operator, nil},
		"removed":               {&registry.Renewed{Error: "the key is in no key file"}, 0, keys.ErrPass},
		"another person":        {newer(func(p *keys.Pass) { p.Person.Fingerprint = gossh.FingerprintSHA256(f.host.PublicKey()) }), 0, keys.ErrPass},
		"for another host":      {newer(func(p *keys.Pass) { p.Host = "box3" }), 0, keys.ErrPass},
		"access that has ended": {newer(func(p *keys.Pass) { p.Person.Expires = soon }), 0, keys.ErrExpired},
		"nothing":               {&registry.Renewed{}, 0, keys.ErrPass},
	} {
		f.answer.Store(c.answer)
		pass := f.pass(time.Hour, nil) // each has its own serial
		if c.want == keys.ErrExpired {
			time.Sleep(time.Until(soon)) // as it may while the answer counts
		}
		if id, err := f.rights(pass); !errors.Is(err, c.want) || id.Role != c.role && err == nil {
			t.Errorf("%s: %+v, %v", name, id, err)
		}
	}

	// Two callers without keys differ by their names.
	f.answer.Store(newer(func(p *keys.Pass) {
		p.Person = keys.Identity{Kind: keys.KindLocal, Name: "local:root", Role: keys.Operator}
	}))
	if id, err := f.rights(f.pass(time.Hour, func(p *keys.Pass) {
		p.Person = keys.Identity{Kind: keys.KindLocal, Name: "local:bob", Role: keys.Operator}
	})); !errors.Is(err, keys.ErrPass) {
		t.Errorf("another caller on the gateway: %+v, %v", id, err)
	}
}

// TestNotRenewed: a gateway that doesn't answer, or can't say, is asked again; no call waits for it.
func TestNotRenewed(t *testing.T) {
	f := newFleet(t)
	pass := f.pass(time.Hour, nil)
	f.answer.Store(&registry.Renewed{Again: true})
	for end := time.Now().Add(patience); f.asked.Load() < 2; time.Sleep(5 * time.Millisecond) {
		if id, err := f.member.Rights(pass); !errors.Is(err, keys.ErrNotYet) || time.Now().After(end) {
			t.Fatalf("asked %d times: %+v, %v", f.asked.Load(), id, err)
		}
	}
	f.answer.Store(&registry.Renewed{Pass: f.pass(0, nil).Marshal()})
	if id, err := f.rights(pass); err != nil || id.Name != "ann via gw" {
		t.Errorf("%+v, %v", id, err)
	}
	// What it said counts for a while, and then no more.
	f.member.renewals.known[string(pass.Marshal())].got = time.Now().Add(-renewLasts - 1)
	if id, err := f.member.Rights(pass); !errors.Is(err, keys.ErrNotYet) {
		t.Errorf("an old answer: %+v, %v", id, err)
	}
	// Passes that nothing asks about any more are forgotten.
	r, now := &f.member.renewals, time.Now().Add(time.Hour)
	if _, err := r.of(nil, "box2", f.pass(time.Hour, nil), now); !errors.Is(err, keys.ErrNotYet) {
		t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) > 2 { // the new one, and one that may be asked about just now
		t.Errorf("%d are kept", len(r.known))
	}
}
