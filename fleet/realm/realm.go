// Package realm says who may do what on a fleet's NATS: the keys of an operator and its accounts, and the
// JWTs that they sign. It knows NATS' rights alone; what a person may do is decided by each host, from keys
// and passes.
//
// Two accounts have users, and share nothing but one service. In the fleet's account each host has an
// nkey user that may publish below berth.from.HOST and read below berth.to.HOST; a gateway may do all.
// In the account for joining is a client without credentials; it may ask berth.join and read the
// answer to itself.
//
// A Realm is a file of the gateway's. It is read once; Remove writes it.
//
// On a NATS cluster that other people run, a fleet has one account and no realm: Users, made by Tenant, signs its hosts
// and gateways. A host that joins is then a user of the same account, with a right to berth.join and to its own inbox.
// Nothing there takes the rights of a user back: see docs/decisions/fleet.md.
package realm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// JoinSubject is where a host asks to join.
const JoinSubject = "berth.join"

// Limits of clients that have not joined, all together and each.
const (
	joinersMost    = 32
	joinerPayload  = 4 << 10
	joinerSubjects = 2
)

// subjects is how many subjects a connection to the fleet reads at once, each with a copy of what is sent: a host has
// five, and a gateway ten. It is a limit of the account, so it is also for the hosts that joined long ago.
const subjects = 24

// HostUser begins the name of a host's user.
const HostUser = "host "

// StreamBytes is the most that the fleet's events may take on the gateway's disk. Readers of the stream are gateways
// alone, with one consumer each, and what an ended one leaves goes after seconds.
const (
	StreamBytes     = 1 << 30
	streamConsumers = 64
)

// KeysFile and CertificateFile are where a gateway's folder has the realm's keys, and the TLS key.
func KeysFile(dir string) string        { return filepath.Join(dir, "keys.json") }
func CertificateFile(dir string) string { return filepath.Join(dir, "tls.pem") }

// StreamDir is where its NATS server keeps the fleet's events.
func StreamDir(dir string) string { return filepath.Join(dir, "events") }

// Realm is a fleet's keys. Its methods may be called from any goroutine.
type Realm struct {
	Users                         // of the fleet's account
	path                          string
	operator, system, fleet, join nkeys.KeyPair

	mu      sync.Mutex
	removed map[string]int64 // public keys of users, and when they were removed
}

// file is a Realm's file.
type file struct {
	Operator string           `json:"operator"` // seeds
	System   string           `json:"system"`
	Fleet    string           `json:"fleet"`
	Join     string           `json:"join"`
	Removed  map[string]int64 `json:"removed"`
}

// Open reads the file, or makes it with new keys.
func Open(path string) (*Realm, error) {
	var f file
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return create(path)
	case err != nil:
		return nil, fmt.Errorf("read the fleet's keys: %w", err)
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("read the fleet's keys from %s: %w", path, err)
	}
	added := f.System == "" // the file is of a fleet without events
	if added {
		pair, err := nkeys.CreateAccount()
		if err != nil {
			return nil, fmt.Errorf("make the fleet's keys: %w", err)
		}
		f.System = seed(pair)
	}
	r := &Realm{path: path, removed: f.Removed}
	if r.removed == nil {
		r.removed = map[string]int64{}
	}
	for _, k := range []struct {
		to   *nkeys.KeyPair
		seed string
	}{{&r.operator, f.Operator}, {&r.system, f.System}, {&r.fleet, f.Fleet}, {&r.join, f.Join}} {
		if *k.to, err = nkeys.FromSeed([]byte(k.seed)); err != nil {
			return nil, fmt.Errorf("read the fleet's keys from %s: %w", path, err)
		}
	}
	r.Users = Users{key: r.fleet}
	if added {
		return r, r.write()
	}
	return r, nil
}

func create(path string) (*Realm, error) {
	r := &Realm{path: path, removed: map[string]int64{}}
	var errs [4]error
	r.operator, errs[0] = nkeys.CreateOperator()
	r.system, errs[1] = nkeys.CreateAccount()
	r.fleet, errs[2] = nkeys.CreateAccount()
	r.join, errs[3] = nkeys.CreateAccount()
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("make the fleet's keys: %w", err)
	}
	r.Users = Users{key: r.fleet}
	return r, r.write()
}

// write replaces the file, in one step.
func (r *Realm) write() error {
	f := file{Operator: seed(r.operator), System: seed(r.system), Fleet: seed(r.fleet), Join: seed(r.join), Removed: r.removed}
	data, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write the fleet's keys: %w", err)
	}
	if err := replace(r.path, append(data, '\n')); err != nil {
		return fmt.Errorf("write the fleet's keys: %w", err)
	}
	return nil
}

// replace writes a file that only its owner reads, in one step, so that a kill leaves all of it or none.
func replace(path string, data []byte) error {
	aside, err := os.CreateTemp(filepath.Dir(path), ".fleet-") // mode 0600
	if err != nil {
		return err
	}
	_, err = aside.Write(data)
	if err = errors.Join(err, aside.Sync(), aside.Close()); err == nil {
		err = os.Rename(aside.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(aside.Name()))
	}
	return nil
}

// public and seed can't fail for a pair that was made from a seed.
func public(k nkeys.KeyPair) string {
	s, _ := k.PublicKey()
	return s
}

func seed(k nkeys.KeyPair) string {
	s, _ := k.Seed()
	return string(s)
}

// Operator is the claim that a NATS server trusts.
func (r *Realm) Operator() (*jwt.OperatorClaims, error) {
	c := jwt.NewOperatorClaims(public(r.operator))
	c.Name = "berth"
	text, err := c.Encode(r.operator)
	if err != nil {
		return nil, fmt.Errorf("sign the operator: %w", err)
	}
	return jwt.DecodeOperatorClaims(text)
}

// System is the public key of the account of the NATS server itself. It has no users.
func (r *Realm) System() string { return public(r.system) }

// Fleet is the public key of the account of hosts and gateways.
func (r *Realm) Fleet() string { return public(r.fleet) }

// Accounts are the JWTs of the accounts, by public key.
func (r *Realm) Accounts() (map[string]string, error) {
	fleet := jwt.NewAccountClaims(public(r.fleet))
	fleet.Name = "fleet"
	fleet.Exports = jwt.Exports{{Name: "join", Subject: JoinSubject, Type: jwt.Service}}
	fleet.Limits.Subs = subjects
	fleet.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: StreamBytes, Streams: 1, Consumer: streamConsumers}
	r.mu.Lock()
	for key, at := range r.removed {
		fleet.RevokeAt(key, time.Unix(at, 0))
	}
	r.mu.Unlock()
	join := jwt.NewAccountClaims(public(r.join))
	join.Name = "join"
	join.Imports = jwt.Imports{{Name: "join", Subject: JoinSubject, Account: public(r.fleet), Type: jwt.Service}}
	join.Limits.Conn, join.Limits.LeafNodeConn = joinersMost, 0
	system := jwt.NewAccountClaims(public(r.system))
	system.Name = "system"
	out := map[string]string{}
	for _, c := range []*jwt.AccountClaims{system, fleet, join} {
		text, err := c.Encode(r.operator)
		if err != nil {
			return nil, fmt.Errorf("sign the account %s: %w", c.Name, err)
		}
		out[c.Subject] = text
	}
	return out, nil
}

// Joiner is the JWT of a client without credentials. Its seed isn't a secret: the token is, and only the
// gateway reads that.
func (r *Realm) Joiner() (string, error) {
	k, err := nkeys.CreateUser()
	if err != nil {
		return "", fmt.Errorf("make a key: %w", err)
	}
	c, err := user("joiner", public(k))
	if err != nil {
		return "", err
	}
	c.BearerToken = true
	c.Pub.Allow.Add(JoinSubject)
	c.Sub.Allow.Add(JoinInbox + ".*.*")
	c.Limits.Subs, c.Limits.Payload = joinerSubjects, joinerPayload
	return Users{key: r.join}.sign(c)
}

// JoinInbox is where a joining host reads its answer, as nats.CustomInboxPrefix.
const JoinInbox = "berth.joined"

// Removed says whether a key was removed. It never gets rights again, also with a token that it had used.
func (r *Realm) Removed(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, removed := r.removed[key]
	return removed
}

// Remove takes a host's rights: no NATS server that has the new Accounts admits the key again. It is on
// disk when Remove returns.
func (r *Realm) Remove(key string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := maps.Clone(r.removed)
	r.removed[key] = now.Unix()
	if err := r.write(); err != nil {
		r.removed = before
		return err
	}
	return nil
}
