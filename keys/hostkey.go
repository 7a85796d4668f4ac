package keys

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
)

// HostKey is a key that proves the server's identity.
type HostKey struct {
	Path    string
	Signer  ssh.Signer
	Created bool // by this call
}

// HostKeyPaths lists the host keys of a state folder: host_key, and for rotation every host_key_*.
func HostKeyPaths(stateDir string) []string {
	first := filepath.Join(stateDir, "host_key")
	others, _ := filepath.Glob(filepath.Join(stateDir, "host_key_*")) // the pattern is well formed
	others = slices.DeleteFunc(others, func(p string) bool { return strings.HasSuffix(p, ".pub") })
	slices.Sort(others)
	return append([]string{first}, others...)
}

// RetiredHostKeys are the public keys next to the host keys of a state folder, also those whose
// private key is gone: their signatures can be checked as long as the .pub file exists. Unreadable
// files are skipped.
func RetiredHostKeys(stateDir string) []ssh.PublicKey {
	paths, _ := filepath.Glob(filepath.Join(stateDir, "host_key*.pub")) // the pattern is well formed
	var out []ssh.PublicKey
	for _, p := range paths {
		data, err := readTrusted(p)
		if err != nil {
			continue
		}
		if key, _, _, _, err := ssh.ParseAuthorizedKey(data); err == nil {
			out = append(out, key)
		}
	}
	return out
}

// LoadOrCreateHostKeys reads host keys in the given order. If the first file doesn't exist, it is
// created (ed25519, mode 0600, with a .pub file); the others must exist. An existing file is never
// written: it is an error if the file isn't a key, isn't ours, or can be read by others.
//
// The first key of each type is the one that the server proves. x/crypto's AddHostKey keeps the last
// one, so add them in reverse.
func LoadOrCreateHostKeys(paths ...string) ([]HostKey, error) {
	if len(paths) == 0 {
		return nil, errors.New("no host key is configured")
	}
	var out []HostKey
	for i, path := range paths {
		created := false
		if i == 0 {
			var err error
			if created, err = createHostKey(path); err != nil {
				return nil, fmt.Errorf("make the host key %s: %w", path, err)
			}
		}
		signer, err := loadHostKey(path)
		if err != nil {
			return nil, fmt.Errorf("host key: %w", err)
		}
		out = append(out, HostKey{Path: path, Signer: signer, Created: created})
	}
	return out, nil
}

// createHostKey makes the key, unless the file exists.
func createHostKey(path string) (created bool, err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	if _, err := writeKeyPair(path, "berth host key"); errors.Is(err, fs.ErrExist) {
		return false, nil // another process was first: use its key
	} else if err != nil {
		return false, err
	}
	return true, nil
}

func loadHostKey(path string) (ssh.Signer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(st.Uid) != os.Geteuid() {
		return nil, &ModeError{path, "doesn't belong to this user", fmt.Sprintf("run: chown %d %s", os.Geteuid(), path)}
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 {
		return nil, &ModeError{path, fmt.Sprintf("can be read by others (mode %04o)", perm),
			"if no one else had access to it run: chmod 600 " + path + " (else make a new one)"}
	}
	data, err := readTrusted(path)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.ParsePrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, fmt.Errorf("%s has a passphrase; a server's key can't have one", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s isn't a readable private key; move it away, and the server makes a new one", path)
	}
	return acceptHostKey(path, signer)
}

func acceptHostKey(path string, signer ssh.Signer) (ssh.Signer, error) {
	key := signer.PublicKey()
	switch {
	case key.Type() == ssh.InsecureKeyAlgoDSA:
		return nil, fmt.Errorf("%s is a DSA key; %s", path, makeNewKey)
	case key.Type() != ssh.KeyAlgoRSA:
		return signer, nil
	case rsaBits(key) < minRSABits:
		return nil, fmt.Errorf("%s is an RSA key of %d bits; the minimum is %d; %s", path, rsaBits(key), minRSABits, makeNewKey)
	}
	multi, ok := signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, fmt.Errorf("%s cannot sign with SHA-2; %s", path, makeNewKey)
	}
	return ssh.NewSignerWithAlgorithms(multi, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
}

// GenerateUserKey makes an ed25519 key pair for a user without one: path in OpenSSH's format with mode
// 0600 and no passphrase, and path.pub. It never overwrites: if path exists, the error is
// fs.ErrExist.
func GenerateUserKey(path string) (ssh.PublicKey, error) {
	user := os.Getenv("USER")
	if user == "" {
		user = "user"
	}
	key, err := writeKeyPair(path, cleanName(user)+"@berth")
	if err != nil {
		return nil, fmt.Errorf("make the key pair %s: %w", path, err)
	}
	return key, nil
}

// writeKeyPair makes an ed25519 key and puts it at path, whole or not at all, and only if path doesn't
// exist. It writes another file and then links it, because a rename would replace path.
func writeKeyPair(path, comment string) (ssh.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return nil, err
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, err
	}
	aside, err := writeAside(path, pem.EncodeToMemory(block), 0o600)
	if err != nil {
		return nil, err
	}
	defer os.Remove(aside)
	if err := os.Link(aside, path); err != nil {
		return nil, err
	}
	line := strings.TrimSuffix(string(ssh.MarshalAuthorizedKey(key)), "\n") + " " + comment + "\n"
	asidePub, err := writeAside(path+".pub", []byte(line), 0o644)
	if err != nil {
		return nil, err
	}
	if err := os.Rename(asidePub, path+".pub"); err != nil {
		os.Remove(asidePub)
		return nil, err
	}
	return key, syncDir(filepath.Dir(path))
}

// writeAside writes data to a new file in the folder of path.
func writeAside(path string, data []byte, perm fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // O_EXCL, 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(perm), f.Sync(), f.Close())
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// syncDir makes new names in a folder survive a power failure.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
