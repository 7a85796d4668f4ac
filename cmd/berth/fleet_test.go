package main

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/fleet/join"
	"berth/fleet/member"
	"berth/keys"
	"berth/sshd"
	"berth/test/signer"
)

// passSource is a member's source of rights.
type passSource struct{ rules keys.PassRules }

func (p passSource) Lookup(key gossh.PublicKey, _ net.Addr, now time.Time) (keys.Identity, error) {
	return p.rules.Identity(key, now)
}
func (passSource) Changed() <-chan struct{} { return nil }

// inFleet is a member that isn't connected.
func inFleet(t *testing.T, authority, host gossh.PublicKey) *member.Member {
	t.Helper()
	membership, err := json.Marshal(join.Membership{Name: "box2", Authority: string(gossh.MarshalAuthorizedKey(authority)), MaxRole: "operator"})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "fleet.json")
	if err := os.WriteFile(file, membership, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := member.New(member.Options{File: file, HostKeys: []gossh.PublicKey{host}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRevokedOnTheHost: a person whose key this server has revoked doesn't come in through the fleet's gateway, and
// what came in before has no rights any more.
func TestRevokedOnTheHost(t *testing.T) {
	dir := t.TempDir()
	authority, gateway, host, ann := signer.New(t), signer.New(t), signer.New(t), signer.New(t)
	store, err := keys.OpenStore(keys.StoreOptions{Revoked: filepath.Join(dir, "revoked_keys")})
	if err != nil {
		t.Fatal(err)
	}
	hostKeys := []gossh.PublicKey{host.PublicKey()}
	s := &server{keys: store}
	s.fleet.member = inFleet(t, authority.PublicKey(), host.PublicKey())
	print := gossh.FingerprintSHA256(ann.PublicKey())
	pass, err := keys.Pass{
		Person: keys.Identity{Kind: keys.KindKey, Name: "ann", Fingerprint: print, Role: keys.Operator}, Gateway: gateway.PublicKey(), GatewayName: "gw", Host: "box2", HostKey: host.PublicKey(),
	}.Sign(authority, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	source := unrevoked{passSource{keys.PassRules{Authority: authority.PublicKey(), Host: "box2", HostKeys: hostKeys, MaxRole: keys.Operator}}, store}

	if id, err := source.Lookup(pass, nil, time.Now()); err != nil || id.Name != "ann via gw" {
		t.Fatalf("before: %+v, %v", id, err)
	}
	if _, is, err := s.passRights(pass.Marshal()); !is || !errors.Is(err, keys.ErrNotYet) { // the gateway would be asked
		t.Fatalf("its rights before: %v, %v", is, err)
	}
	changed := source.Changed()
	if err := os.WriteFile(filepath.Join(dir, "revoked_keys"), []byte(print+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store.Reload()
	select {
	case <-changed:
	default:
		t.Error("what is open isn't reviewed")
	}
	if _, err := source.Lookup(pass, nil, time.Now()); !errors.Is(err, keys.ErrRevoked) {
		t.Errorf("after: %v", err)
	}
	if _, is, err := s.passRights(pass.Marshal()); !is || !errors.Is(err, keys.ErrRevoked) {
		t.Errorf("its rights after: %v, %v", is, err)
	}
	if _, err := (unrevoked{sshd.StoreKeys(store), store}).Lookup(ann.PublicKey(), nil, time.Now()); !errors.Is(err, keys.ErrRevoked) {
		t.Errorf("the person's own key, end to end: %v", err)
	}
}
