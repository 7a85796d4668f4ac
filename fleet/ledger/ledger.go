package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/time/rate"

	"berth/sessions/events"
)

// The stream. Hosts have no right to its subjects.
const (
	streamName = "EVENTS"
	subjects   = "berth.events."
)

// Bounds of the stream. The oldest events go first; mostOfHost keeps a host with many small events from taking the
// place of the others'.
const (
	mostOfHost  = 200_000
	mostBytes   = 900 << 20 // below what the account may store
	mostHeaders = 4 << 10
)

// A host may send hostRate bytes a second, and hostBurst more after a quiet time. A batch counts batchCost more. So one
// host can't keep the gateway busy, and needs most of an hour to push the events of the others out of the stream.
const (
	hostRate  = 256 << 10
	hostBurst = 32 << 20
	batchCost = 1 << 10
)

// Headers of a message: its event and its log.
const (
	memberHeader = "Berth-Member"
	cursorHeader = "Berth-Cursor"
)

// errBatch is what a publisher gets as text.
var errBatch = errors.New("the batch isn't one")

// Mark is how far a host's log was appended.
type Mark struct {
	Member string `json:"member"`
	Cursor uint64 `json:"cursor"`
}

// Ledger is the gateway's end. Its methods may be called from any goroutine.
type Ledger struct {
	js     jetstream.JetStream
	stream jetstream.Stream
	log    *slog.Logger
	now    func() time.Time
	tail   *tail
	stop   func()

	mu    sync.Mutex
	hosts map[string]*host
}

// host is a host's entry. Its fields belong to who has the turn.
type host struct {
	turn  chan struct{} // has room for one
	known bool          // what follows is as the stream has it
	last  uint64        // the newest message of the host in the stream
	pace  *rate.Limiter

	mark Mark // under the ledger's lock
}

// Open makes the stream if it isn't there. marks are those of the last process, for hosts whose messages have all been
// removed. The caller closes the ledger before the connection.
func Open(ctx context.Context, nc *nats.Conn, marks map[string]Mark, log *slog.Logger, now func() time.Time) (*Ledger, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("use the fleet's stream: %w", err)
	}
	l := &Ledger{js: js, log: log, now: now, hosts: map[string]*host{}}
	for name, mark := range marks {
		l.host(name).mark = mark
	}
	l.stream, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: streamName, Subjects: []string{subjects + "*"}, Storage: jetstream.FileStorage, Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld,
		MaxBytes: mostBytes, MaxMsgsPerSubject: mostOfHost, MaxMsgSize: mostLine + mostHeaders, AllowDirect: true, DenyDelete: true,
	})
	if err != nil {
		return nil, fmt.Errorf("make the fleet's stream: %w", err)
	}
	l.tail = &tail{head: l.stream.CachedInfo().State.LastSeq, wake: make(chan struct{})}
	consumer, err := l.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: l.tail.head + 1})
	if err != nil {
		return nil, fmt.Errorf("follow the fleet's stream: %w", err)
	}
	consuming, err := consumer.Consume(l.take, jetstream.ConsumeErrHandler(func(_ jetstream.ConsumeContext, err error) {
		log.Debug("the fleet's stream", "error", err)
	}))
	if err != nil {
		return nil, fmt.Errorf("follow the fleet's stream: %w", err)
	}
	l.stop = func() { consuming.Stop(); <-consuming.Closed() }
	return l, nil
}

// Close ends the ledger's consumer.
func (l *Ledger) Close() { l.stop() }

func (l *Ledger) host(name string) *host {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hosts[name]
	if h == nil {
		h = &host{turn: make(chan struct{}, 1), pace: rate.NewLimiter(hostRate, hostBurst)}
		l.hosts[name] = h
	}
	return h
}

// Marks are how far each host's log was appended.
func (l *Ledger) Marks() map[string]Mark {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]Mark{}
	for name, h := range l.hosts {
		if h.mark.Member != "" {
			out[name] = h.mark
		}
	}
	return out
}

// Begin takes a host's turn: one batch of a host is handled at a time. False says that another one is.
func (l *Ledger) Begin(name string) bool {
	select {
	case l.host(name).turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// End gives the turn back.
func (l *Ledger) End(name string) { <-l.host(name).turn }

// Append appends the lines of a host's batch that aren't in the stream, and answers how far the log is there. The
// caller has the host's turn.
func (l *Ledger) Append(ctx context.Context, name string, b Batch) (Answer, error) {
	h := l.host(name)
	if b.Member == "" || len(b.Member) > 100 || len(b.Lines) > batchLines {
		return Answer{}, errBatch
	}
	if err := l.learn(ctx, name, h); err != nil {
		return Answer{}, err
	}
	mark := h.mark
	if mark.Member != b.Member {
		mark = Mark{Member: b.Member}
	}
	if b.Restart != nil {
		mark.Cursor = *b.Restart
	}
	l.note(h, mark)
	for _, raw := range b.Lines {
		data, cursor, err := stored(name, raw, l.now())
		if err != nil {
			return Answer{}, err
		}
		if cursor <= mark.Cursor {
			continue
		}
		message := &nats.Msg{Subject: subjects + name, Data: data, Header: nats.Header{memberHeader: {b.Member}, cursorHeader: {events.FormatCursor(cursor)}}}
		ack, err := l.js.PublishMsg(ctx, message, jetstream.WithExpectLastSequencePerSubject(h.last))
		if err != nil {
			h.known = false // whether it was appended isn't known
			return Answer{}, fmt.Errorf("append an event: %w", err)
		}
		h.last, mark.Cursor = ack.Sequence, cursor
		l.note(h, mark)
	}
	return Answer{Cursor: mark.Cursor}, nil
}

// learn finds how far a host's log was appended, by any gateway.
func (l *Ledger) learn(ctx context.Context, name string, h *host) error {
	if h.known {
		return nil
	}
	message, err := l.stream.GetLastMsgForSubject(ctx, subjects+name)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		h.known, h.last = true, 0 // the mark is that of the last process, if there was one
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the newest event of %s: %w", name, err)
	}
	cursor, err := events.ParseCursor(message.Header.Get(cursorHeader))
	if err != nil {
		return fmt.Errorf("read the newest event of %s: %w", name, err)
	}
	h.known, h.last = true, message.Sequence
	l.note(h, Mark{Member: message.Header.Get(memberHeader), Cursor: cursor})
	return nil
}

func (l *Ledger) note(h *host, m Mark) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.mark = m
}

// Answer is Append for a batch as it came over NATS, within the host's share.
func (l *Ledger) Answer(ctx context.Context, name string, data []byte) []byte {
	var b Batch
	var a Answer
	err := l.host(name).pace.WaitN(ctx, min(len(data)+batchCost, hostBurst))
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	if err == nil {
		a, err = l.Append(ctx, name, b)
	}
	if err != nil {
		a.Error = err.Error()
	}
	out, err := json.Marshal(a)
	if err != nil { // two plain fields always marshal
		l.log.Error("answer a host", "error", err)
	}
	return out
}
