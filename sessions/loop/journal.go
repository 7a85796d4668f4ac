package loop

import (
	"errors"
	"io"
	"math"

	"berth/sessions/hold"
)

// JournalEnv is what a journal's reader uses of its session.
type JournalEnv struct {
	// Offset is how many bytes of output were taken in. Output takes in the bytes that follow;
	// live says that the program printed them after this server took over the session. Skip goes
	// over output that is gone: deleted as old while no server ran, or lost to a full disk.
	Offset func() int64
	Output func(data []byte, live bool)
	Skip   func(to int64)
	// Record takes in a control record, after the output that was printed before it.
	Record func(hold.Record)
	// Passed is called when all that was read for now is taken in. Unlinked is called when the
	// holder has ended and its link is closed.
	Passed   func()
	Unlinked func()

	Trouble func(what string, err error)
	Cured   func(what string)
}

// Journal reads a session's output and control log in the order of their writing. It reads from the
// holder that writes them, or from their files when there is no holder.
type Journal struct {
	env     JournalEnv
	dir     string
	link    *hold.Link // nil without a holder that answers
	output  *hold.Output
	control *hold.Control

	pending     []hold.Record // read and not applied yet: output before them is still to come
	recordsRead uint64        // number of the last control record read
	liveFrom    int64         // output before it was printed to the server before this one
	woken       bool          // the holder waits for a report of how far its output was read
	consumed    int64         // the offset that was last reported to the holder
	unread      bool          // there may be records that no wake announces
}

// recordsAtOnce bounds the control records held in memory while the output
// before them is read.
const recordsAtOnce = 1024

var errEnough = errors.New("enough records for now")

// NewJournal is the journal of a session with that folder, to be read from its beginning.
func NewJournal(dir string, env JournalEnv) *Journal {
	return &Journal{env: env, dir: dir, output: hold.OpenOutput(dir), control: hold.OpenControl(dir, 0)}
}

// Link is the link to the holder; nil without one that answers.
func (j *Journal) Link() *hold.Link { return j.link }

// Wake is the holder's signal. Without a holder it is nil, so a receive waits forever. The caller
// passes each signal to Woken.
func (j *Journal) Wake() <-chan struct{} {
	if j.link == nil {
		return nil
	}
	return j.link.Wake()
}

// Woken records that the holder has written, and waits for a report of how far that was read.
func (j *Journal) Woken() { j.woken = true }

// Sweep makes CatchUp read all that the holder has written, also what no wake announced.
func (j *Journal) Sweep() { j.unread = j.link != nil }

// Unread says that Sweep was called, and not all is read. Without a holder nothing can be read.
func (j *Journal) Unread() bool { return j.unread && j.link != nil }

// Adopt says that another server had the session before. Output that was printed before this server
// finds the holder isn't live.
func (j *Journal) Adopt() { j.liveFrom = math.MaxInt64 }

// Hold reads from the holder from now on.
func (j *Journal) Hold(link *hold.Link) {
	j.link = link
	j.woken, j.consumed = true, 0
	if j.liveFrom == math.MaxInt64 {
		j.liveFrom = link.Welcome().Written
	}
}

// Live says that there is a holder, and that all output from before this server is taken in.
func (j *Journal) Live() bool { return j.link != nil && !j.Past() }

// Past says that there is a holder, and that output from before this server is still to come.
func (j *Journal) Past() bool { return j.link != nil && j.env.Offset() < j.liveFrom }

// Resume goes on after a control record that was applied.
func (j *Journal) Resume(record uint64) {
	_ = j.control.Close() // a read-only file
	j.control = hold.OpenControl(j.dir, record)
	j.pending, j.recordsRead = nil, record
}

// Unlink closes a link that has ended.
func (j *Journal) Unlink() {
	_ = j.link.Close()  // it has ended: nothing is left to fail
	j.link.CloseFiles() // the next read opens them again
	j.link = nil
	j.control = hold.OpenControl(j.dir, j.recordsRead)
	j.env.Unlinked()
}

// CloseFiles closes the files, which open again by themselves.
func (j *Journal) CloseFiles() {
	_ = j.output.Close()  // read-only files: nothing can be lost
	_ = j.control.Close() // likewise
}

// Close gives everything back. The program runs on.
func (j *Journal) Close() {
	if j.link != nil {
		_ = j.link.Close() // the holder notices by itself
		j.link.CloseFiles()
	}
	j.CloseFiles()
}

// CatchUp takes in what the holder has written since the last call. It stops after
// a batch and reports whether there is more.
func (j *Journal) CatchUp() (more bool) {
	if j.link == nil {
		return false
	}
	ended := errors.Is(j.link.Err(), hold.ErrEnded) // asked before Written: if it has ended, Written is final
	written, records := j.link.Written()
	if j.unread {
		records = math.MaxUint64
	}
	more = j.advance(written, records, Batch)
	j.env.Passed()
	if more {
		return true
	}
	j.liveFrom = min(j.liveFrom, j.env.Offset()) // the session becomes live even if output cannot be read
	j.unread = false
	if ended {
		j.Unlink() // all that it has written is applied
		return false
	}
	if offset := j.env.Offset(); j.woken || offset > j.consumed {
		j.woken, j.consumed = false, offset
		j.link.Consumed(offset)
	}
	return false
}

// Replay takes in all that is in the files. It is for a session without a holder.
func (j *Journal) Replay() {
	_, written, err := j.output.Range()
	if err != nil {
		j.env.Trouble("look at the output", err)
		return
	}
	for j.advance(written, math.MaxUint64, Batch) {
	}
}

// HasNews reports whether the control log of the session in that folder has records after this one.
func HasNews(dir string, record uint64) bool {
	news := false
	err := hold.ReadControl(dir, record, func(hold.Record) error {
		news = true
		return errEnough
	})
	return news || err != nil && !errors.Is(err, errEnough)
}

// ReadOutput reads output that was printed at an offset.
func (j *Journal) ReadOutput(buf []byte, offset int64) (int, error) {
	if j.link != nil {
		return j.link.ReadOutput(buf, offset)
	}
	return j.output.ReadAt(buf, offset)
}

// advance takes in control records in their order, each after the output before it. written and
// records are how far the journal goes. budget bounds the output, in bytes. advance reports whether
// more is left.
func (j *Journal) advance(written int64, records uint64, budget int) (more bool) {
	buf := Buffers.Get().(*Buffer)
	defer Buffers.Put(buf)
	for {
		j.readRecords(records)
		limit := written
		if len(j.pending) > 0 {
			limit = min(limit, j.pending[0].Offset)
		}
		offset := j.env.Offset()
		switch {
		case offset < limit && budget <= 0:
			return true
		case offset < limit:
			n, ok := j.read(buf[:min(int64(budget), limit-offset)])
			if !ok {
				return false
			}
			budget -= n
		case len(j.pending) > 0 && j.pending[0].Offset <= offset:
			record := j.pending[0]
			j.pending = j.pending[1:]
			j.env.Record(record)
		default:
			return false
		}
	}
}

// readRecords reads the control log up to record number upTo. It waits until all records that were
// read before are applied.
func (j *Journal) readRecords(upTo uint64) {
	if len(j.pending) > 0 || j.recordsRead >= upTo {
		return
	}
	j.pending = nil
	err := j.records(func(r hold.Record) error {
		j.pending = append(j.pending, r)
		if len(j.pending) >= recordsAtOnce {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		j.env.Trouble("read the control log", err)
	}
}

// records reads the control records after the last one read.
func (j *Journal) records(fn func(hold.Record) error) error {
	if j.link == nil {
		err := j.control.Read(fn)
		j.recordsRead = j.control.Last()
		return err
	}
	return j.link.ReadControl(j.recordsRead, func(r hold.Record) error {
		j.recordsRead = r.N
		return fn(r)
	})
}

// read takes in the next output, at most len(buf) bytes. ok is false if there is none for now.
func (j *Journal) read(buf []byte) (n int, ok bool) {
	offset := j.env.Offset()
	n, err := j.ReadOutput(buf, offset)
	var trimmed *hold.TrimmedError
	switch {
	case errors.As(err, &trimmed):
		j.env.Skip(trimmed.First)
		return 0, trimmed.First > offset
	case n == 0:
		if err != nil && !errors.Is(err, io.EOF) {
			j.env.Trouble("read the output", err)
		}
		return 0, false
	}
	j.env.Output(buf[:n], offset >= j.liveFrom)
	j.env.Cured("read the output")
	return n, true
}
