package realm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"time"

	"golang.org/x/crypto/ssh"
)

// certificateLife is long, because hosts know the key and not the dates.
const certificateLife = 30 * 365 * 24 * time.Hour

// Pin is the SHA-256 of a TLS certificate's public key. A host gets it in its token, and so needs no
// authority for TLS.
type Pin = [sha256.Size]byte

// PinOf is the SHA-256 of a fleet's authority. On a cluster, a host gets it in its token.
func PinOf(authority ssh.PublicKey) Pin { return sha256.Sum256(authority.Marshal()) }

// ErrPin says that another server answers at the gateway's address.
var ErrPin = errors.New("the gateway has another TLS key than the one of the token: another server answers there, or the gateway was set up anew")

// Certificate reads the gateway's TLS key and certificate from one file, or makes it.
func Certificate(path string, now time.Time) (tls.Certificate, Pin, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = newCertificate(path, now)
	}
	if err != nil {
		return tls.Certificate{}, Pin{}, fmt.Errorf("the fleet's TLS key: %w", err)
	}
	c, err := tls.X509KeyPair(data, data)
	if err != nil {
		return c, Pin{}, fmt.Errorf("read the fleet's TLS key from %s: %w", path, err)
	}
	return c, sha256.Sum256(c.Leaf.RawSubjectPublicKeyInfo), nil
}

func newCertificate(path string, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "berth fleet"}, DNSNames: []string{"berth-fleet"},
		NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(certificateLife),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	data := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})...)
	return data, replace(path, data)
}

// Pinned is the TLS configuration of a client of the gateway with that key.
func Pinned(pin Pin) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection compares the key instead
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 || sha256.Sum256(state.PeerCertificates[0].RawSubjectPublicKeyInfo) != pin {
				return ErrPin
			}
			return nil
		},
	}
}

// Trusted is the TLS configuration of a client of a NATS cluster: its certificates are by one of these authorities, in
// DER one after the other, or without any by one that this system trusts.
func Trusted(authorities []byte) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(authorities) == 0 {
		return c, nil
	}
	list, err := x509.ParseCertificates(authorities)
	if err != nil {
		return nil, fmt.Errorf("read the authority of the NATS cluster's certificates: %w", err)
	}
	c.RootCAs = x509.NewCertPool()
	for _, a := range list {
		c.RootCAs.AddCert(a)
	}
	return c, nil
}

// Authorities reads a PEM file of certificates, for Trusted.
func Authorities(data []byte) (der []byte, err error) {
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			der = append(der, block.Bytes...)
		}
	}
	if len(der) == 0 {
		return nil, errors.New("it has no certificate in PEM")
	}
	_, err = Trusted(der)
	return der, err
}
