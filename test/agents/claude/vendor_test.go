//go:build agents

package claude

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// vendor is Anthropic's hosts on loopback, for what Claude Code reaches by fixed
// addresses: the sign-in, its tokens, the account, and with a sign-in the model.
// It is Claude's HTTPS proxy and has certificates of an authority of its own,
// which only Claude trusts.
type vendor struct {
	t        *testing.T
	url      string
	ca       string // file of the authority
	tls      *tls.Config
	model    http.Handler
	listener net.Listener
	serving  sync.WaitGroup

	mu      sync.Mutex
	open    map[net.Conn]bool
	over    bool
	seen    []string          // METHOD HOST PATH of each request
	grants  []map[string]any  // what tokens were asked for
	tokens  int               // pairs given
	refuses int               // how many are refused before
	header  map[string]string // added to the model's answers
}

// vendorHosts are those that it plays.
var vendorHosts = []string{"api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai", "claude.com", "mcp-proxy.anthropic.com", "downloads.claude.ai"}

// plays starts a vendor, whose model is the lab's.
func (l *lab) plays() *vendor {
	l.T.Helper()
	model, err := url.Parse(l.API.URL())
	check(l.T, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(l.T, err)
	v := &vendor{t: l.T, url: "http://" + listener.Addr().String(), listener: listener, model: httputil.NewSingleHostReverseProxy(model), header: map[string]string{}, open: map[net.Conn]bool{}}
	v.certify(filepath.Join(l.home.Dir, "ca.pem"))
	v.serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			v.serving.Go(func() { v.tunnel(conn) })
		}
	})
	l.T.Cleanup(v.end)
	return v
}

// end closes the open connections: Claude may run for another moment.
func (v *vendor) end() {
	_ = v.listener.Close()
	v.mu.Lock()
	v.over = true
	for conn := range v.open {
		_ = conn.Close()
	}
	v.mu.Unlock()
	v.serving.Wait()
}

// holds registers an open connection, which end closes. It is false if the vendor has ended.
func (v *vendor) holds(conn net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open[conn] = true
	return !v.over
}

func (v *vendor) lets(conn net.Conn) {
	v.mu.Lock()
	delete(v.open, conn)
	v.mu.Unlock()
	_ = conn.Close()
}

// env leads Claude to the vendor. It has neither the lab's key nor its address.
func (v *vendor) env() map[string]string {
	return map[string]string{
		"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": "", "HTTPS_PROXY": v.url, "HTTP_PROXY": v.url, "NO_PROXY": "", "NODE_EXTRA_CA_CERTS": v.ca,
	}
}

// certify makes the authority and one certificate for all hosts.
func (v *vendor) certify(file string) {
	v.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(v.t, err)
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "lab"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	check(v.t, err)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "lab's hosts"}, NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
		DNSNames: vendorHosts, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, key)
	check(v.t, err)
	v.ca = file
	check(v.t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root}), 0o600))
	v.tls = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}}, NextProtos: []string{"http/1.1"}}
}

// tunnel is one connection of Claude's to a host.
func (v *vendor) tunnel(conn net.Conn) {
	defer v.lets(conn)
	if !v.holds(conn) {
		return
	}
	in := bufio.NewReader(conn)
	connect, err := http.ReadRequest(in)
	if err != nil || connect.Method != http.MethodConnect {
		return
	}
	host := connect.URL.Hostname()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	one := make(chan net.Conn, 1)
	one <- tls.Server(conn, v.tls)
	ended := make(chan struct{})
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { v.answer(host, w, r) }),
		ReadHeaderTimeout: time.Minute,
		ConnState: func(_ net.Conn, s http.ConnState) {
			if s == http.StateClosed || s == http.StateHijacked {
				close(ended)
			}
		},
	}
	_ = server.Serve(&single{one, ended, v.listener.Addr()}) // ends with its connection
}

// single is a listener of one connection.
type single struct {
	conns chan net.Conn
	ended <-chan struct{}
	addr  net.Addr
}

func (s *single) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.ended:
		return nil, net.ErrClosed
	}
}
func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return s.addr }

// answer answers a request to one of the hosts.
func (v *vendor) answer(host string, w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.seen = append(v.seen, r.Method+" "+host+r.URL.Path)
	v.mu.Unlock()
	switch r.URL.Path {
	case "/v1/oauth/token":
		v.grant(w, r)
	case "/v1/messages", "/v1/messages/count_tokens":
		v.mu.Lock()
		for name, value := range v.header {
			w.Header().Set(name, value)
		}
		v.mu.Unlock()
		v.model.ServeHTTP(w, r)
	case "/api/oauth/profile":
		reply(w, map[string]any{
			"account":      map[string]any{"uuid": "11111111-1111-4111-8111-111111111111", "email": "ann@lab.example", "display_name": "Ann", "full_name": "Ann Lab", "has_claude_max": true, "has_claude_pro": false, "created_at": "2025-01-01T00:00:00Z"},
			"organization": map[string]any{"uuid": "22222222-2222-4222-8222-222222222222", "name": "Lab", "organization_type": "claude_max", "rate_limit_tier": "default_claude_max_5x", "has_extra_usage_enabled": false, "subscription_status": "active"},
		})
	case "/api/oauth/claude_cli/roles":
		reply(w, map[string]any{"organization_role": "admin", "workspace_role": nil, "organization_name": "Lab"})
	case "/api/oauth/claude_cli/create_api_key":
		reply(w, map[string]any{"raw_key": "sk-ant-lab-made-0123456789-abcdefghijklmnop"})
	default:
		reply(w, map[string]any{})
	}
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that left needs no answer
}

// grant gives a pair of tokens, each with its number.
func (v *vendor) grant(w http.ResponseWriter, r *http.Request) {
	var asked map[string]any
	_ = json.NewDecoder(r.Body).Decode(&asked) // a body that isn't JSON leaves asked empty, and no test checks for that
	v.mu.Lock()
	defer v.mu.Unlock()
	v.grants = append(v.grants, asked)
	if v.refuses > 0 {
		v.refuses--
		w.WriteHeader(http.StatusBadRequest)
		reply(w, map[string]any{"error": "invalid_grant", "error_description": "the lab refuses it"})
		return
	}
	v.tokens++
	reply(w, map[string]any{
		"token_type": "Bearer", "access_token": fmt.Sprintf("sk-ant-oat01-lab-%d", v.tokens), "refresh_token": fmt.Sprintf("sk-ant-ort01-lab-%d", v.tokens),
		"expires_in": 28800, "scope": "user:inference user:profile user:sessions:claude_code",
		"account":      map[string]any{"uuid": "11111111-1111-4111-8111-111111111111", "email_address": "ann@lab.example"},
		"organization": map[string]any{"uuid": "22222222-2222-4222-8222-222222222222", "name": "Lab"},
	})
}

// answersWith adds these headers to the model's answers from now on.
func (v *vendor) answersWith(header map[string]string) {
	v.mu.Lock()
	v.header = header
	v.mu.Unlock()
}

// refuse makes the vendor refuse the next n tokens.
func (v *vendor) refuse(n int) {
	v.mu.Lock()
	v.refuses = n
	v.mu.Unlock()
}

// asked are the requests so far.
func (v *vendor) asked() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]string(nil), v.seen...)
}

// granted are the tokens that were asked for so far.
func (v *vendor) granted() []map[string]any {
	v.mu.Lock()
	defer v.mu.Unlock()
	return append([]map[string]any(nil), v.grants...)
}

// signed is the credentials file after a sign-in: its tokens are valid for this long.
func signed(left time.Duration) []byte {
	data, _ := json.Marshal(map[string]any{"claudeAiOauth": map[string]any{
		"accessToken": "sk-ant-oat01-lab-0", "refreshToken": "sk-ant-ort01-lab-0", "expiresAt": time.Now().Add(left).UnixMilli(),
		"scopes": []string{"user:inference", "user:profile", "user:sessions:claude_code"}, "subscriptionType": "max", "rateLimitTier": "default_claude_max_5x",
	}})
	return data
}
