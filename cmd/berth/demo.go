package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"berth/config"
	"berth/keys"
	"berth/sessions"
)

// demoSession is the session that serve --demo keeps.
const demoSession = "demo"

// demoSetup is what serve --demo prepares for a new user.
type demoSetup struct {
	identity string // the private key that was made; empty if the user's own keys may log in
}

// newDemo admits the user's own public keys, or makes a key pair in the state folder if there are
// none, unless the configuration names keys.
func newDemo(c *config.Config) (*demoSetup, error) {
	if len(c.Authorize) > 0 {
		return &demoSetup{}, nil
	}
	own, err := ownKeys(config.CurrentAccount().Home)
	if err != nil {
		return nil, err
	}
	if len(own) > 0 {
		c.Authorize = own
		return &demoSetup{}, nil
	}
	path := filepath.Join(c.StateDir, "user_key")
	if _, err := os.Stat(path); err != nil {
		if _, err := keys.GenerateUserKey(path); err != nil {
			return nil, err
		}
	}
	c.Authorize = []string{path + ".pub"}
	return &demoSetup{identity: path}, nil
}

// ownKeys lists the public keys that ssh offers without options.
func ownKeys(home string) ([]string, error) {
	var own []string
	for _, kind := range []string{"ed25519", "ed25519_sk", "ecdsa", "ecdsa_sk", "rsa"} {
		found, err := filepath.Glob(filepath.Join(home, ".ssh", "id_"+kind+".pub"))
		if err != nil {
			return nil, fmt.Errorf("look for your public keys: %w", err)
		}
		own = append(own, found...)
	}
	slices.Sort(own)
	return own, nil
}

// begin starts the demo session and prints what to try.
func (t *demoSetup) begin(ctx context.Context, s *server) error {
	if demo, ok := s.sessions.Find(demoSession); !ok {
		spec := sessions.Defaults()
		spec.Name = demoSession
		if _, err := s.sessions.New(ctx, spec, server0); err != nil {
			return err
		}
	} else if !demo.Status().Running() {
		if err := s.sessions.Restart(ctx, demo, server0); err != nil {
			return err
		}
	}
	to := address(s.edge.Addr())
	if t.identity != "" {
		to = "-i " + t.identity + " " + to
	}
	fmt.Printf(`
Try it from another terminal:

  ssh %[1]s                       the dashboard; q leaves it, ? helps
  ssh -t %[1]s attach demo        share the demo session's shell; Ctrl-] d leaves it, Ctrl-] ? helps
  ssh %[1]s ls                    the sessions, as JSON
  ssh %[1]s input demo --enter "echo hello"
  ssh %[1]s screen demo --text
  ssh %[1]s watch                 every event, one a line
  ssh %[1]s help

Ctrl-C here stops the server; the sessions keep running until the next start (end one with: ssh %[1]s kill demo).
The private key of %[2]s is an admin's key here: it gives the right to run anything as %[3]s. No other key may log in.
`, to, t.whose(s.config), config.CurrentAccount().Name)
	return nil
}

func (t *demoSetup) whose(c *config.Config) string {
	if len(c.Authorize) == 1 {
		return c.Authorize[0]
	}
	return fmt.Sprintf("one of %v", c.Authorize)
}
