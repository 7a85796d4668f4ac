package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"berth/terminal"
)

// pair is a program in a Berth session and in a tmux session.
type pair struct {
	name  string
	berth *berthServer
	tmux  *tmuxServer
	sshd  string
}

// pair starts the program on both sides.
func (b *bench) pair(name string, args ...string) (p pair, err error) {
	p.name = name
	if p.berth, err = b.berth(); err != nil {
		return p, err
	}
	if p.sshd, err = b.sshd(sshdSame); err != nil {
		return p, err
	}
	if p.tmux, err = b.tmux(); err != nil {
		return p, err
	}
	argv := append([]string{b.self, "program"}, args...)
	if args[0] == "echo" {
		argv = []string{b.echo}
	}
	line := fmt.Sprintf("new %s --size %dx%d -- %s", name, cols, rws, strings.Join(argv, " "))
	if out, err := b.ssh(p.berth.addr, nil, line).CombinedOutput(); err != nil {
		return p, fmt.Errorf("%s: %w: %s", line, err, out)
	}
	return p, p.tmux.new(name, argv...)
}

// end ends both programs.
func (b *bench) end(p pair) {
	_ = b.ssh(p.berth.addr, nil, "rm --force "+p.name).Run() // after a failure it ends with the server
	_, _ = p.tmux.run("kill-session", "-t", p.name)
}

func (b *bench) viewBerth(p pair) (*viewer, error) { return b.view(p.berth.addr, "attach "+p.name) }

func (b *bench) viewTmux(p pair) (*viewer, error) {
	return b.view(p.sshd, strings.Join(p.tmux.attach(p.name), " "))
}

// viewBoth attaches to both sides after the program has printed mark.
func (b *bench) viewBoth(p pair, mark string) (ours, theirs *viewer, err error) {
	if ours, err = b.viewBerth(p); err != nil {
		return nil, nil, err
	}
	if err = ours.until(mark); err != nil {
		ours.close()
		return nil, nil, err
	}
	if theirs, err = b.viewTmux(p); err == nil {
		if err = theirs.until(mark); err != nil {
			theirs.close()
		}
	}
	if err != nil {
		ours.close()
	}
	return ours, theirs, err
}

func pictureRow(b *bench) ([]result, error) {
	p, err := b.pair("page", "page")
	if err != nil {
		return nil, err
	}
	defer b.end(p)
	look := func(view func(pair) (*viewer, error)) (time.Duration, error) {
		began := time.Now()
		v, err := view(p)
		if err != nil {
			return 0, err
		}
		defer v.close()
		err = v.until(lastLine)
		return time.Since(began), err
	}
	var ours, theirs times
	for range b.times(15) {
		t, err := look(b.viewBerth)
		if err != nil {
			return nil, fmt.Errorf("attach: %w", err)
		}
		u, err := look(b.viewTmux)
		if err != nil {
			return nil, fmt.Errorf("tmux attach: %w", err)
		}
		ours, theirs = append(ours, t), append(theirs, u)
	}
	r := ratio(ours.median(), theirs.median())
	return []result{{"attach to first full picture", ms(ours.median()), "ssh + tmux attach: " + ms(theirs.median()), fmt.Sprintf("%.2f", r), "≤ 0.33", verdictOf(r <= 1./3)}}, nil
}

// keyPause is the time between the echo of a key and the next key. No person types faster, and what is
// drawn after an echo is done by then.
const keyPause = 2 * time.Millisecond

// echoKeys are characters that no escape sequence contains.
const echoKeys = "wxyz#%&~"

// typeKeys types n keys one after the other.
func (v *viewer) typeKeys(n int, pause time.Duration) (times, error) {
	var took times
	for i := range n {
		t, err := v.key(echoKeys[i%len(echoKeys)])
		if err != nil {
			return nil, err
		}
		took = append(took, t)
		time.Sleep(pause)
	}
	return took, nil
}

func echoRow(b *bench) ([]result, error) {
	p, err := b.pair("echo", "echo")
	if err != nil {
		return nil, err
	}
	defer b.end(p)
	ours, theirs, err := b.viewBoth(p, ready)
	if err != nil {
		return nil, err
	}
	defer ours.close()
	defer theirs.close()
	var a, z times
	for range b.times(12) {
		t, err := ours.typeKeys(100, keyPause)
		if err != nil {
			return nil, err
		}
		u, err := theirs.typeKeys(100, keyPause)
		if err != nil {
			return nil, err
		}
		a, z = append(a, t...), append(z, u...)
	}
	return echoResults("keystroke echo through attach", a, z), nil
}

func echoResults(what string, a, z times) []result {
	out := []result{}
	for _, q := range []struct {
		name  string
		share float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		r := ratio(a.at(q.share), z.at(q.share))
		out = append(out, result{fmt.Sprintf("%s, %s of %d", what, q.name, len(a)), us(a.at(q.share)), "ssh + tmux attach: " + us(z.at(q.share)),
			fmt.Sprintf("%.2f", r), "≤ 1.00", verdictOf(r <= 1)})
	}
	return out
}

// logBytes is how much log the program prints.
const logBytes = 200 << 20

// logRun is what one log did to a viewer.
type logRun struct {
	rate float64       // MB/s from the key until the viewer sees the end
	lag  time.Duration // from the printing of the last line until the viewer sees it
	last int           // number of the last line
	sent int64         // bytes that the viewer got
}

// log makes the program print, and waits for the end of the log.
func (v *viewer) log() (r logRun, err error) {
	before, began := v.got, time.Now()
	if _, err = v.term.Write([]byte{'k'}); err != nil {
		return r, err
	}
	var seen []byte
	for {
		p, err := v.read()
		if err != nil {
			return r, err
		}
		seen = append(seen, p...)
		if i := bytes.LastIndex(seen, []byte(endOfLog)); i >= 0 { // check its number, because an older end may be drawn again
			var written int64
			if n, _ := fmt.Sscanf(string(seen[i+len(endOfLog):]), "%d %d.", &r.last, &written); n == 2 && bytes.IndexByte(seen[i:], '.') >= 0 && written > began.UnixNano() {
				took := time.Since(began)
				r.lag = time.Since(time.Unix(0, written))
				r.rate, r.sent = logBytes/1e6/took.Seconds(), v.got-before
				return r, nil
			}
		}
		seen = seen[max(0, len(seen)-100):]
	}
}

// logScreen is what the screen must show at the end, except for the line with the time.
func logScreen(last int) []string {
	var want []string
	for i := last - (rws - 3); i <= last; i++ {
		want = append(want, strings.TrimRight(string(logLine(nil, i)), " "))
	}
	return want
}

// shows compares the client's own screen with what it must show.
func (v *viewer) shows(last int) error {
	t := terminal.New(terminal.Options{Cols: cols, Rows: rws})
	t.Write(v.tail)
	return sameScreen("the client's", t.Snapshot(0).Text(), last)
}

func sameScreen(whose string, got []string, last int) error {
	want := logScreen(last)
	for i := range got {
		got[i] = strings.TrimRight(got[i], " ")
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Errorf("%s screen is not the end of the log: line %d has to be %q:\n%s", whose, i, want[i], strings.Join(got, "\n"))
		}
	}
	return nil
}

func logRow(b *bench) ([]result, error) {
	p, err := b.pair("log", "log", fmt.Sprint(logBytes))
	if err != nil {
		return nil, err
	}
	defer b.end(p)
	ours, theirs, err := b.viewBoth(p, ready)
	if err != nil {
		return nil, err
	}
	defer ours.close()
	defer theirs.close()
	var rates, others, ratios []float64
	var lags times
	var sent int64
	right := "screen right at the end"
	for range b.times(3) {
		a, err := ours.log()
		if err != nil {
			return nil, err
		}
		z, err := theirs.log()
		if err != nil {
			return nil, err
		}
		rates, others, ratios = append(rates, a.rate), append(others, z.rate), append(ratios, a.rate/z.rate)
		lags, sent = append(lags, a.lag), a.sent
		out, err := b.ssh(p.berth.addr, nil, "screen log --text").Output()
		if err != nil {
			return nil, fmt.Errorf("screen: %w", err)
		}
		for _, err := range []error{ours.shows(a.last), sameScreen("the session's", strings.Split(string(out), "\n"), a.last)} {
			if err != nil {
				right = "**screen wrong at the end**"
				fmt.Fprintln(os.Stderr, "bench:", err)
			}
		}
	}
	r := median(ratios)
	return []result{
		{"200 MB of log in an attached session", fmt.Sprintf("%.0f MB/s, %s", median(rates), right), fmt.Sprintf("ssh + tmux attach: %.0f MB/s", median(others)),
			fmt.Sprintf("%.2f", r), "≥ 1.00", verdictOf(r >= 1 && !strings.Contains(right, "wrong"))},
		{"from the printing of the last line to the viewer", ms(lags.median()), fmt.Sprintf("%.0f MB of 200 sent to the viewer", float64(sent)/1e6), "", "one repaint", noGoal},
	}, nil
}
