package sshd

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
	"berth/keys"
)

// The algorithms offered: only modern ones, with a choice for OpenSSH, paramiko, plink and dbclient
// (paramiko needs the ctr ciphers).
var (
	keyExchanges = []string{gossh.KeyExchangeMLKEM768X25519, gossh.KeyExchangeCurve25519}
	ciphers      = []string{gossh.CipherAES128GCM, gossh.CipherAES256GCM, gossh.CipherChaCha20Poly1305, gossh.CipherAES128CTR, gossh.CipherAES256CTR}
	macs         = []string{gossh.HMACSHA256ETM, gossh.HMACSHA512ETM}
	keyTypes     = []string{
		gossh.KeyAlgoED25519, gossh.KeyAlgoSKED25519,
		gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521, gossh.KeyAlgoSKECDSA256,
		gossh.KeyAlgoRSASHA256, gossh.KeyAlgoRSASHA512,
	}
)

// serverVersion is the first line that both ends see. It doesn't contain "OpenSSH", so that clients
// don't expect that server's extensions.
const serverVersion = "SSH-2.0-Berth"

// provenKey is the extension with the key that the client proved in the handshake, in wire
// format.
const provenKey = "key@berth"

const (
	maxUser    = 255
	maxOffered = 8
)

var errUserName = errors.New("the user name is too long")

// config is the server's side of c's handshake. On the local socket the client proves nothing,
// unless the server demands a key: the kernel has already identified it.
func (c *connection) config() *gossh.ServerConfig {
	limits := c.server.limits
	conf := &gossh.ServerConfig{
		Config:                  gossh.Config{KeyExchanges: keyExchanges, Ciphers: ciphers, MACs: macs},
		PublicKeyAuthAlgorithms: keyTypes,
		MaxAuthTries:            limits.AuthTries,
		ServerVersion:           serverVersion,
		PreAuthConnCallback:     func(gossh.ServerPreAuthConn) { c.server.startups.exchanged(c) },
	}
	if c.local && !c.needsKey() {
		conf.NoClientAuth = true
		conf.NoClientAuthCallback = c.admitPeer
		return conf
	}
	conf.PublicKeyCallback = c.checkKey
	conf.VerifiedPublicKeyCallback = c.keyProven
	return conf
}

// needsKey says whether a caller on the local socket has to prove a key. A caller inside a session
// doesn't: a key would give it no more rights.
func (c *connection) needsKey() bool {
	return c.refused == nil && c.peer.Kind == keys.KindLocal && c.peer.Role == keys.None
}

// admitPeer admits the process that the kernel identified at accept.
func (c *connection) admitPeer(meta gossh.ConnMetadata) (*gossh.Permissions, error) {
	if len(meta.User()) > maxUser {
		return nil, errUserName
	}
	if c.refused != nil {
		return nil, &gossh.BannerError{Err: c.refused, Message: "berth: " + c.refused.Error() + "\r\n"}
	}
	return &gossh.Permissions{}, nil
}

// checkKey answers for a key that a client offers. It records only the fingerprint, for the log: a
// client may offer any public key, and the returned permissions say which one it has proven.
func (c *connection) checkKey(meta gossh.ConnMetadata, key gossh.PublicKey) (*gossh.Permissions, error) {
	c.offer(meta.User(), gossh.FingerprintSHA256(keys.Plain(key)))
	if len(meta.User()) > maxUser {
		return nil, errUserName
	}
	if _, err := c.lookup(key); err != nil {
		c.tries++
		if c.tries == c.server.limits.AuthTries {
			return nil, &gossh.BannerError{Err: err, Message: c.manyKeys()}
		}
		return nil, err
	}
	return &gossh.Permissions{Extensions: map[string]string{provenKey: string(key.Marshal())}}, nil
}

// manyKeys explains what otherwise shows as "Too many authentication failures": an SSH agent with
// several keys offers the others first.
func (c *connection) manyKeys() string {
	return fmt.Sprintf("berth: none of the %d keys offered may log in here, and the server accepts no more offers.\r\n"+
		"Offer only the right key: ssh -o IdentitiesOnly=yes -i KEYFILE ...\r\n", c.tries)
}

// keyProven runs once the client has signed with the key, unless it has too many connections. It
// checks here which process the client is, before the connection counts: a session's agent has a
// share of its own, also for connections that open no channel. The rights are checked again after
// the handshake.
func (c *connection) keyProven(meta gossh.ConnMetadata, key gossh.PublicKey, p *gossh.Permissions, _ string) (*gossh.Permissions, error) {
	id, err := c.prove(key)
	if err != nil {
		c.denied = err
		return nil, &gossh.BannerError{Err: err, Message: "berth: " + err.Error() + "\r\n"}
	}
	c.proven.Store(&proof{key, id, meta.User()})
	c.server.startups.remove(c)
	return p, nil
}

// prove records who has proven the key, and counts the connection and the login for that caller.
func (c *connection) prove(key gossh.PublicKey) (keys.Identity, error) {
	id, err := c.identify(key)
	if err != nil {
		return keys.Identity{}, err
	}
	if !c.local && id.Kind == keys.KindAgent {
		err = c.shareProcess(id)
	} else {
		err = c.share(sharer(id), c.server.shares.connections)
	}
	if err != nil {
		return keys.Identity{}, err
	}
	return id, c.countLogin(id)
}

// sharer names the caller whose share a connection counts to. A caller for whom a fleet's gateway vouches has a share
// beside that of the key that it names: else a gateway that was taken over could use up the shares of the people who log
// in here themselves.
func sharer(id keys.Identity) string {
	who := cmp.Or(id.Fingerprint, id.Name)
	if id.ViaGateway() {
		who = id.Name + " " + who
	}
	return who
}

func (c *connection) countLogin(id keys.Identity) error {
	if !c.server.logins.take(id, c.server.clock()) {
		c.server.counts.manyLogins.Add(1)
		return errManyLogins
	}
	return nil
}

// lookup asks the key source.
func (c *connection) lookup(key gossh.PublicKey) (keys.Identity, error) {
	if c.carried != nil {
		return c.lookupCarried(key)
	}
	now := c.server.clock()
	id, err := c.server.keys.Lookup(key, c.wire.RemoteAddr(), now)
	if err == nil {
		err = admits(id, now)
	}
	if err != nil {
		return keys.Identity{}, err
	}
	id.Kind = keys.KindKey
	id.Fingerprint = gossh.FingerprintSHA256(keys.Plain(key))
	id.Source = c.wire.RemoteAddr().String()
	if c.local {
		id.Source, id.PID = c.peer.Source, c.peer.PID
	}
	return id, nil
}

// admits refuses an identity without a role, or with expired rights.
func admits(id keys.Identity, now time.Time) error {
	switch {
	case id.Role == keys.None:
		return errors.New("it has no role")
	case !id.Expires.IsZero() && !now.Before(id.Expires):
		return fmt.Errorf("it expired at %s", api.At(id.Expires).UTC().Format(time.RFC3339))
	}
	return nil
}

// establish decides who the client is, from what it has proven. It runs after the handshake and
// before the first channel gets data; later calls return the first one's answer.
//
// charm.land/ssh has no hook between the two. So a connection that opens no channel (ssh -N) has no
// identity until it opens one; its key is reviewed as any other, and TCP keepalive watches its
// network side.
func (c *connection) establish(conn *gossh.ServerConn) error {
	c.establishing.Do(func() {
		c.user = conn.User()
		id, err := c.identifyConn(conn)
		if err == nil && c.proven.Load() == nil { // a proven key's login is counted already
			err = c.countLogin(id)
		}
		if err != nil {
			c.refused = err
			c.tellRefused(err)
			return
		}
		c.identity.Store(&id)
		c.tell(id, c.user)
		c.watch(conn)
		c.review() // the keys may have changed before rounds could see this identity
	})
	return c.refused
}

// tell records, once, that a client logged in.
func (c *connection) tell(id keys.Identity, user string) {
	c.telling.Do(func() { c.server.acceptedLogin(c, id, user) })
}

// tellRefused records that the client was refused. If the log already has its login, its access
// has ended since.
func (c *connection) tellRefused(err error) {
	first := false
	c.telling.Do(func() {
		first = true
		c.server.refusedLogin(c, err)
	})
	if !first {
		c.server.log.Info("access ended", "conn", c.id, "source", c.source(), "reason", err)
	}
}

// tellUnused is tell for a connection that has logged in and opened no channel.
func (c *connection) tellUnused() {
	if p := c.proven.Load(); p != nil {
		c.tell(p.id, p.user)
	} else if c.local && c.refused == nil {
		c.tell(c.peer, "")
	}
}

// watch starts the checks that end the connection when its client is gone.
func (c *connection) watch(conn *gossh.ServerConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.workers.Go(func() { c.keepAlive(conn) })
	}
}

// identifyConn returns the identity of a client whose handshake is over.
func (c *connection) identifyConn(conn *gossh.ServerConn) (keys.Identity, error) {
	if c.local && !c.needsKey() {
		return c.peer, nil
	}
	if conn.Permissions == nil {
		return keys.Identity{}, errors.New("no key was proven")
	}
	key, err := gossh.ParsePublicKey([]byte(conn.Permissions.Extensions[provenKey]))
	if err != nil {
		return keys.Identity{}, fmt.Errorf("no key was proven: %w", err)
	}
	c.key = key
	return c.identify(key)
}

// identify returns the identity of a client that has proven a key: the key's, or over TCP the
// identity of the session that the client's process belongs to.
func (c *connection) identify(key gossh.PublicKey) (keys.Identity, error) {
	id, err := c.lookup(key)
	if err != nil || c.local || c.carried != nil {
		return id, err
	}
	if c.caller == nil {
		c.caller = c.server.callerOf(c.wire)
	}
	return c.caller.identity(id)
}
