package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	hookers     = 20
	hookEvery   = 500 * time.Millisecond // of each session, on average
	hookSamples = 800
	hookGoal    = 20 * time.Millisecond
	// hookResult is the size of a tool's result in the event: reading a file gives some kilobytes.
	hookResult = 4 << 10
)

// hookEvent is the payload of the sessions' hooks, shaped like an agent's.
type hookEvent struct {
	Name     string `json:"hook_event_name"`
	Session  string `json:"session_id"`
	Tool     string `json:"tool_name"`
	Call     string `json:"tool_use_id"`
	Response string `json:"tool_response"`
	// When the hook was started, how long the hook before ran, and how long a program that does nothing
	// ran; in nanoseconds.
	Begun   int64 `json:"begun"`
	Last    int64 `json:"last"`
	Nothing int64 `json:"nothing"`
}

// runHooks runs hooks, as an agent does, until its terminal closes.
func runHooks(exe string) int {
	fmt.Println(ready)
	filler := strings.Repeat("the tool's result\n", hookResult/18)
	var last time.Duration
	for i := 0; ; i++ {
		time.Sleep(hookEvery/2 + rand.N(hookEvery))
		e := hookEvent{Name: "PostToolUse", Session: "bench", Tool: "Read", Call: fmt.Sprint(i), Response: filler, Last: int64(last)}
		began := time.Now()
		if exec.Command("true").Run() != nil {
			return 1
		}
		e.Nothing = int64(time.Since(began))
		time.Sleep(hookEvery / 10)
		cmd := exec.Command(exe, "hook", "--tell", "PostToolUse")
		begun := time.Now()
		e.Begun = begun.UnixNano()
		payload, err := json.Marshal(e)
		if err != nil {
			return 1
		}
		cmd.Stdin = bytes.NewReader(payload)
		if cmd.Run() != nil {
			return 1
		}
		last = time.Since(begun)
	}
}

// hookRow measures the time from the start of a hook to its line of watch at an ssh client, with an
// agent's driver and a screen for each session.
func hookRow(b *bench) ([]result, error) {
	s, err := b.startBerth("hooks")
	if err != nil {
		return nil, err
	}
	c, err := b.dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	script := filepath.Join(b.dir, "hooks.sh")
	if err := os.WriteFile(script, []byte(fmt.Sprintf("#!/bin/sh\nexec %s program hooks %s\n", b.self, b.holder)), 0o700); err != nil {
		return nil, err
	}
	watch := b.ssh(s.addr, sameCipher, "watch", "--json", "--type", "hook,live")
	out, err := watch.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := watch.Start(); err != nil {
		return nil, err
	}
	defer func() {
		_ = watch.Process.Kill()
		_ = watch.Wait() // it was killed
	}()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return nil, fmt.Errorf("the watch ended: %w", lines.Err())
	}
	for i := range hookers {
		if _, err := call(c, fmt.Sprintf("new hooker%d --agent claude -- %s", i, script)); err != nil {
			return nil, err
		}
	}
	t, err := b.readHooks(lines)
	if err != nil {
		return nil, err
	}
	row := func(share float64) (told time.Duration, beside, ratios string) {
		told = t.told.at(share)
		return told, fmt.Sprintf("the hook's own run: %s; `true`: %s", ms(t.ran.at(share)), ms(t.nothing.at(share))), fmt.Sprintf("%.2f of `true`", ratio(told, t.nothing.at(share)))
	}
	p99, beside99, ratio99 := row(0.99)
	p50, beside50, ratio50 := row(0.5)
	return []result{
		{fmt.Sprintf("`berth hook` exec to a line of `watch` through ssh, %d sessions, p99", hookers), ms(p99), beside99, ratio99, "< " + ms(hookGoal), verdictOf(p99 < hookGoal)},
		{"the same, p50", ms(p50), beside50, ratio50, "", noGoal},
	}, nil
}

// hookTimes are the times from a hook's start to its line of watch and to its own end, and the times of
// a program that does nothing.
type hookTimes struct{ told, ran, nothing times }

// readHooks reads the times from the lines of watch.
func (b *bench) readHooks(lines *bufio.Scanner) (t hookTimes, err error) {
	count := max(int(hookSamples*min(b.rounds, 4)), 1)
	for len(t.told) < count {
		if b.ctx.Err() != nil || !lines.Scan() {
			return t, fmt.Errorf("the watch ended after %d lines: %w", len(t.told), lines.Err())
		}
		now := time.Now()
		var e struct{ Payload hookEvent }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return t, fmt.Errorf("a line of the watch: %w", err)
		}
		if e.Payload.Begun == 0 {
			continue
		}
		t.told = append(t.told, now.Sub(time.Unix(0, e.Payload.Begun)))
		t.nothing = append(t.nothing, time.Duration(e.Payload.Nothing))
		if e.Payload.Last > 0 {
			t.ran = append(t.ran, time.Duration(e.Payload.Last))
		}
	}
	return t, nil
}
