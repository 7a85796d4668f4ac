package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/sessions/hold"
)

// cols and rws are the size of every client's window and of every session that it sees.
const (
	cols = 120
	rws  = 40
)

// bench is one run: a folder, a key, and the servers started so far.
type bench struct {
	ctx    context.Context
	dir    string
	exe    string // berth
	holder string // berth-hold, next to berth
	self   string // this program, which also runs in the sessions
	user   string
	echo   string // a program that prints each key
	rounds float64
	key    string
	signer gossh.Signer

	berthd *berthServer
	sshds  map[sshdKind]string // addresses
	panes  *tmuxServer
	undo   []func() error
}

func newBench(ctx context.Context, berth string, rounds float64) (*bench, error) {
	exe, err := filepath.Abs(berth)
	if err != nil {
		return nil, err
	}
	holder := filepath.Join(filepath.Dir(exe), hold.HookBinary)
	for _, binary := range []string{exe, holder} {
		if _, err := os.Stat(binary); err != nil {
			return nil, fmt.Errorf("find the binary to measure: %w", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	who, err := user.Current()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench") // a short path, because sockets are in it
	if err != nil {
		return nil, err
	}
	b := &bench{ctx: ctx, dir: dir, exe: exe, holder: holder, self: self, user: who.Username, rounds: rounds, sshds: map[sshdKind]string{}}
	b.later(func() error { return os.RemoveAll(dir) })
	if b.key, b.signer, err = b.newKey("client"); err != nil {
		return nil, errors.Join(err, b.close())
	}
	b.echo = filepath.Join(dir, "echo")
	if err := os.WriteFile(b.echo, []byte("#!/bin/sh\nstty raw -echo\nprintf "+ready+"\nexec cat\n"), 0o700); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// later defers a function to the end of the run. The last one runs first.
func (b *bench) later(f func() error) { b.undo = append(b.undo, f) }

func (b *bench) close() (err error) {
	for len(b.undo) > 0 {
		f := b.undo[len(b.undo)-1]
		b.undo = b.undo[:len(b.undo)-1]
		err = errors.Join(err, f())
	}
	return err
}

// rowTime is the time after which a row begins no further round. On a busy machine the medians have
// fewer rounds.
const rowTime = 20 * time.Second

// times yields n times the requested number of rounds, at least one.
func (b *bench) times(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		began := time.Now()
		for i := range max(int(float64(n)*b.rounds), 1) {
			if i > 0 && time.Since(began) > rowTime || !yield(i) {
				return
			}
		}
	}
}

func (b *bench) newKey(name string) (file string, signer gossh.Signer, err error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", nil, err
	}
	if signer, err = gossh.NewSignerFromSigner(private); err != nil {
		return "", nil, err
	}
	block, err := gossh.MarshalPrivateKey(private, name)
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(b.dir, name)
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		return "", nil, err
	}
	return file, signer, os.WriteFile(file+".pub", gossh.MarshalAuthorizedKey(signer.PublicKey()), 0o600)
}

// env is the environment of servers and clients.
func (b *bench) env() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.dir, "USER=" + b.user, "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=xterm-256color"}
}

// stop ends a process with a signal, and with SIGKILL if it doesn't end.
func stop(cmd *exec.Cmd, sig syscall.Signal, grace time.Duration) error {
	over := make(chan struct{})
	go func() {
		_ = cmd.Wait() // how it ends does not matter
		close(over)
	}()
	_ = cmd.Process.Signal(sig)
	select {
	case <-over:
		return nil
	case <-time.After(grace):
	}
	_ = cmd.Process.Kill()
	<-over
	return fmt.Errorf("%s did not end within %s of %s", filepath.Base(cmd.Path), grace, sig)
}

// poll calls ok until it returns true, until the end of the run, or for half a minute.
func (b *bench) poll(what string, ok func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(30 * time.Second)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			return fmt.Errorf("%s: did not happen", what)
		case <-b.ctx.Done():
			return context.Cause(b.ctx)
		}
	}
	return nil
}

// versions are the versions of the programs that Berth is compared with.
func versions(ctx context.Context) string {
	client, _ := exec.CommandContext(ctx, "ssh", "-V").CombinedOutput() // on standard error
	mux, _ := exec.CommandContext(ctx, "tmux", "-V").CombinedOutput()
	first, _, _ := strings.Cut(string(bytes.TrimSpace(client)), ",")
	return first + ", " + string(bytes.TrimSpace(mux))
}
