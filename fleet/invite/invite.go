// Package invite keeps the tokens with which hosts join a fleet. A token is good for one host, once, for
// 15 minutes.
//
// A Book is a folder. Each token has a file with its name, its end and a hash of its secret; a used
// one has a second file, which is linked into place, complete and at most once. So a token is never good
// for two hosts: not for callers at the same moment, not for two gateways with one folder, and not when a
// process is killed at any step. A host that got no answer may ask again with its own key.
package invite

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// Life is how long a token can be used.
const Life = 15 * time.Minute

// kept is how long a token's files stay, so that the answer is "used" or "expired", not "unknown".
const kept = 24 * time.Hour

// most bounds the tokens that are kept at once.
const most = 1000

// Why a token can't be used.
var (
	ErrToken   = errors.New("it isn't a valid token: copy all of the line that fleet invite printed")
	ErrUnknown = errors.New("the gateway doesn't know this token: make a new one with fleet invite")
	ErrExpired = errors.New("the token has expired: make a new one with fleet invite")
	ErrUsed    = errors.New("the token was used by another host: make a new one with fleet invite")
	ErrMany    = errors.New("too many tokens are kept: wait until older ones have expired")
)

const (
	idSize, secretSize = 8, 16
	mark               = "bf1-" // begins a token, and is its version
	markCluster        = "bf2-" // begins one of a fleet on a NATS cluster
	sumSize            = 4
)

// addressMost bounds an address, or the URLs of a cluster.
const addressMost = 1 << 10

// Longest is the length of the longest token that a host takes.
const Longest = 4 << 10

// Token is what a person carries from the gateway to the new host.
type Token struct {
	ID      [idSize]byte
	Secret  [secretSize]byte
	Pin     [sha256.Size]byte // SHA-256 of the public key of the gateway's TLS certificate; on a cluster of the fleet's authority
	Name    string            // of the host in the fleet
	Address string            // of the gateway, as the host dials it; on a cluster its URLs

	// Of a fleet on a NATS cluster.
	User        string // the JWT of a host that joins, for Key; empty: the fleet isn't on a cluster
	Authorities string // of the cluster's TLS certificates, in DER; empty: those that the host's system trusts
}

// Key is the key pair that the secret makes. With it a host proves the secret to the gateway without showing it to a
// cluster in between.
func (t Token) Key() (nkeys.KeyPair, error) {
	sum := sha256.Sum256(append([]byte("berth fleet token "), t.Secret[:]...))
	return nkeys.FromRawSeed(nkeys.PrefixByteUser, sum[:])
}

// String is the token as one word, which a double click selects.
func (t Token) String() string {
	b := append(append(append([]byte(nil), t.ID[:]...), t.Secret[:]...), t.Pin[:]...)
	b = append(append(b, byte(len(t.Name))), t.Name...)
	begin := mark
	if t.User != "" {
		begin = markCluster
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(t.Address))), t.Address...)
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(t.User))), t.User...)
		b = append(b, t.Authorities...)
	} else {
		b = append(b, t.Address...)
	}
	sum := sha256.Sum256(b)
	return begin + base64.RawURLEncoding.EncodeToString(append(b, sum[:sumSize]...))
}

// Parse reads a token. A cut or changed one is refused, but only the gateway knows whether it is good.
func Parse(s string) (t Token, err error) {
	s = strings.TrimSpace(s)
	text, ok := strings.CutPrefix(s, mark)
	onCluster := false
	if !ok {
		text, onCluster = strings.CutPrefix(s, markCluster)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	const head = idSize + secretSize + sha256.Size
	if !ok && !onCluster || err != nil || len(b) < head+1+sumSize {
		return t, ErrToken
	}
	b, given := b[:len(b)-sumSize], b[len(b)-sumSize:]
	if sum := sha256.Sum256(b); string(sum[:sumSize]) != string(given) || len(b) < head+1+int(b[head]) {
		return t, ErrToken
	}
	copy(t.ID[:], b)
	copy(t.Secret[:], b[idSize:])
	copy(t.Pin[:], b[idSize+secretSize:])
	rest := b[head+1:]
	t.Name, t.Address = string(rest[:b[head]]), string(rest[b[head]:])
	if !onCluster {
		return t, nil
	}
	t.Authorities = t.Address
	for _, field := range []*string{&t.Address, &t.User} {
		if *field, t.Authorities, ok = cut(t.Authorities); !ok || *field == "" {
			return Token{}, ErrToken
		}
	}
	return t, nil
}

// cut takes a text with its length before it.
func cut(s string) (field, rest string, ok bool) {
	if len(s) < 2 {
		return "", "", false
	}
	n, s := int(binary.BigEndian.Uint16([]byte(s[:2]))), s[2:]
	if len(s) < n {
		return "", "", false
	}
	return s[:n], s[n:], true
}

// Book is a folder of tokens. Its methods may be called from any goroutine and process.
type Book struct {
	dir string
	now func() time.Time
}

// Open uses a folder of the gateway's own, and makes it.
func Open(dir string, now func() time.Time) (*Book, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open the folder of tokens: %w", err)
	}
	return &Book{dir, now}, nil
}

// record is a token's file.
type record struct {
	Name    string    `json:"name"`
	Secret  string    `json:"secret_sha256"`
	Key     string    `json:"key"` // the public one of Token.Key
	Expires time.Time `json:"expires"`
	By      string    `json:"by"` // who made it
}

// use is the file of a used token.
type use struct {
	Key string    `json:"key"` // the host's public key
	At  time.Time `json:"at"`
}

// New makes a token for a host's name. by is who asks, for the record.
func (b *Book) New(name, address, by string, pin [sha256.Size]byte) (Token, error) {
	t := Token{Pin: pin, Name: name, Address: address}
	if len(name) > 255 || len(address) > addressMost {
		return t, fmt.Errorf("the name is longer than 255 bytes, or the address longer than %d", addressMost)
	}
	if left, err := b.clean(); err != nil {
		return t, err
	} else if left >= most {
		return t, ErrMany
	}
	for _, field := range [][]byte{t.ID[:], t.Secret[:]} {
		if _, err := rand.Read(field); err != nil {
			return t, fmt.Errorf("make a token: %w", err)
		}
	}
	key, err := t.publicKey()
	if err != nil {
		return t, fmt.Errorf("make a token: %w", err)
	}
	r := record{name, hash(t.Secret), key, b.now().Add(Life).UTC(), by}
	if err := b.write(t.ID, ".json", r); err != nil {
		return t, fmt.Errorf("keep the token: %w", err)
	}
	return t, nil
}

func (t Token) publicKey() (string, error) {
	pair, err := t.Key()
	if err != nil {
		return "", err
	}
	return pair.PublicKey()
}

// Redeem uses a token for the host with that public key, and returns the host's name. When it returns
// nil, the use is on disk.
func (b *Book) Redeem(id [idSize]byte, secret [secretSize]byte, key string) (name string, err error) {
	return b.redeem(id, key, func(r record) bool {
		return subtle.ConstantTimeCompare([]byte(r.Secret), []byte(hash(secret))) == 1
	})
}

// RedeemProof is Redeem for a host that has signed what it asks with Token.Key.
func (b *Book) RedeemProof(id [idSize]byte, asks, proof []byte, key string) (name string, err error) {
	return b.redeem(id, key, func(r record) bool {
		pair, err := nkeys.FromPublicKey(r.Key)
		return err == nil && pair.Verify(asks, proof) == nil
	})
}

func (b *Book) redeem(id [idSize]byte, key string, good func(record) bool) (name string, err error) {
	var r record
	if err := b.read(id, ".json", &r); errors.Is(err, fs.ErrNotExist) {
		return "", ErrUnknown
	} else if err != nil {
		return "", err
	}
	if !good(r) {
		return "", ErrUnknown
	}
	if !b.now().Before(r.Expires) {
		return "", ErrExpired
	}
	err = b.write(id, ".used", use{key, b.now().UTC()})
	if errors.Is(err, fs.ErrExist) {
		var u use
		if err := b.read(id, ".used", &u); err != nil {
			return "", err
		}
		if u.Key != key {
			return "", ErrUsed
		}
		return r.Name, b.sync() // the process that made the file may have been killed before that
	}
	if err != nil {
		return "", fmt.Errorf("use the token: %w", err)
	}
	return r.Name, nil
}

func hash(secret [secretSize]byte) string {
	sum := sha256.Sum256(secret[:])
	return hex.EncodeToString(sum[:])
}

func (b *Book) path(id [idSize]byte, kind string) string {
	return filepath.Join(b.dir, hex.EncodeToString(id[:])+kind)
}

func (b *Book) read(id [idSize]byte, kind string, into any) error {
	data, err := os.ReadFile(b.path(id, kind))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("read a token: %w", err)
	}
	return nil
}

// write makes a file, complete and synced. The error is fs.ErrExist if it is there already.
func (b *Book) write(id [idSize]byte, kind string, value any) (err error) {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(b.dir, "new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), b.path(id, kind)); err != nil {
		return err
	}
	return b.sync()
}

func (b *Book) sync() error {
	d, err := os.Open(b.dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// clean removes what is old, and returns how many tokens are left.
func (b *Book) clean() (left int, err error) {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return 0, fmt.Errorf("read the folder of tokens: %w", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process has removed it
		case err != nil:
			return 0, err
		case b.now().Sub(info.ModTime()) > kept:
			_ = os.Remove(filepath.Join(b.dir, e.Name())) // tried again at the next token
		case strings.HasSuffix(e.Name(), ".json"):
			left++
		}
	}
	return left, nil
}
