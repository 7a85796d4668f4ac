package main

import (
	"bytes"
	"fmt"
	"iter"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// stateLine is the command for Berth; sshd gets trueLine.
const (
	stateLine = "state alpha"
	trueLine  = "true"
)

// alpha makes sure that the session alpha exists.
func (b *bench) alpha() (*berthServer, error) {
	s, err := b.berth()
	if err != nil {
		return nil, err
	}
	if out, err := b.ssh(s.addr, sameCipher, stateLine).CombinedOutput(); err == nil {
		return s, nil
	} else if !bytes.Contains(out, []byte("NOT_FOUND")) {
		return nil, fmt.Errorf("%s: %w: %s", stateLine, err, out)
	}
	out, err := b.ssh(s.addr, nil, "new alpha -- cat").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("new alpha: %w: %s", err, out)
	}
	return s, nil
}

// side is one of several servers that are measured in turns.
type side struct {
	command func() *exec.Cmd
	took    times
	cpu     times
}

// inTurn runs each side's command once a round.
func (b *bench) inTurn(rounds iter.Seq[int], sides ...*side) error {
	for range rounds {
		for _, s := range sides {
			took, cpu, err := timed(s.command())
			if err != nil {
				return err
			}
			s.took, s.cpu = append(s.took, took), append(s.cpu, cpu)
		}
	}
	return nil
}

func commandRow(b *bench) ([]result, error) {
	ours, err := b.alpha()
	if err != nil {
		return nil, err
	}
	same, err := b.sshd(sshdSame)
	if err != nil {
		return nil, err
	}
	usual, err := b.sshd(sshdDefault)
	if err != nil {
		return nil, err
	}
	least, err := b.minimal()
	if err != nil {
		return nil, err
	}
	berth := &side{command: func() *exec.Cmd { return b.ssh(ours.addr, sameCipher, stateLine) }}
	alone := &side{command: func() *exec.Cmd { return b.ssh(least, sameCipher, trueLine) }}
	sshd := &side{command: func() *exec.Cmd { return b.ssh(same, sameCipher, trueLine) }}
	byDefault := &side{command: func() *exec.Cmd { return b.ssh(usual, nil, trueLine) }}
	if err := b.inTurn(b.times(25), berth, alone, sshd, byDefault); err != nil {
		return nil, err
	}
	t := berth.took.median()
	r := ratio(t, sshd.took.median())
	over := ratio(t, alone.took.median())
	return []result{
		{"`ssh host state alpha`", ms(t), "sshd, same key exchange, `true`: " + ms(sshd.took.median()), fmt.Sprintf("%.2f", r), "≤ 0.20", verdictOf(r <= 0.2)},
		{"", ms(t), "sshd, its default, `true`: " + ms(byDefault.took.median()), fmt.Sprintf("%.2f", ratio(t, byDefault.took.median())), "", noGoal},
		{"", ms(t), fmt.Sprintf("the client alone, against a server that does nothing: %s (its own CPU time: %s)", ms(alone.took.median()), ms(alone.cpu.median())),
			fmt.Sprintf("%.2f", over), "≤ 1.25", verdictOf(over <= 1.25)},
	}, nil
}

func muxRow(b *bench) ([]result, error) {
	ours, err := b.alpha()
	if err != nil {
		return nil, err
	}
	same, err := b.sshd(sshdSame)
	if err != nil {
		return nil, err
	}
	least, err := b.minimal()
	if err != nil {
		return nil, err
	}
	var sides []*side
	for i, to := range []struct{ addr, line string }{{ours.addr, stateLine}, {least, trueLine}, {same, trueLine}} {
		path := filepath.Join(b.dir, fmt.Sprintf("mux%d", i))
		end, err := b.master(to.addr, path)
		if err != nil {
			return nil, err
		}
		defer end()
		sides = append(sides, &side{command: func() *exec.Cmd { return b.ssh(to.addr, []string{"-S", path}, to.line) }})
	}
	if err := b.inTurn(b.times(80), sides...); err != nil {
		return nil, err
	}
	t, alone, sshd := sides[0].took.median(), sides[1].took.median(), sides[2].took.median()
	r := ratio(t, sshd)
	return []result{{"the same over ControlMaster", ms(t), fmt.Sprintf("sshd: %s (a server that does nothing: %s)", ms(sshd), ms(alone)),
		fmt.Sprintf("%.2f", r), "≤ 0.67", verdictOf(r <= 2./3)}}, nil
}

// master keeps a connection open for others to share.
func (b *bench) master(addr, path string) (end func(), err error) {
	cmd := b.ssh(addr, append([]string{"-M", "-N", "-S", path}, sameCipher...))
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	end = func() { _ = stop(cmd, syscall.SIGTERM, 5*time.Second) }
	err = b.poll("the shared connection", func() bool {
		return b.ssh(addr, []string{"-S", path, "-O", "check"}).Run() == nil
	})
	if err != nil {
		end()
	}
	return end, err
}

// verbsFor is how long one count of verbs takes.
const verbsFor = 600 * time.Millisecond

func verbsRow(b *bench) ([]result, error) {
	ours, err := b.alpha()
	if err != nil {
		return nil, err
	}
	same, err := b.sshd(sshdSame)
	if err != nil {
		return nil, err
	}
	berth, err := b.dial(ours.addr)
	if err != nil {
		return nil, err
	}
	defer berth.Close()
	sshd, err := b.dial(same)
	if err != nil {
		return nil, err
	}
	defer sshd.Close()
	var out []result
	for _, beside := range []int{1, 8} {
		var a, z []float64
		for range b.times(3) {
			n, err := verbsASecond(berth, stateLine, beside)
			if err != nil {
				return out, err
			}
			m, err := verbsASecond(sshd, trueLine, beside)
			if err != nil {
				return out, err
			}
			a, z = append(a, n), append(z, m)
		}
		r := median(a) / median(z)
		name := "verbs a second on one connection, serial"
		if beside > 1 {
			name = fmt.Sprintf("the same, %d at a time", beside)
		}
		out = append(out, result{name, fmt.Sprintf("%.0f", median(a)), fmt.Sprintf("sshd: %.0f", median(z)), fmt.Sprintf("%.1f", r), "≥ 10", verdictOf(r >= 10)})
	}
	return out, nil
}

func verbsASecond(c *gossh.Client, line string, beside int) (float64, error) {
	var done atomic.Int64
	errs := make(chan error, beside)
	began := time.Now()
	var running sync.WaitGroup
	for range beside {
		running.Go(func() {
			for time.Since(began) < verbsFor {
				if _, err := call(c, line); err != nil {
					errs <- err
					return
				}
				done.Add(1)
			}
		})
	}
	running.Wait()
	took := time.Since(began)
	select {
	case err := <-errs:
		return 0, err
	default:
		return float64(done.Load()) / took.Seconds(), nil
	}
}
