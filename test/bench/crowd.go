package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

const (
	crowd    = 100 // sessions
	watchers = 10
	idleTime = 8 * time.Second
	// tickMS is how often each session of a printing crowd prints a line.
	tickMS = 20
)

// someSession has the fields of a session in ls --json.
type someSession struct {
	Session string `json:"session"`
	PID     int    `json:"pid"`
	Holder  int    `json:"-"`
}

// startCrowd starts n sessions with a program in each.
func (b *bench) startCrowd(c *gossh.Client, n int, argv ...string) ([]someSession, error) {
	var list []someSession
	for i := range n {
		out, err := call(c, fmt.Sprintf("new crowd%d -- %s", i, strings.Join(argv, " ")))
		if err != nil {
			return nil, err
		}
		var s someSession
		if err := json.Unmarshal(out, &s); err != nil {
			return nil, fmt.Errorf("new: %w: %s", err, out)
		}
		if s.Holder, err = parentOf(s.PID); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// usage is the CPU time and the memory of a server and its sessions' holders.
type usage struct {
	server, holders   time.Duration
	private, inHolder int64
}

func measure(server int, list []someSession) (u usage, err error) {
	if u.server, err = cpuOf(server); err != nil {
		return u, err
	}
	if u.private, err = privateOf(server); err != nil {
		return u, err
	}
	for _, s := range list {
		cpu, err := cpuOf(s.Holder)
		if err != nil {
			return u, err
		}
		size, err := privateOf(s.Holder)
		if err != nil {
			return u, err
		}
		u.holders += cpu
		u.inHolder += size
	}
	return u, nil
}

func idleRow(b *bench) ([]result, error) {
	s, err := b.startBerth("idle")
	if err != nil {
		return nil, err
	}
	c, err := b.dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	empty, err := measure(s.pid, nil)
	if err != nil {
		return nil, err
	}
	list, err := b.startCrowd(c, crowd, "cat")
	if err != nil {
		return nil, err
	}
	for range watchers {
		w, err := b.dial(s.addr)
		if err != nil {
			return nil, err
		}
		defer w.Close()
		if err := watch(w); err != nil {
			return nil, err
		}
	}
	b.rest(3 * time.Second) // let the work after the start end
	before, err := measure(s.pid, list)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	b.rest(idleTime)
	after, err := measure(s.pid, list)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	server := 100 * ratio(after.server-before.server, took)
	holders := 100 * ratio(after.holders-before.holders, took)
	mb := func(n int64) float64 { return float64(n) / (1 << 20) / crowd }
	each, held := mb(after.private-empty.private), mb(after.inHolder)
	return []result{
		{fmt.Sprintf("%d idle sessions, %d watchers: share of a core", crowd, watchers), fmt.Sprintf("%.2f %% (server %.2f, holders %.2f)", server+holders, server, holders), "", "", "< 1 %", verdictOf(server+holders < 1)},
		{"private memory of each, scrollback empty", fmt.Sprintf("%.2f MB (holder %.2f, server %.2f)", each+held, held, each),
			fmt.Sprintf("server before the first session: %.1f MB", float64(empty.private)/(1<<20)), "", "< 4 MB", verdictOf(each+held < 4)},
	}, nil
}

// watch follows all events and discards them.
func watch(c *gossh.Client) error {
	s, err := c.NewSession()
	if err != nil {
		return err
	}
	s.Stdout = io.Discard
	return s.Start("watch")
}

// rest waits.
func (b *bench) rest(d time.Duration) {
	select {
	case <-time.After(d):
	case <-b.ctx.Done():
	}
}

// crowdRow compares echoes while a hundred other sessions print. The crowds take turns, so that neither
// slows the other side's keys.
func crowdRow(b *bench) ([]result, error) {
	p, err := b.pair("typist", "echo")
	if err != nil {
		return nil, err
	}
	defer b.end(p)
	c, err := b.dial(p.berth.addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	argv := []string{b.self, "program", "tick", strconv.Itoa(tickMS)}
	list, err := b.startCrowd(c, crowd, argv...)
	if err != nil {
		return nil, err
	}
	var ours []int
	for _, s := range list {
		ours = append(ours, s.PID)
	}
	theirs, err := p.tmux.crowd(argv...)
	if err != nil {
		return nil, err
	}
	v, w, err := b.viewBoth(p, ready)
	if err != nil {
		return nil, err
	}
	defer v.close()
	defer w.close()
	var a, z times
	var busy [2]times
	for range b.times(3) {
		for i, side := range []struct {
			pids  []int
			v     *viewer
			took  *times
			serve int
		}{{ours, v, &a, p.berth.pid}, {theirs, w, &z, p.tmux.pid}} {
			took, share, err := b.typeAmong(side.pids, side.v, side.serve)
			if err != nil {
				return nil, err
			}
			*side.took = append(*side.took, took...)
			busy[i] = append(busy[i], share)
		}
	}
	out := echoResults(fmt.Sprintf("echo among %d sessions that print a line each %d ms", crowd, tickMS), a, z)
	out[0].goal, out[0].met = "", noGoal // the design's goal is the p99
	out = append(out, result{"the server's share of a core among them", fmt.Sprintf("%.0f %%", busy[0].median().Seconds()*100),
		fmt.Sprintf("tmux: %.0f %%", busy[1].median().Seconds()*100), "", "", noGoal})
	return out, nil
}

// typeAmong types while the programs print. It also returns the server's CPU time in a second.
func (b *bench) typeAmong(pids []int, v *viewer, server int) (took times, share time.Duration, err error) {
	if err := tell(pids, syscall.SIGUSR1); err != nil {
		return nil, 0, err
	}
	b.rest(500 * time.Millisecond)
	before, err := cpuOf(server)
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	took, err = v.typeKeys(400, 2*keyPause)
	if err != nil {
		return nil, 0, err
	}
	after, err := cpuOf(server)
	if err != nil {
		return nil, 0, err
	}
	share = time.Duration(ratio(after-before, time.Since(began)) * float64(time.Second))
	if err := tell(pids, syscall.SIGUSR2); err != nil {
		return nil, 0, err
	}
	b.rest(500 * time.Millisecond)
	return took, share, nil
}

func tell(pids []int, sig syscall.Signal) error {
	for _, pid := range pids {
		if err := syscall.Kill(pid, sig); err != nil {
			return fmt.Errorf("signal program %d: %w", pid, err)
		}
	}
	return nil
}

// crowd starts the program a hundred times in tmux and returns the processes.
func (t *tmuxServer) crowd(argv ...string) ([]int, error) {
	var pids []int
	for i := range crowd {
		out, err := t.run(append([]string{"new-session", "-d", "-P", "-F", "#{pane_pid}", "-x", "200", "-y", "50", "-s", fmt.Sprint("crowd", i)}, argv...)...)
		if err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(out)
		if err != nil {
			return nil, fmt.Errorf("tmux new-session: %w", err)
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// parentOf is the process that started another.
func parentOf(pid int) (int, error) {
	stat, err := readStat(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(stat[1])
}
