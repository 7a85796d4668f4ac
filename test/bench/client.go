package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/creack/pty"
	gossh "golang.org/x/crypto/ssh"
)

// ssh is the real client's command line for an address. It names the cipher, so that it uses the same
// one with all servers.
func (b *bench) ssh(addr string, options []string, words ...string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(addr)
	args := []string{"-F", "none", "-o", "UserKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=no", "-o", "LogLevel=ERROR",
		"-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-o", "BatchMode=yes", "-i", b.key, "-p", port, "-l", b.user}
	args = append(append(append(args, options...), host), words...)
	cmd := exec.CommandContext(b.ctx, "ssh", args...)
	cmd.Env = b.env()
	return cmd
}

// sameCipher makes the comparison fair: all servers have aes128-gcm.
var sameCipher = []string{"-c", "aes128-gcm@openssh.com"}

// timed runs a command to its end.
func timed(cmd *exec.Cmd) (took, cpu time.Duration, err error) {
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took = time.Since(began)
	if err != nil {
		return 0, 0, fmt.Errorf("%v: %w: %s", cmd.Args[len(cmd.Args)-1], err, out)
	}
	return took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// viewer is the real client in a terminal. One goroutine uses it.
type viewer struct {
	cmd  *exec.Cmd
	term *os.File
	buf  []byte
	tail []byte // the end of what was received
	got  int64
}

// tailSize is how many received bytes are kept: many screens.
const tailSize = 1 << 20

// view runs words on a server in a terminal of the bench's size.
func (b *bench) view(addr string, words ...string) (*viewer, error) {
	cmd := b.ssh(addr, append([]string{"-t"}, sameCipher...), words...)
	term, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: cols, Rows: rws})
	if err != nil {
		return nil, err
	}
	return &viewer{cmd: cmd, term: term, buf: make([]byte, 64<<10)}, nil
}

// close ends the client as a closed terminal would.
func (v *viewer) close() {
	_ = v.cmd.Process.Kill()
	_ = v.cmd.Wait() // it was killed
	_ = v.term.Close()
}

// read returns the next piece of output.
func (v *viewer) read() ([]byte, error) {
	n, err := v.term.Read(v.buf)
	v.got += int64(n)
	v.tail = append(v.tail, v.buf[:n]...)
	if len(v.tail) > 2*tailSize {
		v.tail = append(v.tail[:0], v.tail[len(v.tail)-tailSize:]...)
	}
	if err != nil {
		return nil, fmt.Errorf("the client ended: %w; it had got %q", err, v.tail[max(0, len(v.tail)-200):])
	}
	return v.buf[:n], nil
}

// until reads new output up to a mark.
func (v *viewer) until(mark string) error {
	var seen []byte
	for {
		p, err := v.read()
		if err != nil {
			return err
		}
		seen = append(seen, p...)
		if bytes.Contains(seen, []byte(mark)) {
			return nil
		}
		seen = seen[max(0, len(seen)-len(mark)):]
	}
}

// key types a character and waits for it to appear.
func (v *viewer) key(c byte) (time.Duration, error) {
	began := time.Now()
	if _, err := v.term.Write([]byte{c}); err != nil {
		return 0, err
	}
	for {
		p, err := v.read()
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte(p, c) >= 0 {
			return time.Since(began), nil
		}
	}
}

// dial connects without the real client.
func (b *bench) dial(addr string) (*gossh.Client, error) {
	return gossh.Dial("tcp", addr, &gossh.ClientConfig{
		Config: gossh.Config{KeyExchanges: []string{gossh.KeyExchangeCurve25519}, Ciphers: []string{gossh.CipherAES128GCM}},
		User:   b.user, Auth: []gossh.AuthMethod{gossh.PublicKeys(b.signer)},
		HostKeyCallback: gossh.InsecureIgnoreHostKey(), // the benchmark's own server
	})
}

// call runs one command on a connection.
func call(c *gossh.Client, line string) ([]byte, error) {
	s, err := c.NewSession()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	out, err := s.Output(line)
	if err != nil {
		return out, fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return out, nil
}
