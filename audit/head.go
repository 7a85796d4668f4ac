package audit

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	gossh "golang.org/x/crypto/ssh"
)

// Head is a position in the log: the number of a line, and its hash. With a kept head one can check later
// that no line up to it was changed.
type Head struct {
	N    uint64
	Hash string
}

// String is the head in the form that ParseHead reads: N:HASH.
func (h Head) String() string { return strconv.FormatUint(h.N, 10) + ":" + h.Hash }

// ParseHead reads N:HASH.
func ParseHead(s string) (Head, error) {
	number, hash, ok := strings.Cut(s, ":")
	n, err := strconv.ParseUint(number, 10, 64)
	if !ok || err != nil || n == 0 {
		return Head{}, fmt.Errorf("%q isn't a valid head: write the number of a line, a colon and the line's hash", s)
	}
	d, err := parseDigest(hash)
	if err != nil {
		return Head{}, err
	}
	return Head{N: n, Hash: d.String()}, nil
}

// signed is what the host key signs: the line of the head without the signature. The first line names
// the purpose, so that the signature is useless elsewhere.
func signed(e Entry) ([]byte, error) {
	e.Signature = ""
	line, err := e.encode()
	return append([]byte("berth audit head 1\n"), line...), err
}

// sign signs a head entry, which is complete except for the signature.
func sign(e *Entry, key gossh.Signer) error {
	e.Key = gossh.FingerprintSHA256(key.PublicKey())
	data, err := signed(*e)
	if err != nil {
		return err
	}
	signature, err := key.Sign(rand.Reader, data)
	if err != nil {
		return fmt.Errorf("sign the head of the audit log: %w", err)
	}
	e.Signature = signature.Format + " " + base64.StdEncoding.EncodeToString(signature.Blob)
	return nil
}

var errUnknownKey = errors.New("its key isn't one of the server's host keys")

// check verifies the signature of a head entry with one of the keys.
func check(e Entry, known []gossh.PublicKey) error {
	format, blob, ok := strings.Cut(e.Signature, " ")
	data, err := base64.StdEncoding.Strict().DecodeString(blob)
	if !ok || err != nil {
		return errors.New("its signature can't be read")
	}
	text, err := signed(e)
	if err != nil {
		return err
	}
	for _, key := range known {
		if gossh.FingerprintSHA256(key) != e.Key {
			continue
		}
		if err := key.Verify(text, &gossh.Signature{Format: format, Blob: data}); err != nil {
			return fmt.Errorf("its signature isn't by the host key %s", e.Key)
		}
		return nil
	}
	return fmt.Errorf("%w: %s", errUnknownKey, bounded(e.Key))
}
