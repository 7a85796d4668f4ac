package keys

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestHostKeyIsMadeOnceAndKept(t *testing.T) {
	dir := t.TempDir()
	first, err := LoadOrCreateHostKeys(HostKeyPaths(dir)...)
	if err != nil || len(first) != 1 || !first[0].Created {
		t.Fatalf("%v %v", first, err)
	}
	path := filepath.Join(dir, "host_key")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if first[0].Signer.PublicKey().Type() != ssh.KeyAlgoED25519 {
		t.Error(first[0].Signer.PublicKey().Type())
	}
	again, err := LoadOrCreateHostKeys(HostKeyPaths(dir)...)
	if err != nil || again[0].Created || !bytes.Equal(again[0].Signer.PublicKey().Marshal(), first[0].Signer.PublicKey().Marshal()) {
		t.Errorf("the second time: %v %v", again, err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "*"))
	hidden, _ := filepath.Glob(filepath.Join(dir, ".*"))
	if len(names) != 2 || len(hidden) != 0 {
		t.Errorf("left in the folder: %v %v", names, hidden)
	}
	// Rotation: a second key beside it.
	if _, err := writeKeyPair(filepath.Join(dir, "host_key_next"), "next"); err != nil {
		t.Fatal(err)
	}
	both, err := LoadOrCreateHostKeys(HostKeyPaths(dir)...)
	if err != nil || len(both) != 2 || both[0].Path != path {
		t.Errorf("rotation: %v %v", both, err)
	}
}

func TestHostKeyRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "host_key")
	var wg sync.WaitGroup
	keys := make([]HostKey, 8)
	for i := range keys {
		wg.Go(func() {
			made, err := LoadOrCreateHostKeys(path)
			if err != nil {
				t.Error(err)
				return
			}
			keys[i] = made[0]
		})
	}
	wg.Wait()
	created := 0
	for _, k := range keys {
		if k.Created {
			created++
		}
		if !bytes.Equal(k.Signer.PublicKey().Marshal(), keys[0].Signer.PublicKey().Marshal()) {
			t.Error("two keys for one path")
		}
	}
	if created != 1 {
		t.Errorf("%d say they made it", created)
	}
}

func TestHostKeyRefused(t *testing.T) {
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(weak, "")
	if err != nil {
		t.Fatal(err)
	}
	strong, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(strong, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		data string
		mode os.FileMode
		says string
	}{
		"group may read": {"x", 0o640, "can be read by others"},
		"all may read":   {"x", 0o604, "can be read by others"},
		"rubbish":        {"rubbish", 0o600, "readable private key"},
		"empty":          {"", 0o600, "readable private key"},
		"short RSA":      {string(pem.EncodeToMemory(block)), 0o600, "1024 bits"},
		"a passphrase":   {string(pem.EncodeToMemory(locked)), 0o600, "passphrase"},
	} {
		path := filepath.Join(t.TempDir(), "host_key")
		write(t, path, c.data)
		chmod(t, path, c.mode)
		if _, err := LoadOrCreateHostKeys(path); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != c.data {
			t.Errorf("%s: the file was changed (%v)", name, err)
		}
	}
	dir := t.TempDir()
	if _, err := LoadOrCreateHostKeys(filepath.Join(dir, "a"), filepath.Join(dir, "b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing second key: %v", err)
	}
	if _, err := LoadOrCreateHostKeys(); err == nil {
		t.Error("no path at all was taken")
	}
}

func TestUserKeyWorksWithOpenSSH(t *testing.T) {
	path := filepath.Join(t.TempDir(), "id_ed25519")
	key, err := GenerateUserKey(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := GenerateUserKey(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over an existing key: %v", err)
	}
	out, err := exec.Command("ssh-keygen", "-y", "-f", path).Output()
	if err != nil {
		t.Fatalf("ssh-keygen cannot read it: %v", err)
	}
	shown, _, _, _, err := ssh.ParseAuthorizedKey(out)
	if err != nil || !bytes.Equal(shown.Marshal(), key.Marshal()) {
		t.Errorf("ssh-keygen shows another key: %v", err)
	}
	s, err := OpenStore(StoreOptions{Authorize: []string{path + ".pub"}})
	if err != nil {
		t.Fatal(err)
	}
	if id, err := s.Current().Lookup(key, nil, noon); err != nil || id.Role != Admin || !strings.HasSuffix(id.Name, "@berth") {
		t.Errorf("%+v %v", id, err)
	}
}
