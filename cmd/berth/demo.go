package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	gossh "golang.org/x/crypto/ssh"

	"berth/cmd/berth/background"
	"berth/config"
	"berth/keys"
	"berth/sessions"
)

// demoSession is the session that serve --demo keeps.
const demoSession = "demo"

// admitOwn admits the user's own public keys, or makes a key pair in the state folder if there are
// none, unless the configuration names keys.
func admitOwn(c *config.Config) error {
	if len(c.Authorize) > 0 {
		return nil
	}
	own, err := ownKeys(config.CurrentAccount().Home)
	if err != nil {
		return err
	}
	if len(own) > 0 {
		c.Authorize = own
		return nil
	}
	path := filepath.Join(c.StateDir, "user_key")
	if _, err := os.Stat(path); err != nil {
		if _, err := keys.GenerateUserKey(path); err != nil {
			return err
		}
	}
	c.Authorize = []string{path + ".pub"}
	return nil
}

// identities are the private keys of the admitted public keys that have one here.
func identities(c *config.Config) (files []string) {
	for _, public := range c.Authorize {
		private, ok := strings.CutSuffix(public, ".pub")
		if _, err := os.Stat(private); ok && err == nil {
			files = append(files, private)
		}
	}
	return files
}

// writeClient writes what ssh on this machine needs to know of the server.
func (s *server) writeClient() error {
	var public []string
	for _, k := range s.hostKeys {
		public = append(public, string(gossh.MarshalAuthorizedKey(k.Signer.PublicKey())))
	}
	return background.WriteClient(s.config.StateDir, background.Client{Address: s.edge.Addr(), Identities: identities(s.config), HostKeys: public})
}

// ownKeys lists the public keys that ssh offers without options.
func ownKeys(home string) ([]string, error) {
	var own []string
	for _, kind := range []string{"ed25519", "ecdsa", "rsa", "ed25519_sk", "ecdsa_sk"} { // those that need no touch first
		found, err := filepath.Glob(filepath.Join(home, ".ssh", "id_"+kind+".pub"))
		if err != nil {
			return nil, fmt.Errorf("look for your public keys: %w", err)
		}
		own = append(own, found...)
	}
	return own, nil
}

// beginDemo starts the demo session and prints what to try.
func (s *server) beginDemo(ctx context.Context) error {
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
	fmt.Print(tour(s.edge.Addr(), s.config))
	return nil
}

// tour is what to try, in lines of 80 columns.
func tour(listens net.Addr, c *config.Config) string {
	ssh, host := "ssh ", address(listens)
	if own := identities(c); len(own) == 1 && filepath.Dir(own[0]) == filepath.Clean(c.StateDir) { // ssh doesn't offer it by itself
		ssh, host = "ssh -F "+background.Pasted(background.ConfigFile(c.StateDir))+" ", background.Host
	}
	var b strings.Builder
	b.WriteString("\nTry it from another terminal:\n\n")
	for _, line := range [][3]string{
		{"", "", "the dashboard; q leaves it, ? helps"},
		{"-t ", " attach demo", "the shell of the session demo; Ctrl-] d leaves it, Ctrl-] ? helps"},
		{"", " ls", "the sessions, as JSON"},
		{"", ` input demo --enter "echo hello"`, ""},
		{"", " screen demo --text", ""},
		{"", " watch", "every event, one a line"},
		{"", " help", ""},
	} {
		fmt.Fprintf(&b, "  %s%s%s%s\n", ssh, line[0], host, line[1])
		if line[2] != "" {
			fmt.Fprintf(&b, "      %s\n", line[2])
		}
	}
	fmt.Fprintf(&b, "\nCtrl-C here stops the server. The sessions keep running until the next start;\nthis ends one: %s%s kill demo\n", ssh, host)
	fmt.Fprintf(&b, "\nWho has the private key of %s is admin here:\nthey can run anything as %s. No other key may log in.\n", whose(c), config.CurrentAccount().Name)
	return b.String()
}

func whose(c *config.Config) string {
	if len(c.Authorize) == 1 {
		return background.Short(c.Authorize[0])
	}
	var short []string
	for _, file := range c.Authorize {
		short = append(short, background.Short(file))
	}
	return "one of\n" + strings.Join(short, " ")
}
