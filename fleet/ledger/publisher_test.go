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
