package local

import (
	"net"
	"os"
	"path/filepath"

	gossh "golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// keyFiles are the default keys of ssh in the user's .ssh.
var keyFiles = []string{"id_ed25519", "id_ecdsa", "id_rsa"}

// signers are the keys of the user's SSH agent, and the key files without a passphrase.
func signers() ([]gossh.Signer, error) {
	var list []gossh.Signer
	if conn, err := net.Dial("unix", os.Getenv("SSH_AUTH_SOCK")); err == nil {
		// Stays open until the process ends: the agent signs later.
		if held, err := agent.NewClient(conn).Signers(); err == nil {
			list = held
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return list, nil
	}
	for _, name := range keyFiles {
		pem, err := os.ReadFile(filepath.Join(home, ".ssh", name))
		if err != nil {
			continue
		}
		if signer, err := gossh.ParsePrivateKey(pem); err == nil {
			list = append(list, signer)
		}
	}
	return list, nil
}
