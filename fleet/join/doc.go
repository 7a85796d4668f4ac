// Package join is how a host becomes a member of a fleet, and how a member reaches its gateway.
//
// The host has a token (fleet/invite). Join makes an nkey, asks the gateway over NATS as a client
// without credentials, and keeps what it gets in a Membership: a file. Connect then dials the gateway for ever.
// On the gateway an Office answers, and keeps each host in a Roster.
//
// A host that got no answer may ask again: the key is on disk before the first question, and the
// gateway gives the same key the same answer. So it doesn't matter which side is killed when.
//
// On a NATS cluster that other people run, the host asks as a user that the token has. What the cluster's admins see
// and change there doesn't help them: the question proves the token's secret and doesn't contain it, and the host takes
// an answer of the fleet's authority alone, which it knows from the token.
package join

import (
	"encoding/json"
	"errors"
)

// Why a host isn't admitted. The texts reach the person who runs fleet join.
var (
	ErrName    = errors.New("a host of this name is in the fleet already: remove it with fleet rm, or invite another name")
	ErrRefused = errors.New("the gateway refused")
	ErrRemoved = errors.New("this host was removed from the fleet: make a new token with fleet invite")
	ErrHostKey = errors.New("the host has sent no SSH host key that can be read")
	ErrRetired = errors.New("a host of this name was removed from the fleet, and on a NATS cluster its name isn't given again, because it could still read what goes to that name: choose another name")
	ErrGateway = errors.New("the answer isn't of the gateway that made the token: nothing was changed")
)

// question is what a host sends. On a cluster it has a proof and no secret.
type question struct {
	ID       string   `json:"id"`               // of the token, hex
	Secret   string   `json:"secret,omitempty"` // of the token, hex
	Key      string   `json:"key"`              // the public nkey
	HostKeys []string `json:"host_keys"`
	Proof    []byte   `json:"proof,omitempty"` // the signature of the rest, by the token's key
}

// signed is what a question's proof signs.
func (q question) signed() ([]byte, error) {
	q.Proof = nil
	return json.Marshal(q)
}

// answer is what it gets. Nothing in it is secret.
type answer struct {
	Error     string `json:"error,omitempty"`
	Name      string `json:"name,omitempty"`
	JWT       string `json:"jwt,omitempty"`
	Authority string `json:"authority,omitempty"` // of passes
}

const (
	questionMost = 4 << 10
	hostKeysMost = 4
)
