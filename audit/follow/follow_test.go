package follow

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"
	gossh "golang.org/x/crypto/ssh"

	"berth/audit"
	"berth/sessions/events"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestEachEventOnce follows over three servers' lives: what happened between
// two of them is written by the next, and nothing twice.
func TestEachEventOnce(t *testing.T) {
	dir, journal := t.TempDir(), t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	key, err := gossh.NewSignerFromKey(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if err != nil {
		t.Fatal(err)
	}
	log, err := events.Open(journal, events.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	happen := func(n int) {
		for i := range n {
			kind := "nudge"
			if i%2 == 1 {
				kind = "hook" // no business of the audit log's
			}
			by := map[string]any{"by": map[string]string{"identity": "alice", "fingerprint": "SHA256:x", "client": "c1"}, "i": i}
			if _, err := log.Append(events.Event{Type: kind, Session: "alpha", ID: "01J", Data: by}); err != nil {
				t.Fatal(err)
			}
		}
	}
	happen(5) // before there was an audit log
	for life := range 3 {
		book, err := audit.Open(dir, audit.Options{Signer: key, Log: quiet})
		if err != nil {
			t.Fatal(err)
		}
		f := Start(book, log, quiet)
		happen(9)
		want := events.FormatCursor(log.Head())
		// The audit log announces no line, so this polls with a deadline.
		for deadline := time.Now().Add(20 * time.Second); book.Cursor() != want; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("life %d: at %s, not at %s", life, book.Cursor(), want)
			}
		}
		f.Close()
		happen(4)
		if err := book.Close(); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]int{}
	err = audit.Read(context.Background(), dir, audit.Query{Session: func(name, _ string) bool { return name == "alpha" }}, func(line []byte) error {
		if !bytes.Contains(line, []byte(`"identity":"alice","fingerprint":"SHA256:x","client":"c1","session":"alpha","id":"01J","verb":"nudge"`)) {
			return fmt.Errorf("another line: %s", line)
		}
		seen[string(line[bytes.Index(line, []byte(`"cursor"`)):])]++
		return nil
	})
	// 5 of each 9, and of the 4 between two lives 2.
	if err != nil || len(seen) != 3*5+2*2 {
		t.Errorf("%d events, %v: %v", len(seen), err, seen)
	}
}

// TestNoTextOfPrograms: an end is written, and what the program had on its screen
// is not.
func TestNoTextOfPrograms(t *testing.T) {
	for _, raw := range []string{
		`{"type":"exited","session":"a","code":1,"last_lines":["the-text"]}`,
		`{"type":"report","session":"a","code":1,"message":"the-text"}`,
	} {
		var head struct{ Type string }
		if err := json.Unmarshal([]byte(raw), &head); err != nil {
			t.Fatal(err)
		}
		got := entry(events.Line{Type: head.Type, Session: "a", Raw: []byte(raw)}, "e1").Event
		if !bytes.Contains(got, []byte(`"code":1`)) || bytes.Contains(got, []byte("the-text")) {
			t.Errorf("%s: %s", head.Type, got)
		}
	}
}
