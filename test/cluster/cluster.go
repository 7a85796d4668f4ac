// Package cluster is a NATS server that other people run, for tests of a fleet on it: with an operator, with accounts,
// and with TLS by an authority of its own. It has the limits of a server that isn't configured otherwise.
package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// readyTime bounds the start.
const readyTime = 30 * time.Second

// Cluster is a running server. Its methods are for one goroutine.
type Cluster struct {
	URL string
	CA  string // the file of its authority

	t        testing.TB
	operator nkeys.KeyPair
	options  natsd.Options
	accounts *natsd.MemAccResolver
	server   *natsd.Server
}

// Start starts one that ends with the test.
func Start(t testing.TB) *Cluster {
	t.Helper()
	c := &Cluster{t: t, accounts: &natsd.MemAccResolver{}, CA: filepath.Join(t.TempDir(), "ca.pem")}
	var err error
	if c.operator, err = nkeys.CreateOperator(); err != nil {
		t.Fatal(err)
	}
	claims := jwt.NewOperatorClaims(public(t, c.operator))
	text, err := claims.Encode(c.operator)
	if err != nil {
		t.Fatal(err)
	}
	if claims, err = jwt.DecodeOperatorClaims(text); err != nil {
		t.Fatal(err)
	}
	certificate := c.certificate()
	c.options = natsd.Options{
		ServerName: "n1", Host: "127.0.0.1", Port: natsd.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		TrustedOperators: []*jwt.OperatorClaims{claims}, AccountResolver: c.accounts, SystemAccount: c.account(jwt.NewAccountClaims, newKey(t)),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, TLSTimeout: 5, AuthTimeout: 5,
	}
	c.Start()
	t.Cleanup(c.Stop)
	address, ok := c.server.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("it listens on %v", c.server.Addr())
	}
	c.options.Port = address.Port // the same after Stop and Start
	c.URL = "tls://" + address.String()
	return c
}

// Start starts it again, after Stop.
func (c *Cluster) Start() {
	c.t.Helper()
	options := c.options
	var err error
	if c.server, err = natsd.NewServer(&options); err != nil {
		c.t.Fatal(err)
	}
	c.server.Start()
	if !c.server.ReadyForConnections(readyTime) {
		c.t.Fatal("the NATS server isn't ready")
	}
}

// Stop ends all connections. What JetStream has is kept.
func (c *Cluster) Stop() {
	c.server.Shutdown()
	c.server.WaitForShutdown()
}

// Account makes an account as docs/fleet.md says, with a signing key, and returns what the file of that key has.
// change may be nil.
func (c *Cluster) Account(change func(*jwt.AccountClaims)) string {
	c.t.Helper()
	key, signing := newKey(c.t), newKey(c.t)
	id := c.account(func(id string) *jwt.AccountClaims {
		claims := jwt.NewAccountClaims(id)
		claims.SigningKeys.Add(public(c.t, signing))
		claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: 1 << 30, Streams: 1, Consumer: jwt.NoLimit}
		claims.Limits.DisallowBearer = true
		if change != nil {
			change(claims)
		}
		return claims
	}, key)
	seed, err := signing.Seed()
	if err != nil {
		c.t.Fatal(err)
	}
	return string(seed) + "\n" + id + "\n"
}

func (c *Cluster) account(claims func(id string) *jwt.AccountClaims, key nkeys.KeyPair) string {
	c.t.Helper()
	id := public(c.t, key)
	text, err := claims(id).Encode(c.operator)
	if err == nil {
		err = c.accounts.Store(id, text)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return id
}

func newKey(t testing.TB) nkeys.KeyPair {
	t.Helper()
	key, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func public(t testing.TB, k nkeys.KeyPair) string {
	t.Helper()
	text, err := k.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// certificate is for 127.0.0.1, by a new authority whose certificate is written to the file CA.
func (c *Cluster) certificate() tls.Certificate {
	c.t.Helper()
	must := func(err error) {
		c.t.Helper()
		if err != nil {
			c.t.Fatal(err)
		}
	}
	authority, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	root := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the cluster's authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "n1"}, NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, &authority.PublicKey, authority)
	must(err)
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, &key.PublicKey, authority)
	must(err)
	must(os.WriteFile(c.CA, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}), 0o600))
	return tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: key}
}
