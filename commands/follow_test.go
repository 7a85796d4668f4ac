package commands

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"berth/keys"
)

func TestWaitStatuses(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new shell -- sh")
	if a := d.call(admin, "wait shell"); a.status != 0 || a.lines(t)[0]["state"] != "idle" {
		t.Errorf("idle: %+v", a)
	}
	d.call(admin, "input shell --enter sleep 600")
	if a := d.call(admin, "wait shell --until working"); a.status != 0 {
		t.Errorf("working: %+v", a)
	}
	if a := d.call(admin, "wait shell --timeout 20ms"); a.status != 10 || a.code() != "TIMEOUT" {
		t.Errorf("timeout: %+v", a)
	}
	d.call(admin, "new other -- sleep 600")
	results := make(chan answer, 2)
	go func() { results <- d.callIn(context.Background(), admin, "wait shell other --until exited --all") }()
	d.call(admin, "kill shell --grace 0s")
	select {
	case a := <-results:
		t.Errorf("--all returned at the first: %+v", a)
	case <-time.After(50 * time.Millisecond): // the other runs on: there is nothing that could be waited for
	}
	d.call(admin, "kill other --grace 0s")
	if a := <-results; a.status != 0 || len(a.lines(t)) != 2 {
		t.Errorf("--all: %+v", a)
	}
	for line, status := range map[string]int{
		"wait shell":                           22,
		"wait shell --until idle":              22,
		"wait shell --text nosuchtext":         22,
		"wait other":                           22,
		"wait other --until exited":            0,
		"wait other shell --until idle":        8,
		"wait shell --after 9999 --until idle": 22,
	} {
		if a := d.call(admin, line); a.status != status {
			t.Errorf("%s: %d, want %d: %s", line, a.status, status, a.out)
		}
	}
	if a := d.call(admin, "kill shell"); a.status != 0 {
		t.Errorf("kill of an ended one: %+v", a)
	}
}

// watching runs a call that goes on. finished gives the status with which it
// ends by itself; end makes it end.
func (d *desk) watching(id func() keys.Identity, line string) (out *recorder, end, finished func() int) {
	out = &recorder{}
	ctx, cancel := context.WithCancel(d.t.Context())
	done := make(chan int, 1)
	go func() {
		done <- d.callIn(ctx, admin, line, to(out), func(r *Request) { r.Identity = id }).status
	}()
	finished = func() int {
		defer cancel()
		select {
		case status := <-done:
			return status
		case <-time.After(patience):
			d.t.Fatalf("%s does not end", line)
			return -1
		}
	}
	return out, func() int { cancel(); return <-done }, finished
}

func always(id keys.Identity) func() keys.Identity { return func() keys.Identity { return id } }

func TestWatch(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- sleep 600")
	out, end, _ := d.watching(always(admin), "watch")
	until(t, "live", func() bool { return strings.Contains(out.String(), `"type":"live"`) })
	before, _, _ := strings.Cut(out.String(), `"type":"live"`) // later events come after it
	first := answer{out: before[:strings.LastIndexByte(before, '\n')+1]}.lines(t)
	if len(first) != 1 || first[0]["type"] != "snapshot" || first[0]["session"] != "alpha" {
		t.Errorf("it begins with %v", first)
	}
	d.call(admin, "tag alpha blue")
	until(t, "the event", func() bool { return strings.Contains(out.String(), `"type":"tags"`) })
	end()

	// From any cursor every later event comes once. More may have come meanwhile.
	all := d.call(admin, "watch --since e0 --past").lines(t)
	for i, line := range all {
		rest := d.call(admin, "watch --since "+line["cursor"].(string)+" --past").lines(t)
		if n := len(all) - i - 1; len(rest) < n || !slices.EqualFunc(rest[:n], all[i+1:], sameCursor) {
			t.Errorf("after %v: %v, want first %v", line["cursor"], rest, all[i+1:])
		}
	}
	of := slices.DeleteFunc(slices.Clone(all), func(line map[string]any) bool { return line["session"] != "alpha" })
	if some := d.call(admin, "watch --since alpha:1 --past").lines(t); len(some) < len(of)-1 || !slices.EqualFunc(some[:len(of)-1], of[1:], sameCursor) {
		t.Errorf("after alpha:1: %v, want first %v", some, of[1:])
	}
}

func sameCursor(a, b map[string]any) bool { return a["cursor"] == b["cursor"] }

// --until is met by what --type leaves out, and by a state that is there.
func TestWatchUntil(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- sleep 600")
	out, _, finished := d.watching(always(admin), "watch alpha --type live,exited --until exited")
	until(t, "live", func() bool { return strings.Contains(out.String(), `"type":"live"`) })
	d.call(admin, "kill alpha --grace 0s")
	until(t, "the end", func() bool { return strings.Contains(out.String(), `"type":"exited"`) })
	if status := finished(); status != 0 {
		t.Errorf("status %d", status)
	}
	if strings.Contains(out.String(), "state_change") {
		t.Errorf("--type lets through: %s", out.String())
	}
	if a := d.call(admin, "watch alpha --until exited"); a.status != 0 {
		t.Errorf("a state that is there: %+v", a)
	}
}

func TestWatchJudgesRightsAtEachEvent(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- sleep 600")
	var now atomic.Pointer[keys.Identity]
	now.Store(&admin)
	out, end, _ := d.watching(func() keys.Identity { return *now.Load() }, "watch")
	until(t, "live", func() bool { return strings.Contains(out.String(), `"type":"live"`) })
	now.Store(&narrow)
	d.call(admin, "tag alpha hidden")
	d.call(narrow, "new web-1 --profile web")
	until(t, "its own", func() bool { return strings.Contains(out.String(), "web-1") })
	end()
	if strings.Contains(out.String(), "hidden") {
		t.Errorf("it saw %s", out.String())
	}
}

func TestFollowEndsWithTheSession(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- sh -c 'echo first; read x; echo last'")
	d.call(admin, "wait alpha --text first")
	screen, _, endScreen := d.watching(always(admin), "screen alpha --follow")
	output, _, endOutput := d.watching(always(admin), "output alpha --follow --raw --offset 0")
	until(t, "the first picture", func() bool { return strings.Contains(screen.String(), "first") })
	d.call(admin, "input alpha --enter go")
	until(t, "the last output", func() bool { return strings.Contains(output.String(), "last\r\n") })
	until(t, "the last picture", func() bool { return strings.Contains(screen.String(), "last") })
	d.call(admin, "wait alpha --until exited")
	if a, b := endScreen(), endOutput(); a != 0 || b != 0 {
		t.Errorf("status %d %d", a, b)
	}
	if a := d.call(admin, "output alpha --raw"); a.out != output.String() {
		t.Errorf("followed %q, there is %q", output.String(), a.out)
	}
	if a := d.call(admin, "export alpha --cast"); a.status != 0 || !strings.HasPrefix(a.out, `{"version":2,`) || !strings.Contains(a.out, "last") {
		t.Errorf("export: %+v", a)
	}
}
