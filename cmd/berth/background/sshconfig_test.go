package background

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPasted asks a shell what it reads.
func TestPasted(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, path := range []string{home + "/a/b", home + "/a b/it's", "/plain", "/w i/$HOME;x"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+Pasted(path)).CombinedOutput()
		if err != nil || string(out) != path {
			t.Errorf("%s: a shell reads %s as %s, %v", path, Pasted(path), out, err)
		}
	}
}

// TestConfig asks OpenSSH what it reads of a state folder with a blank and a percent sign in its name.
func TestConfig(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%h")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(dir, "user_key")
	c := Client{Address: &net.TCPAddr{IP: net.IPv6unspecified, Port: 2222}, Identities: []string{key}, HostKeys: []string{"ssh-ed25519 AAAA\n"}}
	if err := WriteClient(dir, c); err != nil {
		t.Fatal(err)
	}
	for host, tty := range map[string]string{Host: "auto", HostTTY: "true"} {
		out, err := exec.CommandContext(t.Context(), "ssh", "-F", ConfigFile(dir), "-G", host).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for _, line := range []string{"hostname 127.0.0.1", "port 2222", "user agents", "identityfile " + strings.ReplaceAll(key, "%", "%%"), "requesttty " + tty} {
			if !strings.Contains(string(out), line+"\n") {
				t.Errorf("%s: no line %q in\n%s", host, line, out)
			}
		}
	}
	if known, err := os.ReadFile(filepath.Join(dir, "known_hosts")); err != nil || string(known) != "[127.0.0.1]:2222 ssh-ed25519 AAAA\n" {
		t.Errorf("known_hosts is %q, %v", known, err)
	}
}
