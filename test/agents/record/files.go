package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"berth/agent"
)

// recording writes a recording's files. Its methods may be called from any
// goroutine; the first failure to write is kept for close.
type recording struct {
	prefix, title string
	agent         string
	cols, rows    int
	command       string
	started       time.Time

	mu                  sync.Mutex
	cast, hooks, screen *os.File
	truth               *os.File
	states              [][3]any
	tail                []byte // the beginning of a character that the last output ended in
	err                 error
}

func (r *recording) open() error {
	for _, f := range []struct {
		into **os.File
		ext  string
	}{{&r.cast, ".cast"}, {&r.hooks, ".hooks.jsonl"}, {&r.screen, ".screen.txt"}, {&r.truth, ".states.jsonl"}} {
		file, err := os.Create(r.prefix + f.ext)
		if err != nil {
			return err
		}
		*f.into = file
	}
	return nil
}

// begin starts the clock.
func (r *recording) begin(command string) {
	r.started, r.command = time.Now(), command
	r.line(r.cast, map[string]any{
		"version": 2, "width": r.cols, "height": r.rows, "timestamp": r.started.Unix(), "title": r.title, "command": command,
		"env": map[string]string{"TERM": "xterm-256color", "SHELL": "/bin/sh"},
	})
	r.line(r.truth, map[string]any{"recording": r.title, "agent": r.agent})
	r.state(r.started, r.started, r.started, string(agent.Starting), "", "", "", "the program was started")
}

func (r *recording) seconds() float64 {
	return float64(time.Since(r.started).Microseconds()) / 1e6
}

// line writes one JSON line, with the lock held or before others know of r.
func (r *recording) line(f *os.File, v any) {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = f.Write(append(data, '\n'))
	}
	r.err = errors.Join(r.err, err)
}

// output notes what the program wrote; a character that is cut waits for its rest.
func (r *recording) output(data []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	data = append(r.tail, data...)
	end := len(data)
	for back := 1; back < utf8.UTFMax && back <= len(data); back++ {
		if i := len(data) - back; utf8.RuneStart(data[i]) {
			if !utf8.FullRune(data[i:]) {
				end = i
			}
			break
		}
	}
	r.tail = append([]byte(nil), data[end:]...)
	if end > 0 {
		r.line(r.cast, []any{r.seconds(), "o", string(data[:end])})
	}
}

func (r *recording) note(kind, data string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(r.cast, []any{r.seconds(), kind, data})
}

func (r *recording) hook(payload json.RawMessage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.line(r.hooks, map[string]any{"t": r.seconds(), "payload": payload})
}

func (r *recording) picture(label, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err := fmt.Fprintf(r.screen, "===== t=%.3fs %s\n%s\n", r.seconds(), label, text)
	r.err = errors.Join(r.err, err)
}

// shot appends a screen to the recording's shots.
func (r *recording) shot(text string) error {
	f, err := os.OpenFile(r.prefix+".shots.txtar", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// watchEvery finds each change: Claude Code writes a state at most every few
// tens of milliseconds.
const watchEvery = 2 * time.Millisecond

// watch notes changes of the live state files until the function it gives.
func (r *recording) watch(dir string) (stop func()) {
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		last := map[string]string{}
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for {
			r.look(dir, last)
			select {
			case <-ticker.C:
			case <-end:
				return
			}
		}
	}()
	return func() {
		close(end)
		<-done
	}
}

func (r *recording) look(dir string, last map[string]string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // it is made when the prompt is first shown
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil || !json.Valid(data) || last[e.Name()] == string(data) {
			continue // gone, or caught amid a write: the next look has it
		}
		last[e.Name()] = string(data)
		r.mu.Lock()
		r.states = append(r.states, [3]any{r.seconds(), e.Name(), string(data)})
		r.mu.Unlock()
	}
}

// furniture is what Claude Code logs of its own prompts and tools. It is left out, as it says nothing
// of what the agent does.
var furniture = regexp.MustCompile(`"type":"(api-request|api-request-shape|prompt_snapshot|skill_listing|agent_listing_delta|session_context|remote_session_change|environment|deferred_tools_delta|date|model)"`)

// copyLogs concatenates the session logs, ordered by their start.
func (r *recording) copyLogs(projects string) error {
	files, err := filepath.Glob(filepath.Join(projects, "*", "*.jsonl"))
	if err != nil {
		return err
	}
	began := func(file string) string {
		data, _ := os.ReadFile(file) // it is read again below
		_, rest, _ := strings.Cut(string(data), `"timestamp":"`)
		at, _, _ := strings.Cut(rest, `"`)
		return at
	}
	sort.Slice(files, func(i, j int) bool { return began(files[i]) < began(files[j]) })
	var all []byte
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(data) {
			if !furniture.Match(line) {
				all = append(all, line...)
			}
		}
	}
	return os.WriteFile(r.prefix+".log.jsonl", all, 0o644)
}

func (r *recording) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	states := r.states
	if states == nil {
		states = [][3]any{}
	}
	data, err := json.MarshalIndent(states, "", " ")
	if err == nil {
		err = os.WriteFile(r.prefix+".sessions-dir.json", append(data, '\n'), 0o644)
	}
	return errors.Join(r.err, err, r.cast.Close(), r.hooks.Close(), r.screen.Close(), r.truth.Close())
}
