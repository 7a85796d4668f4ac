package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/sessions/events"
)

// EventsSubject is the subject below berth.from.HOST where a host publishes batches.
const EventsSubject = "events"

// Bounds of a batch. A NATS server takes messages of 1 MiB, unless it is configured otherwise. That is above the sum of
// a batch's bytes and one line more.
const (
	batchLines = 256
	batchBytes = 256 << 10
)

// Times of a publisher. An answer takes long where the gateway slows the host down.
const (
	answerTime = 20 * time.Second
	retryAfter = 500 * time.Millisecond
)

// Batch is a part of a host's log, or, without lines, the question how far the log was appended.
type Batch struct {
	Member  string            `json:"member"` // the membership, and so the log
	Lines   []json.RawMessage `json:"lines"`
	Restart *uint64           `json:"restart,omitempty"` // the log has been replaced by an older one, and goes on after this cursor
}

// Encode writes the batch as it goes over NATS. Its lines keep their bytes: with HTML escaped they could be six times as
// long, and no NATS server would take them.
func (b Batch) Encode() ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("write a batch of events: %w", err)
	}
	return out.Bytes(), nil
}

// Answer is how far the member's log was appended: up to this cursor. It is 0 for an unknown log.
type Answer struct {
	Cursor uint64 `json:"cursor"`
	Error  string `json:"error,omitempty"`
}

// Publisher sends a host's log to the ledger. Nothing in it may be empty.
type Publisher struct {
	Member string
	Since  uint64 // the first event that is sent comes after this cursor: the log's end when the host joined
	Log    Source
	Send   func(context.Context, Batch) (Answer, error)
	Report *slog.Logger
}

// Source is an event log.
type Source interface {
	Head() uint64
	Follow(since uint64) *events.Reader
}

// Run sends what the log has and gets, until ctx ends. An error of Send, such as that of a gateway that is away, is
// tried again for ever.
func (p *Publisher) Run(ctx context.Context) {
	tick := time.NewTicker(retryAfter)
	defer tick.Stop()
	for said := ""; ; {
		err := p.run(ctx)
		if ctx.Err() != nil {
			return
		}
		if text := err.Error(); text != said {
			p.Report.Debug("the host's events wait for the gateway", "error", err)
			said = text
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// run sends until an error.
func (p *Publisher) run(ctx context.Context) error {
	at, err := p.send(ctx, Batch{Member: p.Member})
	if err != nil {
		return err
	}
	if head := p.Log.Head(); at > head {
		p.Report.Warn("the event log of this server is older than what its fleet has of it: it was replaced", "fleet", events.FormatCursor(at), "log", events.FormatCursor(head))
		if at, err = p.send(ctx, Batch{Member: p.Member, Restart: &head}); err != nil {
			return err
		}
	}
	reader := p.Log.Follow(max(at, p.Since))
	for {
		batch, err := p.next(ctx, reader)
		if err != nil {
			return err
		}
		if at, err = p.send(ctx, batch); err != nil {
			return err
		}
		if at != reader.Position() {
			return fmt.Errorf("the gateway has the log up to %s, and was sent it up to %s", events.FormatCursor(at), events.FormatCursor(reader.Position()))
		}
	}
}

// next waits for an event, and takes those that are there too.
func (p *Publisher) next(ctx context.Context, reader *events.Reader) (Batch, error) {
	b := Batch{Member: p.Member}
	for size := 0; len(b.Lines) == 0 || len(b.Lines) < batchLines && size < batchBytes && reader.Position() < p.Log.Head(); {
		line, err := reader.Next(ctx)
		if err != nil {
			return b, fmt.Errorf("read the event log: %w", err)
		}
		b.Lines = append(b.Lines, line.Raw)
		size += len(line.Raw)
	}
	return b, nil
}

func (p *Publisher) send(ctx context.Context, b Batch) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	a, err := p.Send(ctx, b)
	if err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	return a.Cursor, err
}
