package gateway

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// Times of the program that is the NATS server.
const (
	startTime   = 15 * time.Second // to listen
	dialTime    = 2 * time.Second  // to be connected, on this machine
	answerTime  = 5 * time.Second  // to read the keys again
	endTime     = 5 * time.Second  // to end by itself
	firstPause  = 500 * time.Millisecond
	longestWait = 30 * time.Second
)

// program is berth-fleet, which is started again whenever it ends. One goroutine owns it; the others ask it to
// read the keys.
type program struct {
	exe, dir string
	log      *slog.Logger
	address  string // where it listens; the same after each start

	stop  context.CancelFunc
	ended chan struct{}

	mu  sync.Mutex // of asking, and of what follows
	now *run       // nil while none runs
}

// run is one process of the program.
type run struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	near    string        // where this process connects
	lines   chan string   // of its output; closed at its end
	drained chan struct{} // the output was read to its end
}

// startProgram starts it and returns when it listens.
func startProgram(exe, dir, address string, log *slog.Logger) (*program, error) {
	p := &program{exe: exe, dir: dir, log: log, ended: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	first, listens, err := p.start(address)
	if err != nil {
		stop()
		return nil, err
	}
	p.address, p.now = listens, first
	go func() { defer close(p.ended); p.supervise(ctx, first) }()
	return p, nil
}

// start starts a process and waits until it listens.
func (p *program) start(address string) (*run, string, error) {
	cmd := exec.Command(p.exe, p.dir, address)
	messages := &tail{}
	cmd.Stderr, cmd.WaitDelay = messages, endTime
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", fmt.Errorf("start berth-fleet: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", fmt.Errorf("start berth-fleet: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("start berth-fleet: %w", err)
	}
	r := &run{cmd: cmd, in: in, lines: make(chan string, 1), drained: make(chan struct{})}
	go func() {
		defer close(r.drained)
		defer close(r.lines)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			select {
			case r.lines <- lines.Text():
			default: // an answer that no caller waits for any more
			}
		}
	}()
	line, err := r.answer(startTime)
	addresses, ok := strings.CutPrefix(line, "listening on ")
	listens, near, both := strings.Cut(addresses, " ")
	if err == nil && ok && both {
		r.near = near
		return r, listens, nil
	}
	_ = r.end()
	return nil, "", fmt.Errorf("listen for the fleet's hosts on %s: %s", address, messages)
}

// answer waits for a line.
func (r *run) answer(within time.Duration) (string, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case line, ok := <-r.lines:
		if !ok {
			return "", errors.New("berth-fleet has ended")
		}
		return line, nil
	case <-timer.C:
		return "", fmt.Errorf("berth-fleet didn't answer within %s", within)
	}
}

// end ends the process: by itself, and if it doesn't, with a kill.
func (r *run) end() error {
	_ = r.in.Close()
	timer := time.AfterFunc(endTime, func() { _ = r.cmd.Process.Kill() })
	defer timer.Stop()
	<-r.drained
	return r.cmd.Wait()
}

// supervise starts the program again when it ends, until ctx does. While it is away, members and the gateway dial.
func (p *program) supervise(ctx context.Context, r *run) {
	pause := firstPause
	for {
		began := time.Now()
		select {
		case <-r.drained:
		case <-ctx.Done():
		}
		p.set(nil)
		err := r.end()
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > longestWait {
			pause = firstPause
		}
		for r = nil; r == nil; pause = min(2*pause, longestWait) {
			p.log.Error("the fleet's NATS server isn't running and is started again", "in", pause, "error", err)
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			r, _, err = p.start(p.address)
		}
		p.set(r)
		p.log.Info("the fleet's NATS server runs again", "address", p.address)
	}
}

// Dial connects to the process that runs now: each has another address for its gateway. It is a nats.CustomDialer.
func (p *program) Dial(network, _ string) (net.Conn, error) {
	p.mu.Lock()
	now := p.now
	p.mu.Unlock()
	if now == nil {
		return nil, errors.New("the fleet's NATS server isn't running")
	}
	return net.DialTimeout(network, now.near, dialTime)
}

func (p *program) set(r *run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = r
}

// read makes the program read the fleet's keys again. A program that isn't running reads them at its start.
func (p *program) read() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now == nil {
		return nil
	}
	select {
	case <-p.now.lines: // the answer to a call that waited too short
	default:
	}
	if _, err := io.WriteString(p.now.in, "read\n"); err != nil {
		return fmt.Errorf("ask berth-fleet to read the keys: %w", err)
	}
	_, err := p.now.answer(answerTime)
	return err
}

// close ends the program.
func (p *program) close() {
	p.stop()
	<-p.ended
}

// tail keeps the end of what a program writes.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailMost = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if len(t.text) > tailMost {
		t.text = append([]byte(nil), t.text[len(t.text)-tailMost:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if text := strings.TrimSpace(string(t.text)); text != "" {
		return text
	}
	return "it has ended without a message"
}
