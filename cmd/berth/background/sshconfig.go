package background

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// Client is what an ssh client on this machine needs to know of a server.
type Client struct {
	Address    net.Addr
	Identities []string // files of private keys that may log in; empty: those that ssh offers by itself
	HostKeys   []string // the server's public keys, as in authorized_keys
	KnownHosts string   // file that WriteClient writes them into
}

// Host is the name under which ssh finds the server, and HostTTY the same with a terminal for each
// verb, which attach needs and which makes the answers text.
const (
	Host    = "berth"
	HostTTY = "berth-tty"
)

// Target is the server's host and port as a client on this machine reaches it.
func Target(a net.Addr) (host, port string) {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return "localhost", "22"
	}
	host = tcp.IP.String()
	if tcp.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return host, fmt.Sprint(tcp.Port)
}

// Config is the text for ~/.ssh/config.
func (c Client) Config() string {
	host, port := Target(c.Address)
	var b strings.Builder
	fmt.Fprintf(&b, "Host %s %s\n  HostName %s\n  Port %s\n  User agents\n", Host, HostTTY, host, port)
	for _, file := range c.Identities {
		fmt.Fprintf(&b, "  IdentityFile %s\n", quoted(file))
	}
	if len(c.Identities) > 0 {
		b.WriteString("  IdentitiesOnly yes\n")
	}
	// New hosts go into the first file.
	fmt.Fprintf(&b, "  UserKnownHostsFile ~/.ssh/known_hosts %s\n", quoted(c.KnownHosts))
	fmt.Fprintf(&b, "Host %s\n  RequestTTY yes\n", HostTTY)
	return b.String()
}

// quoted writes a file's name as ssh_config wants it. Percent signs are tokens there.
func quoted(file string) string {
	file = strings.ReplaceAll(file, "%", "%%")
	if strings.ContainsAny(file, " \t'") {
		return `"` + file + `"`
	}
	return file
}

// knownHosts is the text of a known_hosts file with the server's keys.
func (c Client) knownHosts() string {
	host, port := Target(c.Address)
	if port != "22" {
		host = "[" + host + "]:" + port
	}
	var b strings.Builder
	for _, key := range c.HostKeys {
		fmt.Fprintf(&b, "%s %s\n", host, strings.TrimSpace(key))
	}
	return b.String()
}

// ConfigFile is where WriteClient writes the ssh_config of the server with that state folder.
func ConfigFile(stateDir string) string { return filepath.Join(stateDir, "ssh_config") }

// WriteClient writes the server's ssh_config and its known_hosts into the state folder.
func WriteClient(stateDir string, c Client) error {
	c.KnownHosts = filepath.Join(stateDir, "known_hosts")
	for file, text := range map[string]string{c.KnownHosts: c.knownHosts(), ConfigFile(stateDir): c.Config()} {
		next := file + ".new"
		if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write what ssh needs to know of this server: %w", err)
		}
		if err := os.Rename(next, file); err != nil {
			return fmt.Errorf("write what ssh needs to know of this server: %w", err)
		}
	}
	return nil
}

// Pasted is Short for a line that a person pastes into a shell.
func Pasted(path string) string {
	short := Short(path)
	if !strings.ContainsFunc(short, func(r rune) bool { return !strings.ContainsRune(plainRunes, r) }) {
		return short
	}
	lead := ""
	if rest, ok := strings.CutPrefix(short, "~/"); ok { // the shell reads a tilde outside of quotes alone
		lead, short = "~/", rest
	}
	return lead + "'" + strings.ReplaceAll(short, "'", `'\''`) + "'"
}

// plainRunes mean nothing to a shell.
const plainRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./~+:@%,"

// Short writes a path in the home folder with a tilde, as shells and ssh read it.
func Short(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, filepath.Clean(home)+"/"); ok {
		return "~/" + rest
	}
	return path
}
