package sshd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// Trap 6. The hole: identity noted while a key is offered belongs to a key
// that was never proven. The attack: stock ssh, given a stranger's .pub and
// its own key, offers the first and signs with the second. The check: it is
// only itself, and the log says which keys it claimed.
func TestAnOfferedKeyIsNotAnIdentity(t *testing.T) {
	h := start(t, describe)
	mallory := newKey(t, h.dir, "mallory")
	h.keys.set(mallory.public(), keys.Identity{Name: "mallory", Role: keys.Viewer})
	stolen := filepath.Join(h.dir, "stolen.pub")
	if err := os.WriteFile(stolen, gossh.MarshalAuthorizedKey(h.admin.public()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := h.command()
	cmd.Args = append([]string{"ssh"}, h.args(stolen, "-i", mallory.file, "agents@127.0.0.1", "x")...)
	d := run(t, cmd, "").described(t)
	if d.Identity.Name != "mallory" || d.Identity.Role != keys.Viewer || d.Identity.Fingerprint != gossh.FingerprintSHA256(mallory.public()) {
		t.Errorf("the attacker is %+v", d.Identity)
	}
	logins := h.audited()
	if len(logins) != 1 || !logins[0].Accepted || logins[0].Identity.Name != "mallory" ||
		!slices.Equal(logins[0].Offered, []string{gossh.FingerprintSHA256(h.admin.public()), gossh.FingerprintSHA256(mallory.public())}) {
		t.Errorf("audit %+v", logins)
	}
}

func TestUnknownKeyIsRefused(t *testing.T) {
	h := start(t, describe)
	stranger := newKey(t, h.dir, "stranger")
	cmd := h.command()
	cmd.Args = append([]string{"ssh"}, h.args(stranger.file, "agents@127.0.0.1", "x")...)
	r := run(t, cmd, "")
	if r.status != 255 || !strings.Contains(r.err, "Permission denied (publickey)") || r.out != "" {
		t.Errorf("%+v", r)
	}
	eventually(t, "it is audited", func() bool { return len(h.audited()) == 1 })
	l := h.audited()[0]
	if l.Accepted || l.User != "agents" || !strings.HasPrefix(l.Source, "127.0.0.1:") || l.Reason == "" ||
		!slices.Equal(l.Offered, []string{gossh.FingerprintSHA256(stranger.public())}) {
		t.Errorf("%+v", l)
	}
	if log := h.log.String(); !strings.Contains(log, gossh.FingerprintSHA256(stranger.public())) || !strings.Contains(log, "level=WARN msg=\"login refused\"") {
		t.Errorf("log %s", log)
	}
}

// Nothing but keys: neither a password nor nothing at all.
func TestPublicKeysOnly(t *testing.T) {
	h := start(t, describe)
	for name, auth := range map[string][]gossh.AuthMethod{
		"none":     nil,
		"password": {gossh.Password("x")},
		"keyboard": {gossh.KeyboardInteractive(func(_, _ string, q []string, _ []bool) ([]string, error) { return make([]string, len(q)), nil })},
	} {
		config := h.clientConfig()
		config.Auth = auth
		if c, err := gossh.Dial("tcp", h.server.Addr().String(), config); err == nil {
			c.Close()
			t.Errorf("%s lets in", name)
		}
	}
}

// What Lookup grants is looked at again when the handshake is over.
func TestKeyRemovedDuringTheHandshake(t *testing.T) {
	h := start(t, describe)
	config := h.clientConfig()
	config.HostKeyCallback = gossh.InsecureIgnoreHostKey()
	config.Auth = []gossh.AuthMethod{gossh.PublicKeys(removing{h.admin.signer, func() { h.keys.remove(h.admin.public()) }})}
	c, err := gossh.Dial("tcp", h.server.Addr().String(), config)
	if err != nil {
		return // refused at once: as good
	}
	defer c.Close()
	if s, err := c.NewSession(); err == nil {
		out, err := s.Output("x")
		t.Errorf("a key removed between offer and proof gets in: %s %v", out, err)
	} else if !strings.Contains(err.Error(), "not in the key file") && !errors.Is(err, io.EOF) {
		t.Errorf("refused with %v", err)
	}
}

// removing signs, but first does something else.
type removing struct {
	gossh.Signer
	first func()
}

func (r removing) Sign(rand io.Reader, data []byte) (*gossh.Signature, error) {
	r.first()
	return r.Signer.Sign(rand, data)
}

// Trap 18: a client whose SSH agent is full of other keys gets a hint.
func TestTooManyKeys(t *testing.T) {
	h := start(t, describe)
	args := []string{}
	for i := range 6 {
		args = append(args, "-i", newKey(t, h.dir, fmt.Sprint("other", i)).file)
	}
	cmd := h.command()
	cmd.Args = append([]string{"ssh"}, h.args(args[1], append(args[2:], "-i", h.admin.file, "agents@127.0.0.1", "x")...)...)
	for i, a := range cmd.Args {
		if a == "LogLevel=ERROR" {
			cmd.Args[i] = "LogLevel=INFO" // at which the client shows such texts
		}
	}
	r := run(t, cmd, "")
	if r.status != 255 || !strings.Contains(r.err, "Too many authentication failures") && !strings.Contains(r.err, "too many authentication failures") ||
		!strings.Contains(r.err, "IdentitiesOnly=yes -i KEYFILE") {
		t.Errorf("%+v", r)
	}
	eventually(t, "it is audited", func() bool { return len(h.audited()) == 1 })
	if l := h.audited()[0]; l.Accepted || len(l.Offered) != 6 {
		t.Errorf("%+v", l)
	}
}

// Traps 10 and 16: without keys, or without a host key, nothing starts.
func TestNoStartWithoutKeys(t *testing.T) {
	dir := t.TempDir()
	host := []gossh.Signer{newKey(t, dir, "host").signer}
	empty, err := keys.OpenStore(keys.StoreOptions{Files: []string{filepath.Join(dir, "none")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"no keys":           {Listen: []string{"127.0.0.1:0"}, HostKeys: host, Handler: handler(io.Discard, echo)},
		"an empty key file": {Listen: []string{"127.0.0.1:0"}, HostKeys: host, Keys: StoreKeys(empty), Handler: handler(io.Discard, echo)},
		"no host key":       {Listen: []string{"127.0.0.1:0"}, Keys: newTestKeys(), Handler: handler(io.Discard, echo)},
		"nothing":           {HostKeys: host, Keys: newTestKeys(), Handler: handler(io.Discard, echo)},
		"no handler":        {Listen: []string{"127.0.0.1:0"}, HostKeys: host, Keys: newTestKeys()},
		"a bad address":     {Listen: []string{"256.0.0.1:x"}, HostKeys: host, Keys: newTestKeys(), Handler: handler(io.Discard, echo)},
	} {
		if s, err := New(o); err == nil {
			_ = s.Shutdown(context.Background())
			t.Errorf("%s: it starts", name)
		}
	}
}

// An identity without rights from a key source isn't admitted.
func TestIdentityWithoutRole(t *testing.T) {
	h := start(t, describe)
	h.keys.set(h.admin.public(), keys.Identity{Name: "x"})
	if r := h.ssh("", "a@127.0.0.1", "x"); r.status != 255 {
		t.Errorf("%+v", r)
	}
	h.keys.set(h.admin.public(), keys.Identity{Name: "x", Role: keys.Admin, Expires: time.Now().Add(-time.Second)})
	if r := h.ssh("", "a@127.0.0.1", "x"); r.status != 255 {
		t.Errorf("expired: %+v", r)
	}
}

func TestAlgorithms(t *testing.T) {
	h := start(t, describe)
	for _, c := range []struct {
		option string
		ok     bool
	}{
		{"KexAlgorithms=curve25519-sha256", true},
		{"KexAlgorithms=curve25519-sha256@libssh.org", true},
		{"KexAlgorithms=ecdh-sha2-nistp256", false},
		{"KexAlgorithms=diffie-hellman-group14-sha256", false},
		{"Ciphers=chacha20-poly1305@openssh.com", true},
		{"Ciphers=aes128-gcm@openssh.com", true},
		{"Ciphers=aes256-gcm@openssh.com", true},
		{"Ciphers=aes128-ctr", true},
		{"Ciphers=aes256-ctr", true},
		{"Ciphers=aes192-ctr", false},
		{"Ciphers=aes128-cbc", false},
		{"MACs=hmac-sha2-256", false},
		{"MACs=hmac-sha1", false},
	} {
		option := c.option
		args := []string{"-o", option, "a@127.0.0.1", "x"}
		if strings.HasPrefix(option, "MACs") {
			args = append([]string{"-o", "Ciphers=aes128-ctr"}, args...)
		}
		if r := h.ssh("", args...); (r.status == 0) != c.ok {
			t.Errorf("%s: %+v", option, r)
		}
	}
	conn, err := net.Dial("tcp", h.server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	line := make([]byte, len("SSH-2.0-Berth\r\n"))
	if _, err := io.ReadFull(conn, line); err != nil || string(line) != "SSH-2.0-Berth\r\n" {
		t.Errorf("%q %v", line, err)
	}
}

func TestLongUserName(t *testing.T) {
	h := start(t, describe)
	config := h.clientConfig()
	config.User = strings.Repeat("x", 256)
	if c, err := gossh.Dial("tcp", h.server.Addr().String(), config); err == nil {
		c.Close()
		t.Error("256 bytes of user name are taken")
	}
}

// All connections go through one ssh.Server: what one of them offers, proves and fails at is its own.
func TestManyLoginsAtOnce(t *testing.T) {
	o := newHolding()
	h := start(t, o.serve)
	const each = 8
	offered := map[string]string{}
	var clients sync.WaitGroup
	for i := range each {
		key := newKey(t, h.dir, fmt.Sprintf("other%d", i))
		user := fmt.Sprintf("refused%d", i)
		offered[user] = gossh.FingerprintSHA256(key.public())
		clients.Go(func() {
			config := h.clientConfig()
			config.User, config.Auth = user, []gossh.AuthMethod{gossh.PublicKeys(key.signer)}
			if c, err := gossh.Dial("tcp", h.server.Addr().String(), config); err == nil {
				c.Close()
				t.Errorf("%s got in", user)
			}
		})
		clients.Go(func() {
			config := h.clientConfig()
			config.User = fmt.Sprintf("accepted%d", i)
			c, err := gossh.Dial("tcp", h.server.Addr().String(), config)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			s, err := c.NewSession()
			if err != nil {
				t.Error(err)
				return
			}
			if out, err := s.Output("say"); err != nil || string(out) != "["+config.User+"|say|]" {
				t.Errorf("%s: %s %v", config.User, out, err)
			}
		})
	}
	clients.Wait()
	eventually(t, "all are audited", func() bool { return len(h.audited()) == 2*each })
	conns := map[uint64]bool{}
	for _, l := range h.audited() {
		conns[l.Conn] = true
		want, refused := offered[l.User]
		switch {
		case refused && (l.Accepted || !slices.Equal(l.Offered, []string{want}) || !strings.Contains(l.Reason, "no auth passed")):
			t.Errorf("%s: %+v", l.User, l)
		case !refused && (!l.Accepted || l.Identity.Name != "admin"):
			t.Errorf("%s: %+v", l.User, l)
		}
	}
	if len(conns) != 2*each {
		t.Errorf("%d connections", len(conns))
	}
}
