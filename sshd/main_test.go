package sshd

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	ssh "charm.land/ssh"
	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"

	"berth/keys"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("SSHD_TEST_PROCESS"); mode != "" {
		os.Exit(testProcess(mode))
	}
	goleak.VerifyTestMain(m)
}

// testKeys is a KeySource that tests change.
type testKeys struct {
	mu      sync.Mutex
	ids     map[string]keys.Identity // by fingerprint
	changes chan struct{}
	lookups int
}

func newTestKeys() *testKeys {
	return &testKeys{ids: map[string]keys.Identity{}, changes: make(chan struct{})}
}

func (k *testKeys) Lookup(key gossh.PublicKey, _ net.Addr, _ time.Time) (keys.Identity, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lookups++
	id, ok := k.ids[gossh.FingerprintSHA256(key)]
	if !ok {
		return id, errors.New("not in the key file")
	}
	return id, nil
}

func (k *testKeys) Changed() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.changes
}

func (k *testKeys) tell() {
	close(k.changes)
	k.changes = make(chan struct{})
}

func (k *testKeys) set(key gossh.PublicKey, id keys.Identity) {
	k.mu.Lock()
	k.ids[gossh.FingerprintSHA256(key)] = id
	k.tell()
	k.mu.Unlock()
}

func (k *testKeys) remove(key gossh.PublicKey) {
	k.mu.Lock()
	delete(k.ids, gossh.FingerprintSHA256(key))
	k.tell()
	k.mu.Unlock()
}

// keyPair is a key in memory and as files for the real client.
type keyPair struct {
	file   string
	signer gossh.Signer
}

func (k keyPair) public() gossh.PublicKey { return k.signer.PublicKey() }

func newKey(t testing.TB, dir, name string) keyPair {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := gossh.NewSignerFromSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKey(private, name)
	if err != nil {
		t.Fatal(err)
	}
	k := keyPair{file: filepath.Join(dir, name), signer: signer}
	if err := os.WriteFile(k.file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(k.file+".pub", gossh.MarshalAuthorizedKey(signer.PublicKey()), 0o600); err != nil {
		t.Fatal(err)
	}
	return k
}

// harness is a running server with an admin's key.
type harness struct {
	t      testing.TB
	dir    string
	server *Server
	keys   *testKeys
	admin  keyPair
	served chan error
	log    *lockedBuffer

	mu     sync.Mutex
	logins []Login
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// handler serves sessions by a function that gives their exit status.
func handler(log io.Writer, serve func(context.Context, *Session) int) ssh.Handler {
	return Recover(slog.New(slog.NewTextHandler(log, nil)))(func(s ssh.Session) {
		one := Of(s)
		_ = s.Exit(serve(one.Context(), one)) // an error is that the client has gone
	})
}

func start(t testing.TB, serve func(context.Context, *Session) int, change ...func(*Options)) *harness {
	t.Helper()
	dir, err := os.MkdirTemp("", "sshd") // short enough for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &harness{t: t, dir: dir, keys: newTestKeys(), served: make(chan error, 1), log: &lockedBuffer{}}
	h.admin = newKey(t, dir, "admin")
	h.keys.set(h.admin.public(), keys.Identity{Name: "admin", Role: keys.Admin})
	o := Options{
		Listen: []string{"127.0.0.1:0"}, HostKeys: []gossh.Signer{newKey(t, dir, "host").signer},
		Keys: h.keys, Handler: handler(h.log, serve), Log: slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Audit: func(l Login) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.logins = append(h.logins, l)
		},
	}
	for _, f := range change {
		f(&o)
	}
	if h.server, err = New(o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { h.served <- h.server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-h.served:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("Serve does not return")
		}
		if t.Failed() {
			t.Logf("the server's log:\n%s", h.log)
		}
	})
	return h
}

func (h *harness) audited() []Login {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Login(nil), h.logins...)
}

// args are the real client's options for a key file, then words.
func (h *harness) args(key string, words ...string) []string {
	_, port, _ := net.SplitHostPort(h.server.Addr().String())
	return append([]string{"-F", "none", "-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=no",
		"-o", "LogLevel=ERROR", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes",
		"-i", key, "-p", port}, words...)
}

func (h *harness) command(words ...string) *exec.Cmd {
	return exec.Command("ssh", h.args(h.admin.file, words...)...)
}

type result struct {
	out, err string
	status   int
}

// ssh runs the real client to its end.
func (h *harness) ssh(stdin string, words ...string) result {
	h.t.Helper()
	return run(h.t, h.command(words...), stdin)
}

func run(t testing.TB, cmd *exec.Cmd, stdin string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewBufferString(stdin), &out, &errOut
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	return result{out.String(), errOut.String(), cmd.ProcessState.ExitCode()}
}

// client is an in-process client, for what the real one cannot be made to do.
func (h *harness) client() *gossh.Client {
	h.t.Helper()
	c, err := gossh.Dial("tcp", h.server.Addr().String(), h.clientConfig())
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { c.Close() })
	return c
}

func (h *harness) clientConfig() *gossh.ClientConfig {
	return &gossh.ClientConfig{User: "agents", Auth: []gossh.AuthMethod{gossh.PublicKeys(h.admin.signer)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey(), Timeout: 10 * time.Second}
}

// eventually waits for a condition that must become true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("not within 10 s: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}
