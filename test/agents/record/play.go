package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"

	"berth/agent"
	"berth/terminal"
	"berth/test/agents/modelapi"
)

// program is an agent on a PTY, with the emulator as its terminal.
type program struct {
	r     *recording
	cmd   *exec.Cmd
	tty   *os.File
	ended chan struct{} // closed when it has ended and all of its output is noted
	api   *modelapi.Server
	dir   string               // where it works
	last  map[string]time.Time // by source of now

	mu      sync.Mutex
	term    *terminal.Terminal
	replies [][]byte
	rests   time.Time // when its title first had the mark of rest
	changed chan struct{}
}

func start(r *recording, a *prepared, args []string) (*program, error) {
	p := &program{r: r, api: a.api, dir: a.workspace, ended: make(chan struct{}), changed: make(chan struct{}), last: map[string]time.Time{}}
	p.term = terminal.New(terminal.Options{Cols: r.cols, Rows: r.rows, Scrollback: 1000, Handlers: terminal.Handlers{
		Reply: func(reply []byte, _ int64) { p.replies = append(p.replies, append([]byte(nil), reply...)) },
	}})
	p.cmd = exec.Command(a.exe, append(a.args, args...)...)
	p.cmd.Dir = a.workspace
	p.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SHELL=/bin/sh", "USER=tester", "TERM=xterm-256color", "COLORTERM=truecolor"}
	for k, v := range a.env {
		p.cmd.Env = append(p.cmd.Env, k+"="+v)
	}
	r.begin(strings.Join(p.cmd.Args, " "))
	tty, err := pty.StartWithSize(p.cmd, &pty.Winsize{Cols: uint16(r.cols), Rows: uint16(r.rows)})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", r.agent, err)
	}
	p.tty = tty
	go p.read()
	return p, nil
}

func (p *program) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := p.tty.Read(buffer)
		if n > 0 {
			p.r.output(buffer[:n])
			p.show(buffer[:n])
		}
		if err != nil {
			break // the program's side is closed
		}
	}
	_ = p.cmd.Wait() // how it ended is the script's matter
	close(p.ended)
}

func (p *program) show(data []byte) {
	p.mu.Lock()
	_, _ = p.term.Write(data) // never fails
	if p.rests.IsZero() && strings.HasPrefix(p.term.Title(), "✳") {
		p.rests = time.Now()
	}
	replies := p.replies
	p.replies = nil
	close(p.changed)
	p.changed = make(chan struct{})
	p.mu.Unlock()
	for _, reply := range replies {
		_, _ = p.tty.Write(reply) // a program that has ended asks no more
	}
}

// end ends the program, if it has not ended by itself, and waits.
func (p *program) end() error {
	killed := time.Now()
	_ = p.cmd.Process.Signal(syscall.SIGHUP) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	p.r.state(killed, killed, time.Now(), string(agent.Exited), "", "", "", "it was ended")
	time.Sleep(settle) // hooks of its end are not awaited by it
	return p.tty.Close()
}

// patient is how long the script waits for what it wants to see.
const patient = 30 * time.Second

// play runs a script, a command a line:
//
//	see REGEXP       wait until a line of the screen matches, and keep the screen
//	gone REGEXP      wait until no line does
//	key NAME         press a key, by name or a character
//	type TEXT        write it at once; \r, \x1b and so on as in Go
//	paste TEXT       the same as a bracketed paste
//	message TEXT     paste it, see it in the composer, press Enter
//	size COLSxROWS   resize
//	title TEXT       wait until the title contains it
//	shot NAME        keep the screen with its styles, in NAME.shots.txtar
//	made FILE        wait until a file is in the folder that the agent works in
//	sleep DURATION   let time pass, that the recording is to show
//	now STATE SOURCE [PROMPT [TOOL]]
//	                 what is true since the last event of SOURCE: key (that the script
//	                 pressed), asked or answered (a turn's request to the model), made, title, seen.
//	                 An error has its kind in PROMPT's place.
//	signal NUMBER    send a signal to the program
//	exited           wait for the program's end
//
// Empty lines and lines with # are skipped.
func (p *program) play(ctx context.Context, script []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(script))
	for n := 1; lines.Scan(); n++ {
		verb, rest, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		if verb == "" || strings.HasPrefix(verb, "#") || n <= 4 && slices.Contains([]string{"agent", "sizes", "without", "allows", "form", "args"}, verb) {
			continue
		}
		if err := p.do(ctx, verb, strings.TrimSpace(rest)); err != nil {
			return fmt.Errorf("line %d: %s: %w\n%s", n, lines.Text(), err, p.text())
		}
	}
	return lines.Err()
}

func (p *program) do(ctx context.Context, verb, rest string) error {
	switch verb {
	case "see", "gone":
		return p.await(ctx, rest, verb == "see")
	case "title":
		return p.titled(ctx, rest)
	case "shot":
		return p.shot(rest)
	case "made":
		return p.made(ctx, rest)
	case "now":
		return p.now(ctx, strings.Fields(rest))
	case "key":
		return p.key(rest)
	case "type", "paste", "message":
		text, err := strconv.Unquote(`"` + strings.ReplaceAll(rest, `"`, `\"`) + `"`)
		if err != nil {
			return err
		}
		if verb == "type" {
			return p.write(text)
		}
		if err := p.write("\x1b[200~" + text + "\x1b[201~"); err != nil || verb == "paste" {
			return err
		}
		if err := p.pasted(ctx); err != nil {
			return err
		}
		return p.write("\r")
	case "size":
		return p.resize(rest)
	case "sleep":
		d, err := time.ParseDuration(rest)
		if err != nil {
			return err
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return ctx.Err()
	case "signal":
		n, err := strconv.Atoi(rest)
		if err != nil {
			return err
		}
		return p.cmd.Process.Signal(syscall.Signal(n))
	case "exited":
		select {
		case <-p.ended:
			return nil
		case <-time.After(patient):
			return errors.New("it goes on")
		}
	}
	return errors.New("there is no such command")
}

// pasted waits until the composer has the message. Only Claude Code draws it otherwise than the
// messages above it.
func (p *program) pasted(ctx context.Context) error {
	if p.r.agent == "claude" {
		return p.await(ctx, "^❯\u00a0\\S", true)
	}
	return p.do(ctx, "sleep", "700ms")
}

func (p *program) write(text string) error {
	p.last["key"] = time.Now()
	p.r.note("i", text)
	_, err := p.tty.WriteString(text)
	return err
}

func (p *program) key(name string) error {
	if len(name) == 1 {
		return p.write(name)
	}
	p.mu.Lock()
	modes := p.term.Modes()
	p.mu.Unlock()
	data, err := terminal.EncodeKey(name, modes)
	if err != nil {
		return err
	}
	return p.write(string(data))
}

func (p *program) resize(size string) error {
	var cols, rows int
	if _, err := fmt.Sscanf(size, "%dx%d", &cols, &rows); err != nil {
		return err
	}
	p.mu.Lock()
	p.term.Resize(cols, rows)
	p.mu.Unlock()
	p.r.note("r", size)
	return pty.Setsize(p.tty, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}

func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.TrimRight(strings.Join(p.term.Snapshot(0).Text(), "\n"), "\n ")
}

// shot keeps the screen with its styles, and the cursor's place if it is visible.
func (p *program) shot(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	shown := p.term.Snapshot(0)
	rows := make([]string, len(shown.Lines))
	for i, l := range shown.Lines {
		rows[i] = l.ANSI()
	}
	at := ""
	if c := shown.Cursor; c.Visible {
		at = fmt.Sprintf(" %d,%d", c.Row, c.Col)
	}
	return p.r.shot(fmt.Sprintf("-- %s %dx%d%s --\n%s\n", name, shown.Cols, shown.Rows, at, strings.TrimRight(strings.Join(rows, "\n"), "\n")))
}

// titled waits until the title contains the text.
func (p *program) titled(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, patient)
	defer cancel()
	for {
		p.mu.Lock()
		changed, title := p.changed, p.term.Title()
		p.mu.Unlock()
		if strings.Contains(title, text) {
			p.last["title"] = time.Now()
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return errors.New("it never came")
		}
	}
}

// await waits for a line that matches, or for none to.
func (p *program) await(ctx context.Context, pattern string, there bool) error {
	re, err := regexp.Compile("(?m)" + pattern)
	if err != nil {
		return err
	}
	timer := time.NewTimer(patient)
	defer timer.Stop()
	for {
		p.mu.Lock()
		changed, title := p.changed, p.term.Title()
		p.mu.Unlock()
		if text := p.text(); re.MatchString(text) == there {
			p.last["seen"] = time.Now()
			p.r.picture(fmt.Sprintf("label=%q title=%q", pattern, title), text)
			return nil
		}
		select {
		case <-changed:
		case <-p.ended:
			return errors.New("the program has ended")
		case <-timer.C:
			return errors.New("it never came")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
