package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"berth/sessions/events"
)

// TestBatchesFit: a NATS server that isn't configured otherwise takes each batch, also of the largest events.
func TestBatchesFit(t *testing.T) {
	const usual = 1 << 20 // the largest message of such a server
	log := openLog(t)
	for _, text := range []string{"<", "\x01"} {
		for range 20 {
			if _, err := log.Append(events.Event{Type: "hook", Session: "api", ID: "id-api", Data: map[string]string{"text": strings.Repeat(text, 64<<10)}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var at uint64
	largest := 0
	p := &Publisher{Member: "k", Log: log, Report: quiet, Send: func(_ context.Context, b Batch) (Answer, error) {
		data, err := b.Encode()
		if err != nil {
			return Answer{}, err
		}
		largest = max(largest, len(data))
		for _, line := range b.Lines {
			var head struct{ Cursor string }
			if err := json.Unmarshal(line, &head); err != nil {
				return Answer{}, err
			}
			if at, err = events.ParseCursor(head.Cursor); err != nil {
				return Answer{}, err
			}
		}
		if at == log.Head() {
			cancel()
		}
		return Answer{Cursor: at}, nil
	}}
	if err := p.run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if at != log.Head() || largest > usual {
		t.Errorf("sent up to %d of %d, in batches of up to %d bytes", at, log.Head(), largest)
	}
}

// TestAnswersOfTheGateway: one that has less than it was sent gets the rest again, and one that has more than the log
// holds gets the place where the log goes on.
func TestAnswersOfTheGateway(t *testing.T) {
	log := openLog(t)
	for range 3 {
		event(t, log, "a")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var has, lost uint64
	p := &Publisher{Member: "k", Log: log, Report: quiet, Send: func(_ context.Context, b Batch) (Answer, error) {
		if len(b.Lines) > 0 && lost == 0 {
			lost = 1
			return Answer{Cursor: has}, nil // it was away in between, and is of an older state
		}
		if has += uint64(len(b.Lines)); has == 3 {
			cancel()
		}
		return Answer{Cursor: has}, nil
	}}
	for ctx.Err() == nil {
		_ = p.run(ctx) // Run pauses here
	}
	if has != 3 {
		t.Errorf("the gateway has %d events", has)
	}

	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	var restarts []uint64
	p.Send = func(_ context.Context, b Batch) (Answer, error) {
		if b.Restart != nil {
			restarts = append(restarts, *b.Restart)
			cancel()
			return Answer{Cursor: *b.Restart}, nil
		}
		return Answer{Cursor: 100}, nil
	}
	if err := p.run(ctx); !errors.Is(err, context.Canceled) || len(restarts) != 1 || restarts[0] != 3 {
		t.Errorf("a replaced log: %v, %v", restarts, err)
	}
}
