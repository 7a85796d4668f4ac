package ledger

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"berth/sessions/events"
)

// Bounds of the newest lines that are in memory.
const (
	tailLines = 2048
	tailBytes = 8 << 20
)

// tail has the newest lines of the stream for all followers.
type tail struct {
	mu    sync.Mutex
	lines []Line
	bytes int
	head  uint64
	wake  chan struct{} // closed when head rises
}

// take is a message of the stream.
func (l *Ledger) take(m jetstream.Msg) {
	meta, err := m.Metadata()
	if err != nil {
		l.log.Warn("a message of the fleet's stream", "error", err)
		return
	}
	l.tail.add(l.line(m.Data(), meta.Sequence.Stream))
}

// line is a message as a line. A damaged message is a gap.
func (l *Ledger) line(data []byte, cursor uint64) Line {
	line, err := read(data, cursor)
	if err != nil {
		l.log.Warn("a message of the fleet's stream", "error", err)
		return gap(cursor, cursor, l.now())
	}
	return line
}

func (t *tail) add(line Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if line.Cursor <= t.head {
		return
	}
	t.lines = append(t.lines, line)
	t.bytes += len(line.Raw)
	for len(t.lines) > tailLines || t.bytes > tailBytes && len(t.lines) > 1 {
		t.bytes -= len(t.lines[0].Raw)
		t.lines[0] = Line{}
		t.lines = t.lines[1:]
	}
	t.head = line.Cursor
	close(t.wake)
	t.wake = make(chan struct{})
}

// look gives the line after a position, if it is in memory. wake isn't nil at the end of the stream.
func (t *tail) look(position uint64) (line Line, ok bool, wake <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if position >= t.head {
		return line, false, t.wake
	}
	if len(t.lines) == 0 || position+1 < t.lines[0].Cursor {
		return line, false, nil
	}
	i := sort.Search(len(t.lines), func(i int) bool { return t.lines[i].Cursor > position })
	return t.lines[i], true, nil
}

// Head is the cursor of the newest event.
func (l *Ledger) Head() uint64 {
	l.tail.mu.Lock()
	defer l.tail.mu.Unlock()
	return l.tail.head
}

// Follower pulls the stream's lines after a position. It is for one goroutine at a time and needs no closing.
type Follower struct {
	ledger   *Ledger
	position uint64
	until    uint64 // events.ErrEnd after this cursor; 0 for never
	held     *Line  // given after the gap before it
}

// Follow gives every line with a cursor above since.
func (l *Ledger) Follow(since uint64) *Follower { return &Follower{ledger: l, position: since} }

// Until makes Next end with events.ErrEnd after that cursor.
func (f *Follower) Until(cursor uint64) { f.until = cursor }

// Position is the cursor from which Follow would go on.
func (f *Follower) Position() uint64 { return f.position }

// Next waits for the next line. host is empty for a gap in the stream. Errors are those of the context,
// events.ErrEnd, and of a stream that can't be read.
func (f *Follower) Next(ctx context.Context) (line events.Line, host string, err error) {
	next, err := f.next(ctx)
	return next.Line, next.Host, err
}

func (f *Follower) next(ctx context.Context) (Line, error) {
	if f.held != nil {
		line := *f.held
		f.held, f.position = nil, line.Cursor
		return line, nil
	}
	for {
		if err := ctx.Err(); err != nil {
			return Line{}, err
		}
		if f.until > 0 && f.position >= f.until {
			return Line{}, events.ErrEnd
		}
		line, ok, wake := f.ledger.tail.look(f.position)
		if wake != nil {
			select {
			case <-wake:
				continue
			case <-ctx.Done():
				return Line{}, ctx.Err()
			}
		}
		if !ok {
			var err error
			if line, err = f.ledger.patiently(ctx, f.position); err != nil {
				return Line{}, err
			}
		}
		if from := f.position + 1; line.Cursor > from {
			held := line
			f.held = &held
			line = gap(from, line.Cursor-1, f.ledger.now())
		}
		f.position = line.Cursor
		return line, nil
	}
}

// Times of reading out of the stream. The NATS server is away for as long as a start takes, when it was killed.
const (
	readAgain = 200 * time.Millisecond
	readMost  = 30 * time.Second
)

// patiently reads the first message after a position out of the stream, which may be away for a while.
func (l *Ledger) patiently(ctx context.Context, position uint64) (Line, error) {
	tick := time.NewTicker(readAgain)
	defer tick.Stop()
	for end := l.now().Add(readMost); ; {
		line, err := l.after(ctx, position)
		if err == nil || ctx.Err() != nil || !l.now().Before(end) {
			return line, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Line{}, ctx.Err()
		}
	}
}

// after reads the first message after a position. If none is left, it gives one gap for all of them.
func (l *Ledger) after(ctx context.Context, position uint64) (Line, error) {
	message, err := l.stream.GetMsg(ctx, position+1, jetstream.WithGetMsgSubject(subjects+"*"))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return gap(position+1, l.Head(), l.now()), nil
	}
	if err != nil {
		return Line{}, fmt.Errorf("read the fleet's stream: %w", err)
	}
	return l.line(message.Data, message.Sequence), nil
}
