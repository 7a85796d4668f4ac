package faults

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestServerKilled kills the server again and again while a program counts, queries its terminal and
// reads pastes. Afterwards it compares what Berth reports with the program's own record. BERTH_SOAK_KILLS is the number
// of kills.
func TestServerKilled(t *testing.T) {
	rounds := 25
	if n, err := strconv.Atoi(os.Getenv("BERTH_SOAK_KILLS")); err == nil {
		rounds = n
	} else if testing.Short() {
		rounds = 10
		t.Log("10 kills instead of 25, for -short")
	}
	h := newHost(t, checked)
	work := h.counts("1GiB") // all output is compared, and a busy machine takes minutes: it prints 500 KB/s
	h.start()
	dir := h.sessionDirs()[0]
	pid := h.info("count").PID
	k := newTruth(t, dir, filepath.Join(work, "sent"), 120, 40)
	c := &crash{host: h, truth: k, watched: watched{cursor: "e0"}}

	h.kill()
	for round := range rounds {
		c.round(round)
	}
	h.start()
	if !alive(pid) {
		t.Fatal("the program did not survive")
	}
	h.run("input", "count", "!")
	waitFor(t, "the count to end", func() bool { _, err := os.Stat(filepath.Join(work, "stopped")); return err == nil })
	var size int64
	waitFor(t, "the screen to have all of it", func() bool {
		info, err := os.Stat(k.sent)
		must(t, err)
		size = info.Size()
		return h.info("count").TotalWritten == size && answer[screen](h, "screen", "count").Offset == size
	})
	k.compareOutput(h, "count")
	k.compare(answer[screen](h, "screen", "count", "--scrollback", fmt.Sprint(scrollback)))
	k.compareColours(h, "count", size)
	c.judgeInput(notes(t, work))
	c.judgeEvents()
	if problems := h.health().Problems; len(problems) > 0 {
		t.Errorf("health: %q", problems)
	}
}

// crash is a server's life and death, again and again.
type crash struct {
	*host
	truth   *truth
	watched watched
	pasted  []string // pastes that Berth reported as typed
	pastes  int      // pastes that were started
	early   int      // kills before the server listened
	screens int      // screens that were compared in between
	came    int      // pastes that the program read
}

// round starts a server, uses it and kills it at a random moment. Of three rounds one kills it while it
// starts, one soon after, and one after it has answered.
func (c *crash) round(round int) {
	c.t.Helper()
	if round%10 == 5 {
		time.Sleep(1200 * time.Millisecond) // then queries of this time are too old for an answer
	}
	address := c.launch()
	if round%3 == 2 {
		time.Sleep(rand.N(80 * time.Millisecond))
		c.kill()
		c.early++
		return
	}
	c.reach(address)
	watching := c.watched.begin(c.host)
	var using sync.WaitGroup
	stop, looked := make(chan struct{}), make(chan struct{})
	using.Go(func() { c.paste(stop) })
	var seen *screen
	using.Go(func() { defer close(looked); seen = c.look(round) })
	if round%3 == 0 {
		<-looked
	}
	time.Sleep(rand.N(300 * time.Millisecond))
	c.kill()
	close(stop)
	using.Wait()
	c.watched.end(c.t, watching)
	if seen != nil {
		c.truth.compare(*seen)
		c.screens++
	}
}

// pasteOf is a paste in the form that the program parses.
func pasteOf(id int) []byte {
	p := fmt.Appendf(nil, "{%08d", id)
	for n := len(p) + 1; n < 64<<10; n++ {
		p = append(p, 'a'+byte(n%26))
	}
	return append(p, '}')
}

// paste types pastes until the server is gone.
func (c *crash) paste(stop chan struct{}) {
	for {
		id := c.pastes
		c.pastes++
		_, status := c.try(bytes.NewReader(pasteOf(id)), "input", "count", "-")
		if status == 0 {
			c.pasted = append(c.pasted, fmt.Sprintf("%08d", id))
		}
		select {
		case <-stop:
			return
		default:
		}
		if status == 255 {
			return
		}
	}
}

// look resizes the session now and then and reads its screen, if the server lives long enough.
func (c *crash) look(round int) *screen {
	if round%2 == 0 {
		c.try(nil, "resize", "count", fmt.Sprintf("%dx%d", 80+rand.IntN(120), 24+rand.IntN(40)))
	}
	out, status := c.try(nil, "screen", "count", "--scrollback", fmt.Sprint(scrollback))
	var got screen
	if status != 0 || json.Unmarshal(out, &got) != nil {
		return nil
	}
	return &got
}

// watched follows the events across restarts of the server.
type watched struct {
	cursor string
	lines  []string
}

type watching struct {
	wait  func() error
	lines chan []string
}

// begin continues where the last watch ended.
func (w *watched) begin(h *host) *watching {
	cmd := h.command("watch", "--since", w.cursor)
	out, err := cmd.StdoutPipe()
	must(h.t, err)
	must(h.t, cmd.Start())
	running := &watching{wait: cmd.Wait, lines: make(chan []string, 1)}
	go func() {
		var lines []string
		in := bufio.NewReader(out)
		for {
			line, err := in.ReadString('\n')
			if err == nil {
				lines = append(lines, strings.TrimSuffix(line, "\n"))
				continue
			}
			_, _ = io.Copy(io.Discard, in)
			running.lines <- lines
			return
		}
	}()
	return running
}

// end collects what a watch has seen after its server was killed.
func (w *watched) end(t *testing.T, running *watching) {
	t.Helper()
	lines := <-running.lines
	_ = running.wait() // fails, because its connection was cut
	for _, line := range lines {
		var e event
		must(t, json.Unmarshal([]byte(line), &e))
		w.lines, w.cursor = append(w.lines, line), e.Cursor
	}
}

type event struct {
	Cursor string
	Type   string
	ID     string
	Seq    uint64
	Record uint64 `json:"cause_record"`
	Bytes  int
	Next   string
	Lost   bool
	Time   time.Time
}

// places is how many queries the program can distinguish by their place.
const places = 80 * 24

// judgeInput checks what the program has read.
func (c *crash) judgeInput(read []string) {
	c.t.Helper()
	asked, answered := map[int]int64{}, map[int]bool{}
	var slowest int64
	attributes, last, newest := 0, -1, 0
	whole := map[string]int{}
	for _, line := range read {
		var n int
		var at int64
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "asked":
			fmt.Sscan(rest, &n, &at)
			asked[n], newest = at, n
		case "place":
			fmt.Sscan(rest, &n, &at)
			n += (newest - n) / places * places // the last query of that place
			switch {
			case answered[n]:
				c.t.Errorf("query %d was answered twice", n)
			case n < last:
				c.t.Errorf("query %d was answered after %d", n, last)
			case asked[n] == 0:
				c.t.Errorf("query %d was never asked", n)
			}
			answered[n], last = true, max(last, n)
			slowest = max(slowest, at-asked[n])
		case "attributes":
			attributes++
		case "paste":
			whole[rest]++
		default:
			c.t.Errorf("the program read unexpected input: %s", line)
		}
	}
	if late := time.Duration(slowest); late > 1500*time.Millisecond {
		c.t.Errorf("an answer came after %v", late)
	}
	if attributes > len(asked) || len(answered) < 20 {
		c.t.Errorf("%d queries, %d places and %d attributes answered", len(asked), len(answered), attributes)
	}
	for id, times := range whole {
		if times != 1 {
			c.t.Errorf("paste %s arrived %d times", id, times)
		}
	}
	for _, id := range c.pasted {
		if whole[id] == 0 {
			c.t.Errorf("paste %s was reported as typed and did not arrive", id)
		}
	}
	if c.screens == 0 {
		c.t.Error("no screen was compared in between")
	}
	c.t.Logf("kills: %d while starting; %d screens compared in between", c.early, c.screens)
	c.t.Logf("queries: %d asked, %d answered, each once, the slowest after %v; attributes: %d", len(asked), len(answered), time.Duration(slowest).Round(time.Millisecond), attributes)
	c.t.Logf("pastes of 64 KiB: %d begun, %d said to be typed, %d came, all whole", c.pastes, len(c.pasted), len(whole))
	c.came = len(whole)
}

// judgeEvents compares the events that were watched across all servers with one watch from the beginning.
func (c *crash) judgeEvents() {
	c.t.Helper()
	out, _ := c.try(nil, "watch", "--since", "e0", "--timeout", "1s")
	all := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	all = slices.DeleteFunc(all, func(line string) bool { return !strings.Contains(line, `"seq":`) })
	if n := len(c.watched.lines); n > len(all) || !slices.Equal(c.watched.lines, all[:n]) {
		c.t.Errorf("watching across servers gave %d events that are not the first of all %d", n, len(all))
	}
	c.t.Logf("events: %d; watching across servers saw %d", len(all), len(c.watched.lines))
	judgeOrder(c.t, all)
	typed := 0
	for _, line := range all {
		var e event
		must(c.t, json.Unmarshal([]byte(line), &e))
		if e.Type == "input" && e.Bytes == 64<<10 {
			typed++
		}
	}
	if typed != c.came {
		c.t.Errorf("%d events report pastes, %d arrived", typed, c.came)
	}
}

// judgeOrder checks that the numbers of events have no gap and that each cause made one event.
func judgeOrder(t *testing.T, lines []string) {
	t.Helper()
	seq, causes := map[string]uint64{}, map[string]bool{}
	var cursor, gone uint64 // gone: number of events that gap events have named
	for _, line := range lines {
		var e event
		must(t, json.Unmarshal([]byte(line), &e))
		if e.Type == "end" { // not an event: it has the last one's cursor
			continue
		}
		var at uint64
		if _, err := fmt.Sscanf(e.Cursor, "e%d", &at); err != nil || at <= cursor {
			t.Errorf("cursor %s comes after e%d", e.Cursor, cursor)
		}
		cursor = at
		if e.ID == "" {
			if e.Type == "gap" {
				var gap struct{ From, To string }
				must(t, json.Unmarshal([]byte(line), &gap))
				var from, to uint64
				if _, err := fmt.Sscanf(gap.From+" "+gap.To, "e%d e%d", &from, &to); err != nil || to < from {
					t.Errorf("a gap that names no events: %s", line)
				}
				gone += to - from + 1
			}
			continue
		}
		switch missing := e.Seq - seq[e.ID] - 1; {
		case e.Seq <= seq[e.ID] || missing > gone:
			t.Errorf("event %d of %s comes after %d", e.Seq, e.ID, seq[e.ID])
		default:
			gone -= missing
		}
		seq[e.ID] = e.Seq
		if e.Record == 0 {
			continue
		}
		cause := fmt.Sprint(e.ID, e.Record)
		if causes[cause] {
			t.Errorf("record %d made two events: %s", e.Record, line)
		}
		causes[cause] = true
	}
}
