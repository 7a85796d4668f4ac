package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
)

// Options configure a log. A zero number has its default.
type Options struct {
	Signer  gossh.Signer      // signs heads: the server's host key
	Known   []gossh.PublicKey // keys whose signatures verify; the signer's is always one of them
	Now     func() time.Time
	Log     *slog.Logger // logs each signed head, and problems
	Segment int64        // bytes after which a new file begins: 8 MiB
	Total   int64        // bytes after which the oldest files are removed: 1 GiB
	// Age is the age after which a file is removed when all its lines are that old; 0 means never. A file
	// then covers at most an eighth of it, and at least an hour.
	Age time.Duration
}

const (
	// headEvery is how many lines a head covers at most. A signed line can't be rewritten without the host
	// key.
	headEvery = 100
	// syncWithin is how long a line may be only in the system's memory. It survives the server's end at once,
	// and the machine's end after this time.
	syncWithin = time.Second
)

// ErrClosed says that the log is closed.
var ErrClosed = errors.New("the audit log is closed")

// Log is the log of one server. Its methods may be called from any goroutine.
type Log struct {
	o   Options
	dir string

	mu     patient
	file   *os.File
	old    []*os.File // that are full, and not on disk yet
	named  bool       // the file's name is not on disk yet
	began  time.Time  // when the file's first line was written
	path   string
	size   int64 // of the file, as far as we wrote it
	kept   int64 // up to which the disk was asked to keep room for it
	n      uint64
	last   digest
	loose  int           // lines since the last signed head
	cursor string        // of the newest event looked at
	lines  atomic.Uint64 // n, for Lines
	failed atomic.Bool   // the last line could not be added
	closed bool
	many   refusals
	spent  *budget

	dirty chan struct{} // rings when there is something to sync
	grew  chan struct{} // see Grew
	stop  chan struct{} // closed when the log is
	done  chan struct{} // closed when keep has ended
}

// Open opens the log in dir, an existing folder, and continues after its last line. It doesn't check
// existing lines: see Verify.
func Open(dir string, o Options) (*Log, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Segment <= 0 {
		o.Segment = 8 << 20
	}
	if o.Total <= 0 {
		o.Total = 1 << 30
	}
	l := &Log{o: o, dir: dir, mu: newPatient(), dirty: make(chan struct{}, 1), grew: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}), spent: newBudget(o.Total, o.Now())}
	if err := l.recover(); err != nil {
		return nil, err
	}
	l.lines.Store(l.n)
	go l.keep()
	l.ageOut()
	return l, nil
}

// Append adds a line and returns its number. Lines of a caller below admin beyond its budget are only
// counted: the number is 0, and one later line has the count. After a nil error the line survives the
// server's end, and the machine's end a second later. After an error nothing was added. Lines are
// written one after another, because each has the hash of the one before. On a slow disk they wait for
// each other, for some seconds at most; then the error is ErrBusy.
func (l *Log) Append(e Entry) (uint64, error) {
	if !l.mu.LockWithin(patience) {
		l.failed.Store(true)
		return 0, ErrBusy
	}
	defer l.mu.Unlock()
	now := l.o.Now()
	list := append(l.many.over(now, l.room), l.spent.over(now)...)
	// While nothing can be written, nothing is counted either: verbs are refused then.
	if l.closed || l.failed.Load() || l.spent.take(e, now) {
		return l.add(append(list, e))
	}
	if e.Cursor != "" {
		l.cursor = e.Cursor
	}
	if len(list) == 0 {
		return 0, nil
	}
	_, err := l.add(list)
	return 0, err
}

// room says whether one more refusal may be written, and counts it. The caller holds l.mu.
func (l *Log) room() bool {
	ok := l.spent.refused.has(lineBytes, l.o.Now())
	if ok {
		l.spent.refused.left -= lineBytes
	}
	return ok
}

// Refuse adds a line for a refusal. For a caller that is refused again and again, the first refusals of a
// minute are written; the others are counted, and the next line after that minute has the count. A
// caller without rights must not fill the log.
func (l *Log) Refuse(e Entry) error {
	if !l.mu.LockWithin(patience) {
		l.failed.Store(true)
		return ErrBusy
	}
	defer l.mu.Unlock()
	e.Kind = KindRefused
	write, list := l.many.add(e, l.o.Now(), l.room)
	if write {
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil
	}
	_, err := l.add(list)
	return err
}

// add adds lines and returns the number of the last. The caller holds l.mu.
func (l *Log) add(list []Entry) (uint64, error) {
	if l.closed {
		return 0, ErrClosed
	}
	err := l.undisturbed()
	var n uint64
	for _, e := range list {
		if err == nil {
			n, err = l.append(e)
		}
	}
	if l.failed.Store(err != nil); err != nil {
		return 0, err
	}
	if l.loose >= headEvery {
		l.seal()
	}
	if l.size >= l.o.Segment || l.tooOld() {
		l.rotate()
	}
	for _, ring := range []chan struct{}{l.dirty, l.grew} {
		select {
		case ring <- struct{}{}:
		default:
		}
	}
	return n, nil
}

// append adds a line. The caller holds l.mu.
func (l *Log) append(e Entry) (uint64, error) {
	// Parse it again, so that the signature is for what is in the file.
	e.N, e.Time, e.Prev = l.n+1, api.At(l.o.Now().UTC().Truncate(time.Millisecond)), l.last.String()
	if e.Kind == KindHead {
		if err := sign(&e, l.o.Signer); err != nil {
			return 0, err
		}
	}
	line, err := e.encode()
	if err != nil {
		return 0, err
	}
	if err := l.write(line); err != nil {
		return 0, err
	}
	l.n, l.last = e.N, digestOf(line[:len(line)-1])
	l.lines.Store(l.n)
	l.loose++
	if e.Cursor != "" {
		l.cursor = e.Cursor
	}
	return e.N, nil
}

// Head is the current head of the log.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head()
}

func (l *Log) head() Head { return Head{N: l.n, Hash: l.last.String()} }

// Lines is the number of the last line. It waits for no disk.
func (l *Log) Lines() uint64 { return l.lines.Load() }

// Cursor is the cursor of the newest event that the log has seen; empty if it has seen none.
func (l *Log) Cursor() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor
}

// Failing says that the last line couldn't be added.
func (l *Log) Failing() bool { return l.failed.Load() }

// Saw records that the event with that cursor was seen and needs no line. The next signed head has the
// cursor.
func (l *Log) Saw(cursor string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cursor = cursor
}

// Read calls f with the written lines that match; see Read.
func (l *Log) Read(ctx context.Context, q Query, f func(line []byte) error) error {
	q.Until = l.Head().N
	return Read(ctx, l.dir, q, f)
}

// Verify checks the lines written so far, up to this log's own head, and the kept heads; see Verify.
func (l *Log) Verify(ctx context.Context, kept []Head) (Report, error) {
	head := l.Head()
	if head.N == 0 {
		return Report{}, nil
	}
	r, err := Verify(ctx, l.dir, append([]gossh.PublicKey{l.o.Signer.PublicKey()}, l.o.Known...), append([]Head{head}, kept...), head.N)
	r.Kept = max(r.Kept-1, 0) // this log's own head doesn't count
	return r, err
}

// Close signs the head and closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	if list := append(l.many.end(l.room), l.spent.end()...); len(list) > 0 {
		if _, err := l.add(list); err != nil {
			l.o.Log.Error("counted lines are missing from the audit log", "error", err)
		}
	}
	if l.loose > 0 {
		l.seal()
	}
	l.closed = true
	l.failed.Store(true)
	old := l.old
	l.old = nil
	err := errors.Join(l.file.Sync(), l.file.Close(), syncDir(l.dir))
	for _, o := range old {
		err = errors.Join(err, o.Sync(), o.Close())
	}
	close(l.stop)
	l.mu.Unlock()
	<-l.done
	if err != nil {
		return fmt.Errorf("close the audit log: %w", err)
	}
	return nil
}
