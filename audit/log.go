package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"berth/api"
)

// Options say how a log is kept. A zero number has its default.
type Options struct {
	Signer  gossh.Signer      // signs heads: the server's host key
	Known   []gossh.PublicKey // whose signatures verify; the signer's own is among them anyway
	Now     func() time.Time
	Log     *slog.Logger // is told each signed head, and what is amiss
	Segment int64        // bytes after which a new file begins: 8 MiB
	Total   int64        // bytes after which the oldest files are removed: 1 GiB
	// Age is after which time files are removed whose lines are all that old; 0 is
	// never. A file then holds an eighth of it at most, and an hour at least.
	Age time.Duration
}

const (
	// headEvery is how many lines a head covers at most: what is signed cannot
	// be rewritten by somebody without the host key.
	headEvery = 100
	// syncWithin is how long a line may be in the system's memory alone: it is
	// safe from the server's end at once, from the machine's after that.
	syncWithin = time.Second
)

// reserve is how much room on the disk is kept for lines to come: on a disk
// that is full of something else, some 1,500 lines are written still.
const reserve = 1 << 20

// ErrClosed: the log is closed.
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
	loose  int         // lines since the last signed head
	cursor string      // of the newest event looked at
	failed atomic.Bool // the last line could not be added
	closed bool
	many   refusals

	dirty chan struct{} // rings when there is something to sync
	stop  chan struct{} // closed when the log is
	done  chan struct{} // closed when keep has ended
}

// Open opens the log in dir, an existing folder, and goes on behind its last
// line. Lines that were there are not checked: see Verify.
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
	l := &Log{o: o, dir: dir, mu: newPatient(), dirty: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	if err := l.recover(); err != nil {
		return nil, err
	}
	go l.keep()
	l.ageOut()
	return l, nil
}

// recover finds the end of the newest file. A line without an end stays as it
// is, since nothing is ever taken out: it is ended, and the next one tells of it.
func (l *Log) recover() error {
	list, err := segments(l.dir)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return l.begin(1)
	}
	newest := list[len(list)-1]
	l.n = newest.first - 1
	torn, err := l.scan(newest.path)
	if err != nil {
		return err
	}
	if l.file, err = os.OpenFile(newest.path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	l.path, l.size, l.kept = newest.path, newest.size, 0
	l.keepRoom()
	if !torn {
		return nil
	}
	if err := l.write([]byte("\n")); err != nil {
		return errors.Join(err, l.file.Close())
	}
	_, err = l.append(Entry{Kind: KindTorn, Text: "the line before this one was cut off when a server ended"})
	return err
}

// scan reads the newest file for its last number, hash and cursor. torn says
// that the last line has no end.
func (l *Log) scan(path string) (torn bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("read the audit log: %w", err)
	}
	defer f.Close()
	err = lines(f, func(line []byte, whole bool) error {
		l.n++
		l.last = digestOf(line)
		l.loose++
		torn = !whole
		e, err := parse(line)
		if err != nil {
			return nil // Verify tells of it
		}
		if e.Cursor != "" {
			l.cursor = e.Cursor
		}
		if l.began.IsZero() {
			l.began = e.Time.Time
		}
		if e.Kind == KindHead {
			l.loose = 0
		}
		return nil
	})
	if err != nil {
		return false, fmt.Errorf("read the audit log: %w", err)
	}
	return torn, nil
}

// begin begins the file whose first line has that number.
func (l *Log) begin(first uint64) error {
	path := segmentPath(l.dir, first)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("begin a file of the audit log: %w", err)
	}
	if l.file != nil {
		l.old = append(l.old, l.file) // brought to disk by keep, not while others wait
	}
	l.file, l.path, l.size, l.kept, l.began, l.named = f, path, 0, 0, l.o.Now(), true
	l.keepRoom()
	return nil
}

// Append adds a line and gives its number. When it returns without an error,
// the line outlives the server; the machine's own end it outlives a second
// later. An error says that nothing was added. Lines are written one after the
// other, for each names the one before; on a slow disk they wait for each other, but
// none longer than some seconds, after which the error is ErrBusy.
func (l *Log) Append(e Entry) (uint64, error) {
	if !l.mu.LockWithin(patience) {
		l.failed.Store(true)
		return 0, ErrBusy
	}
	defer l.mu.Unlock()
	return l.add(append(l.many.over(l.o.Now()), e))
}

// Refuse adds a line for a refusal. Of a caller that is refused again and again
// the first in a minute are written and the rest is counted, in a line of its
// own with what is added next after that minute: whoever may do nothing is not
// to fill the log.
func (l *Log) Refuse(e Entry) error {
	if !l.mu.LockWithin(patience) {
		l.failed.Store(true)
		return ErrBusy
	}
	defer l.mu.Unlock()
	e.Kind = KindRefused
	write, list := l.many.add(e, l.o.Now())
	if write {
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil
	}
	_, err := l.add(list)
	return err
}

// add adds lines and gives the number of the last. l.mu is held.
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
	select {
	case l.dirty <- struct{}{}:
	default:
	}
	return n, nil
}

// append adds a line. l.mu is held.
func (l *Log) append(e Entry) (uint64, error) {
	// As it can be read again: what is signed is what stands there.
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
	l.loose++
	if e.Cursor != "" {
		l.cursor = e.Cursor
	}
	return e.N, nil
}

// keepRoom has the disk keep room for the lines to come, before half of what it
// keeps is used.
func (l *Log) keepRoom() {
	if l.kept-l.size < reserve/2 {
		l.kept = l.size + reserve
		reserveTo(l.file, l.kept)
	}
}

// write adds bytes whole or not at all.
func (l *Log) write(b []byte) error {
	n, err := l.file.Write(b)
	if err == nil {
		l.size += int64(n)
		l.keepRoom()
		return nil
	}
	l.kept = 0
	err = fmt.Errorf("write the audit log: %w", err)
	if n > 0 { // our own bytes, of which nobody was told
		err = errors.Join(err, l.file.Truncate(l.size))
	}
	return err
}

// undisturbed makes sure that the file is as this log left it, and tells in
// the log where it is not.
func (l *Log) undisturbed() error {
	info, err := os.Stat(l.path)
	mine, mineErr := l.file.Stat()
	why := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		why = "the file that was written last was removed"
	case err != nil || mineErr != nil:
		return fmt.Errorf("look at the audit log: %w", errors.Join(err, mineErr))
	case !os.SameFile(info, mine):
		why = "the file that was written last was replaced"
	case info.Size() != l.size:
		why = fmt.Sprintf("the file that was written last had %d bytes and has %d", l.size, info.Size())
	default:
		return nil
	}
	l.o.Log.Error("the audit log was disturbed", "file", l.path, "what", why, "head", l.head().String())
	first := l.n + 1
	if err := l.begin(first); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the audit log was disturbed, and its next file is there already: move %s away", segmentPath(l.dir, first))
	} else if err != nil {
		return err
	}
	if _, err := l.append(Entry{Kind: KindAmiss, Text: why}); err != nil {
		return err
	}
	l.seal()
	return nil
}

// seal signs the head. A head that cannot be written is tried again with the
// next line.
func (l *Log) seal() {
	h := l.head()
	if _, err := l.append(Entry{Kind: KindHead, Of: h.N, Hash: h.Hash, Cursor: l.cursor}); err != nil {
		l.o.Log.Error("the audit log's head is not signed", "head", h.String(), "error", err)
		return
	}
	l.loose = 0
	// Of the line that was signed, and of the signature's own line: either finds
	// what was changed before it.
	l.o.Log.Info("audit head", "head", l.head().String(), "signed", h.String())
}

// tooOld says whether the file has gathered lines for as long as one may.
func (l *Log) tooOld() bool {
	return l.o.Age > 0 && l.o.Now().Sub(l.began) >= max(l.o.Age/8, time.Hour)
}

// rotate begins the next file behind a signed head, and removes the oldest
// where there are too many.
func (l *Log) rotate() {
	if l.loose > 0 {
		l.seal()
	}
	if err := l.file.Truncate(l.size); err != nil { // gives back the room that was kept
		l.o.Log.Error("a file of the audit log keeps more room than it needs", "file", l.path, "error", err)
	}
	if err := l.begin(l.n + 1); err != nil {
		l.kept = 0
		l.o.Log.Error("the audit log goes on in its file, which is longer than it should be", "file", l.path, "error", err)
		return
	}
	if err := l.retire(); err != nil {
		l.o.Log.Error("the oldest files of the audit log are not removed", "error", err)
	}
}

// retire removes the oldest files until the rest is within the bounds. The line
// that tells of it is written first.
func (l *Log) retire() error {
	list, err := segments(l.dir)
	if err != nil {
		return err
	}
	var sum int64
	for _, s := range list {
		sum += s.size
	}
	for i := 0; i+1 < len(list); i++ {
		text := fmt.Sprintf("lines %d to %d, %d bytes, ", list[i].first, list[i+1].first-1, list[i].size)
		switch {
		case sum > l.o.Total:
			text += fmt.Sprintf("to stay below %d", l.o.Total)
		case l.past(list[i+1]):
			text += fmt.Sprintf("older than %s", l.o.Age)
		default:
			return nil
		}
		if _, err := l.append(Entry{Kind: KindRetired, Of: list[i+1].first - 1, Text: text}); err != nil {
			return err
		}
		if err := os.Remove(list[i].path); err != nil {
			return fmt.Errorf("remove an old file of the audit log: %w", err)
		}
		sum -= list[i].size
	}
	return nil
}

// past says whether all lines before this file's are too old to be kept.
func (l *Log) past(next segment) bool {
	if l.o.Age <= 0 {
		return false
	}
	first, err := firstTime(next.path)
	return err == nil && l.o.Now().Sub(first) > l.o.Age
}

// Head is how far the log goes.
func (l *Log) Head() Head {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.head()
}

func (l *Log) head() Head { return Head{N: l.n, Hash: l.last.String()} }

// Cursor is that of the newest event which the log has looked at; empty when
// it has looked at none.
func (l *Log) Cursor() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursor
}

// Failing says that the last line could not be added.
func (l *Log) Failing() bool { return l.failed.Load() }

// Saw notes that the event of that cursor was looked at, and nothing was to be
// written of it. The next signed head has it.
func (l *Log) Saw(cursor string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cursor = cursor
}

// Read gives f the lines written so far that are asked for; see Read.
func (l *Log) Read(ctx context.Context, q Query, f func(line []byte) error) error {
	q.Until = l.Head().N
	return Read(ctx, l.dir, q, f)
}

// Verify checks what was written so far, up to the head that this log has in
// mind, and the heads that somebody kept; see Verify.
func (l *Log) Verify(ctx context.Context, kept []Head) (Report, error) {
	head := l.Head()
	if head.N == 0 {
		return Report{}, nil
	}
	r, err := Verify(ctx, l.dir, append([]gossh.PublicKey{l.o.Signer.PublicKey()}, l.o.Known...), append([]Head{head}, kept...), head.N)
	r.Kept = max(r.Kept-1, 0) // ours is no news
	return r, err
}

// keep brings lines to disk, until the log is closed.
func (l *Log) keep() {
	defer close(l.done)
	look := time.NewTicker(time.Hour)
	defer look.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-look.C:
			l.ageOut()
			continue
		case <-l.dirty:
		}
		select {
		case <-l.stop:
			return
		case <-time.After(syncWithin / 2): // for the lines that come meanwhile
		}
		l.sync()
	}
}

// ageOut removes what is too old, also where nobody adds lines.
func (l *Log) ageOut() {
	if l.o.Age <= 0 || !l.mu.LockWithin(patience) {
		return
	}
	defer l.mu.Unlock()
	if l.closed {
		return
	}
	if err := l.retire(); err != nil {
		l.o.Log.Error("the oldest files of the audit log are not removed", "error", err)
	}
}

func (l *Log) sync() {
	l.mu.Lock()
	f, old, named := l.file, l.old, l.named
	l.old, l.named = nil, false
	l.mu.Unlock()
	// Not under the lock: a slow disk is not to hold up who appends.
	for _, o := range old {
		if err := errors.Join(o.Sync(), o.Close()); err != nil {
			l.o.Log.Error("a file of the audit log may not be on disk", "error", err)
		}
	}
	err := f.Sync()
	if named {
		err = errors.Join(err, syncDir(l.dir))
	}
	if err != nil && !errors.Is(err, os.ErrClosed) {
		l.o.Log.Error("the audit log may not be on disk", "error", err)
	}
}

// Close signs the head and closes the log.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	if list := l.many.end(); len(list) > 0 {
		if _, err := l.add(list); err != nil {
			l.o.Log.Error("refusals that were counted are not in the audit log", "error", err)
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

// syncDir makes names that were just given survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
