package gateway

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"berth/fleet/invite"
	"berth/fleet/join"
	"berth/fleet/realm"
)

// carrier is the NATS that carries the fleet: the gateway's own server, or a cluster that other people run. Its methods
// may be called from any goroutine.
type carrier interface {
	users() realm.Users
	removed(key string) bool // a host with that key never gets rights again
	way() (url string, options []nats.Option)
	address() string // where the gateway listens, or the cluster's URLs
	invite(name, by string) (invite.Token, error)
	remove(h join.Host) error // takes the host's rights, and then its place in the roster
	explain(error) error      // of the fleet's stream
	close()
}

// own is a NATS server in a program of the gateway's own.
type own struct {
	program *program
	realm   *realm.Realm
	pin     realm.Pin
	book    *invite.Book
	roster  *join.Roster
	o       Options
}

func startOwn(o Options, book *invite.Book, roster *join.Roster) (*own, error) {
	c := &own{o: o, book: book, roster: roster}
	var err error
	if c.realm, err = realm.Open(realm.KeysFile(o.Dir)); err != nil {
		return nil, err
	}
	if _, c.pin, err = realm.Certificate(realm.CertificateFile(o.Dir), o.Now()); err != nil {
		return nil, err
	}
	c.program, err = startProgram(o.Program, o.Dir, o.Listen, o.Log)
	return c, err
}

func (c *own) users() realm.Users      { return c.realm.Users }
func (c *own) removed(key string) bool { return c.realm.Removed(key) }
func (c *own) address() string         { return c.program.address }
func (c *own) explain(err error) error { return err }
func (c *own) close()                  { c.program.close() }

// way is to the program that runs, wherever that listens for this process.
func (c *own) way() (string, []nats.Option) {
	return "tls://127.0.0.1", []nats.Option{nats.Secure(realm.Pinned(c.pin)), nats.TLSHandshakeFirst(), nats.SetCustomDialer(c.program)}
}

func (c *own) invite(name, by string) (invite.Token, error) {
	return c.book.New(name, c.o.Address(c.program.address), by, c.pin)
}

func (c *own) remove(h join.Host) error {
	// The rights go first: a host whose removal is interrupted here is still listed, and can be removed again.
	if err := c.realm.Remove(h.Key, c.o.Now()); err != nil {
		return err
	}
	if err := c.program.read(); err != nil {
		return fmt.Errorf("end the connection of %s: %w", h.Name, err)
	}
	_, err := c.roster.Remove(h.Name)
	return err
}
