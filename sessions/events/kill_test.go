package events

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// writerVariable makes the test binary a writer that prints what a watcher sees.
const writerVariable = "BERTH_EVENTS_TEST_WRITER"

const killSegment = 20 << 10 // small, so that kills hit new segments and retention too

func writeUntilKilled(dir string) int {
	l, err := Open(dir, Options{SegmentBytes: killSegment, MaxBytes: 64 << 20})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	go func() {
		r := l.Follow(l.Head())
		for {
			line, err := r.Next(context.Background())
			if err != nil {
				return
			}
			// Unbuffered: what is printed was seen, whatever happens next.
			fmt.Printf("%d %s %d\n", line.Cursor, line.ID, line.Seq)
		}
	}()
	for i := 0; ; i++ {
		id := strconv.Itoa(i % 3)
		cause := l.LastCause(id) + 1
		data := map[string]string{"text": strings.Repeat("x", rand.IntN(3000))}
		e := Event{Type: "hook", ID: id, Data: data}
		if i%5 == 0 {
			last := e
			last.Cause = cause
			_, err = l.AppendAll(e, e, last)
		} else {
			e.Cause = cause
			_, err = l.Append(e)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
}

// TestKilledWriters kills a writing process many times and reads all it wrote.
func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	type number struct {
		id  string
		seq uint64
	}
	seen := map[uint64]number{}
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		for cursor, n := range killedRound(t, dir, 1+rand.IntN(200)) {
			id, seq, _ := strings.Cut(n, " ")
			value, err := strconv.ParseUint(seq, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if old, twice := seen[cursor]; twice {
				t.Fatalf("cursor %d seen twice: %v and %s", cursor, old, n)
			}
			seen[cursor] = number{id, value}
		}
	}
	l := open(t, dir, Options{})
	position, gaps := uint64(0), 0
	causes, seqs := map[string]uint64{}, map[string]uint64{}
	for _, line := range rest(t, l, l.Follow(0)) {
		from := line.Cursor
		if line.Type == TypeGap {
			from = line.From
			gaps++
		}
		if from != position+1 {
			t.Fatalf("cursor %d follows %d", from, position)
		}
		for c := from; c <= line.Cursor; c++ {
			if n, ok := seen[c]; ok && (line.Type == TypeGap || n != number{line.ID, line.Seq}) {
				t.Fatalf("seen at %d was %v, read back is %s", c, n, line.Raw)
			}
		}
		position = line.Cursor
		if line.Type == TypeGap {
			continue
		}
		if line.Seq <= seqs[line.ID] {
			t.Fatalf("seq %d of %s follows %d", line.Seq, line.ID, seqs[line.ID])
		}
		seqs[line.ID] = line.Seq
		if line.Cause != 0 {
			if line.Cause != causes[line.ID]+1 {
				t.Fatalf("cause %d of session %s follows %d", line.Cause, line.ID, causes[line.ID])
			}
			causes[line.ID] = line.Cause
		}
	}
	if len(seen) < rounds {
		t.Fatalf("only %d events seen in %d rounds", len(seen), rounds)
	}
	t.Logf("%d kills, %d events seen, %d written, %d gaps", rounds, len(seen), position, gaps)
}

// killedRound starts a writer, kills it once a watcher has seen that many
// events, and gives all it saw.
func killedRound(t *testing.T, dir string, after int) map[uint64]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, os.Args[0], "-test.run=^$")
	command.Env = append(os.Environ(), writerVariable+"="+dir)
	command.WaitDelay = time.Second
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]string{}
	lines := bufio.NewScanner(out)
	for count := 0; lines.Scan(); count++ {
		cursor, n, ok := strings.Cut(lines.Text(), " ")
		value, err := strconv.ParseUint(cursor, 10, 64)
		if err != nil || !ok || strings.Count(n, " ") != 1 {
			continue // the last, cut by the kill
		}
		seen[value] = n
		if count == after {
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := command.Wait(); err == nil || complaint.Len() > 0 {
		t.Fatalf("the writer ended by itself: %v %s", err, complaint.String())
	}
	return seen
}
