package sshd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

// token is a security key that signs even without a touch.
type token struct {
	secret  ed25519.PrivateKey
	public  gossh.PublicKey
	touched bool
}

func newToken(t *testing.T) *token {
	t.Helper()
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := gossh.ParsePublicKey(gossh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{gossh.KeyAlgoSKED25519, public, "ssh:"}))
	if err != nil {
		t.Fatal(err)
	}
	return &token{secret: secret, public: key}
}

func (k *token) PublicKey() gossh.PublicKey { return k.public }

// Sign signs as specified in openssh/PROTOCOL.u2f.
func (k *token) Sign(_ io.Reader, data []byte) (*gossh.Signature, error) {
	flags := []byte{0, 0, 0, 0, 1} // flags, and a counter
	if k.touched {
		flags[0] = 1
	}
	application, message := sha256.Sum256([]byte("ssh:")), sha256.Sum256(data)
	signed := bytes.Join([][]byte{application[:], flags, message[:]}, nil)
	return &gossh.Signature{Format: k.public.Type(), Blob: ed25519.Sign(k.secret, signed), Rest: flags}, nil
}

// TestSecurityKeysAreTouched: a security key must be touched at each login, whatever its
// certificate says.
func TestSecurityKeysAreTouched(t *testing.T) {
	plain, certified := newToken(t), newToken(t)
	dir := t.TempDir()
	authority := newKey(t, dir, "authority")
	file := filepath.Join(dir, "authorized_keys")
	text := fmt.Sprintf("%scert-authority %s", gossh.MarshalAuthorizedKey(plain.public), gossh.MarshalAuthorizedKey(authority.public()))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := keys.OpenStore(keys.StoreOptions{Files: []string{file}})
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(context.Context, *Session) int { return 0 }, func(o *Options) { o.Keys = StoreKeys(store) })
	certify := func(extensions map[string]string) gossh.Signer {
		cert := &gossh.Certificate{
			Key: certified.public, CertType: gossh.UserCert, KeyId: "token", ValidPrincipals: []string{keys.UsualUser},
			ValidBefore: uint64(time.Now().Add(time.Hour).Unix()), Permissions: gossh.Permissions{Extensions: extensions},
		}
		if err := cert.SignCert(rand.Reader, authority.signer); err != nil {
			t.Fatal(err)
		}
		signer, err := gossh.NewCertSigner(cert, certified)
		if err != nil {
			t.Fatal(err)
		}
		return signer
	}
	waived := map[string]string{"no-touch-required": ""}
	for name, c := range map[string]struct {
		signer  gossh.Signer
		touched bool
		in      bool
	}{
		"a key, touched":                       {plain, true, true},
		"a key":                                {plain, false, false},
		"a certificate, touched":               {certify(nil), true, true},
		"a certificate":                        {certify(nil), false, false},
		"a certificate that waives it":         {certify(waived), false, false},
		"one that waives it, touched all same": {certify(waived), true, false},
	} {
		plain.touched, certified.touched = c.touched, c.touched
		config := h.clientConfig()
		config.Auth = []gossh.AuthMethod{gossh.PublicKeys(c.signer)}
		client, err := gossh.Dial("tcp", h.server.Addr().String(), config)
		if err == nil {
			client.Close()
		}
		if (err == nil) != c.in {
			t.Errorf("%s: %v", name, err)
		}
	}
}
