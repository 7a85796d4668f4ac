package hold

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"berth/rawio"
)

// answerWithin is how long a holder may take to answer where the context
// allows more.
const answerWithin = 5 * time.Second

// Start runs exe, berth-hold, as `exe hold`, which runs the program of the spec. It
// returns when the program runs, or with the reason why it does not: a
// *StartError if the holder reported one. The holder is this process's child
// and is reaped here; it lives on when this process ends.
//
// known, which may be nil, is called with the holder's process before the
// holder learns what to run. A caller that keeps it knows every process of the
// program from the program's first moment.
func Start(ctx context.Context, exe string, spec Spec, known func(pid int, start string)) (*Link, error) {
	if err := spec.complete(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("starting a holder: %w", err)
	}
	ready, told, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting a holder: %w", err)
	}
	defer ready.Close()
	log, err := os.OpenFile(filepath.Join(spec.Dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		told.Close()
		return nil, fmt.Errorf("starting a holder: %w", err)
	}
	cmd := exec.Command(exe, holderWord)
	cmd.Env = []string{} // the program has its own; the holder needs none
	stdin, err := cmd.StdinPipe()
	if err != nil {
		told.Close()
		log.Close()
		return nil, fmt.Errorf("starting a holder: %w", err)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{told} // readyFD
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	told.Close()
	log.Close()
	if err != nil {
		return nil, fmt.Errorf("starting a holder: %w", err)
	}
	ended := children.add(cmd.Process.Pid)
	if self, err := lookProcess(cmd.Process.Pid); err == nil && known != nil { // one that has ended runs nothing
		known(self.pid, self.start)
	}
	stdin.Write(body) // a holder that does not read it ends without a word
	stdin.Close()
	err = awaitStart(ctx, ready)
	if err == nil {
		var l *Link
		if l, err = Dial(ctx, spec.Dir); err == nil {
			return l, nil
		}
	}
	cmd.Process.Kill() // the program goes with it: its terminal hangs up
	<-ended
	return nil, err
}

// awaitStart reads what the holder says about the start.
func awaitStart(ctx context.Context, ready *os.File) error {
	stop := context.AfterFunc(ctx, func() { ready.SetReadDeadline(time.Now()) })
	defer stop()
	var s started
	if err := json.NewDecoder(ready).Decode(&s); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("starting a holder: %w", ctx.Err())
		}
		return fmt.Errorf("starting a holder: it ended without a word (see %s): %w", logFile, err)
	}
	if s.Error == "" {
		return nil
	}
	e := &StartError{Message: s.Error}
	if s.Errno != 0 {
		e.Errno = syscall.Errno(s.Errno)
	}
	return e
}

// Dial finds the holder of a session's folder again: by its pid, its start
// time and its answer. ErrGone says that it is dead; ErrNoAnswer that it lives
// and cannot be asked; ErrRefused that it will not serve this process. It
// takes the holder over from any other server.
func Dial(ctx context.Context, dir string) (*Link, error) {
	id, err := readIdentity(dir)
	if err != nil {
		return nil, err
	}
	if !alive(id.PID, id.Start) {
		return nil, fmt.Errorf("holder %d: %w", id.PID, ErrGone)
	}
	l, err := dialHolder(ctx, dir, id)
	if err == nil {
		return l, nil
	}
	if !alive(id.PID, id.Start) {
		return nil, fmt.Errorf("holder %d: %w", id.PID, ErrGone)
	}
	if errors.Is(err, ErrRefused) {
		return nil, fmt.Errorf("holder %d: %w", id.PID, err)
	}
	return nil, fmt.Errorf("holder %d: %w: %w", id.PID, ErrNoAnswer, err)
}

// dialHolder connects and shakes hands.
func dialHolder(ctx context.Context, dir string, id identity) (*Link, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	conn, err := rawio.Dial(ctx, id.Socket)
	if err != nil {
		return nil, err
	}
	c, err := newSocket(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Now()) })
	w, r, err := shakeHands(c, id)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return newLink(dir, c, r, w), nil
}

// shakeHands makes sure that it is the holder who listens, and says hello.
func shakeHands(c *socket, id identity) (Welcome, *bufio.Reader, error) {
	var w Welcome
	pid, uid, err := serverOf(c.UnixConn)
	if err != nil {
		return w, nil, err
	}
	if pid != id.PID {
		return w, nil, fmt.Errorf("%w: process %d of user %d listens on its socket", ErrRefused, pid, uid)
	}
	body, err := json.Marshal(hello{Min: minVersion, Max: maxVersion})
	if err != nil {
		return w, nil, err
	}
	// A refusal may be there before the hello: it is read all the same.
	_, sent := c.Write(appendFrame(nil, frameHello, body))
	r := bufio.NewReaderSize(c, 4<<10)
	for {
		t, payload, err := readFrame(r)
		if err != nil {
			return w, nil, errors.Join(err, sent)
		}
		switch t {
		case frameWelcome:
			err := json.Unmarshal(payload, &w)
			return w, r, err
		case frameRefuse:
			var why refusal
			json.Unmarshal(payload, &why)
			return w, nil, fmt.Errorf("%w: %s", ErrRefused, why.Message)
		}
	}
}
