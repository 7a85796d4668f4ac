package realm

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"
)

// ErrAccount says that a text isn't what Tenant reads.
var ErrAccount = errors.New("it needs the seed of the account's key, or of a signing key with the account's id on the next line")

// Users signs the users of one account: hosts and gateways.
type Users struct {
	key     nkeys.KeyPair // the account's, or one of its signing keys
	account string        // the account of the signing key; empty for the account's own key
}

// Tenant reads the key of an account that a NATS cluster has for a fleet: a line with the seed, and for a signing key
// a line with the account's public key. Lines that start with # are comments.
func Tenant(text string) (Users, error) {
	lines := strings.Fields(uncommented(text))
	if len(lines) == 0 || len(lines) > 2 {
		return Users{}, ErrAccount
	}
	pair, err := nkeys.FromSeed([]byte(lines[0]))
	if err != nil || !nkeys.IsValidPublicAccountKey(public(pair)) {
		return Users{}, ErrAccount
	}
	u := Users{key: pair}
	if len(lines) == 2 && lines[1] != public(pair) {
		if u.account = lines[1]; !nkeys.IsValidPublicAccountKey(u.account) {
			return Users{}, ErrAccount
		}
	}
	return u, nil
}

func uncommented(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			out.WriteString(line)
		}
	}
	return out.String()
}

// Account is the public key of the account.
func (u Users) Account() string {
	if u.account != "" {
		return u.account
	}
	return public(u.key)
}

// Host is the JWT of a host's user. The seed of the key stays on the host.
func (u Users) Host(name, key string) (string, error) {
	c, err := user(HostUser+name, key)
	if err != nil {
		return "", err
	}
	c.Pub.Allow.Add("berth.from." + name + ".>")
	c.Sub.Allow.Add("berth.to." + name + ".>")
	return u.sign(c)
}

// Gateway is the JWT of a gateway's user.
func (u Users) Gateway(key string) (string, error) {
	c, err := user("gateway", key)
	if err != nil {
		return "", err
	}
	c.Pub.Allow.Add(">") // without a permission, the account's default ones would count
	c.Sub.Allow.Add(">")
	return u.sign(c)
}

// Invited is the JWT of a host that has the token with that id and hasn't joined: it asks to join, reads the answer
// below InboxOf the token, and can do nothing after the token's end. It shares the account with the hosts.
func (u Users) Invited(id, key string, until time.Time) (string, error) {
	c, err := user("joiner", key)
	if err != nil {
		return "", err
	}
	c.Expires = until.Unix()
	c.Pub.Allow.Add(JoinSubject)
	c.Sub.Allow.Add(InboxOf(id) + ".*.*")
	c.Limits.Subs, c.Limits.Payload = joinerSubjects, joinerPayload
	return u.sign(c)
}

// InboxOf is where a host that joins with the token of that id reads its answer, on a cluster.
func InboxOf(id string) string { return JoinInbox + "." + id }

func user(name, key string) (*jwt.UserClaims, error) {
	if !nkeys.IsValidPublicUserKey(key) {
		return nil, fmt.Errorf("%q isn't the public key of a user", key)
	}
	c := jwt.NewUserClaims(key)
	c.Name = name
	c.AllowedConnectionTypes.Add(jwt.ConnectionTypeStandard)
	return c, nil
}

func (u Users) sign(c *jwt.UserClaims) (string, error) {
	c.IssuerAccount = u.account
	text, err := c.Encode(u.key)
	if err != nil {
		return "", fmt.Errorf("sign the user %s: %w", c.Name, err)
	}
	return text, nil
}
