package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// settled waits until the server has as many goroutines as before, except those of a connection that is
// just closing, and uses no processor.
func (h *host) settled(goroutines int) {
	h.t.Helper()
	var now int
	waitFor(h.t, fmt.Sprintf("the goroutines to be %d again", goroutines), func() bool {
		now = h.health().Goroutines
		return now <= goroutines+3
	})
	const over = time.Second
	waitFor(h.t, "the server to use no processor", func() bool {
		before := cpu(h.pid())
		time.Sleep(over) // the time that is measured
		return cpu(h.pid())-before < over/100
	})
	h.t.Logf("goroutines: %d before, %d after; the server is idle", goroutines, now)
}

// login times a login of the real client that runs a verb.
func (h *host) login() time.Duration {
	h.t.Helper()
	begun := time.Now()
	h.run("version")
	return time.Since(begun)
}

// logins is the median and the slowest of some logins.
func (h *host) logins() (median, most time.Duration) {
	h.t.Helper()
	var all []time.Duration
	for range 11 {
		all = append(all, h.login())
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)-1]
}

// TestIdleConnections opens a thousand connections that log in and then do nothing.
func TestIdleConnections(t *testing.T) {
	const count = 1000
	h := newHost(t, fast, "--limits-caller-connections", fmt.Sprint(count+10)) // room for the timed logins
	h.start()
	pem, err := os.ReadFile(h.key)
	must(t, err)
	signer, err := ssh.ParsePrivateKey(pem)
	must(t, err)
	h.login()
	goroutines, before := h.health().Goroutines, anonymous(t, h.pid())

	var mu sync.Mutex
	var clients []*ssh.Client
	begun := time.Now()
	share(8, count, func(int) {
		c, err := ssh.Dial("tcp", h.addr, &ssh.ClientConfig{User: "agents", Auth: []ssh.AuthMethod{ssh.PublicKeys(signer)},
			HostKeyCallback: ssh.InsecureIgnoreHostKey(), Timeout: patience}) // the test's own server, on loopback
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Errorf("login %d: %v", len(clients), err)
			return
		}
		clients = append(clients, c)
	})
	took := time.Since(begun)
	grown := anonymous(t, h.pid()) - before
	median, most := h.logins()
	t.Logf("%d logins in %v; %s of memory each; a login beside them: %v, at most %v", len(clients), took.Round(time.Millisecond), kib(grown/count), median.Round(100*time.Microsecond), most.Round(100*time.Microsecond))
	if grown > count*150<<10 {
		t.Errorf("an idle connection costs %s", kib(grown/count))
	}
	if most > time.Second {
		t.Errorf("a login beside them took %v", most)
	}
	for _, c := range clients {
		_ = c.Close()
	}
	h.settled(goroutines)
}

func kib(bytes int64) string { return fmt.Sprintf("%.0f KiB", float64(bytes)/1024) }

// TestSilentConnections opens connections that never authenticate.
func TestSilentConnections(t *testing.T) {
	const count = 200
	const grace = 3 * time.Second
	h := newHost(t, fast, "--limits-login-grace", grace.String())
	h.start()
	h.login()
	goroutines, before := h.health().Goroutines, anonymous(t, h.pid())
	begun := time.Now()
	cut := make(chan time.Duration, count)
	var waiting sync.WaitGroup
	for i := range count {
		c, err := net.Dial("tcp", h.addr)
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		if i%2 == 0 { // half of them send a version line
			_, err = io.WriteString(c, "SSH-2.0-silent\r\n")
			must(t, err)
		}
		waiting.Go(func() {
			_ = c.SetReadDeadline(begun.Add(patience))
			_, err := io.Copy(io.Discard, c)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a silent connection was not cut")
			}
			cut <- time.Since(begun)
		})
	}
	grown := anonymous(t, h.pid()) - before
	median, most := h.logins()
	waiting.Wait()
	close(cut)
	var latest time.Duration
	for d := range cut {
		latest = max(latest, d)
	}
	t.Logf("%d silent connections: %s each, the last one cut after %v; a login beside them: %v, at most %v", count, kib(grown/count), latest.Round(time.Millisecond), median.Round(100*time.Microsecond), most.Round(100*time.Microsecond))
	if latest > grace+2*time.Second {
		t.Errorf("a silent connection was cut after %v, the grace is %v", latest, grace)
	}
	if most > time.Second {
		t.Errorf("a login beside them took %v", most)
	}
	h.settled(goroutines)
}

// TestClientsThatDoNotRead stops clients that asked for much output.
func TestClientsThatDoNotRead(t *testing.T) {
	const size, count = 60 << 20, 8
	h := newHost(t, fast)
	h.start()
	h.create("log", "--", program, "print", h.dir, fmt.Sprint(size))
	h.run("input", "log", "--enter", "go")
	h.printed(1)
	waitFor(t, "the screen", func() bool { return answer[screen](h, "screen", "log").Offset > size })
	h.login()
	goroutines, before := h.health().Goroutines, anonymous(t, h.pid())

	most := h.mostMemory(func() {
		var clients []*exec.Cmd
		for range count {
			c := h.command("output", "log", "--raw", "--offset", "0")
			out, err := c.StdoutPipe()
			must(t, err)
			must(t, c.Start())
			_, err = io.ReadFull(out, make([]byte, 1<<10)) // the output has begun
			must(t, err)
			must(t, c.Process.Signal(syscall.SIGSTOP))
			clients = append(clients, c)
		}
		median, slowest := h.logins()
		t.Logf("a login beside %d stopped clients: %v, at most %v", count, median.Round(100*time.Microsecond), slowest.Round(100*time.Microsecond))
		if slowest > time.Second {
			t.Errorf("a login beside them took %v", slowest)
		}
		var used time.Duration
		waitFor(t, "the server to have no more to do for them", func() bool {
			begun := cpu(h.pid())
			time.Sleep(200 * time.Millisecond)
			used = cpu(h.pid()) - begun
			return used < 10*time.Millisecond
		})
		for _, c := range clients {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
	})
	t.Logf("memory grew by at most %s for %d clients that each wait for %d MiB", mib(most-before), count, size>>20)
	if most-before > count*6<<20 {
		t.Errorf("the server's memory grew by %s for %d stopped clients", mib(most-before), count)
	}
	h.settled(goroutines)

	// A client that reads slowly gets all of the output.
	got := h.run("output", "log", "--raw", "--offset", "0")
	if n := bytes.Count(got, []byte("\n")); len(got) < size || n == 0 {
		t.Errorf("a client that reads got %d bytes", len(got))
	}
}
