package track

import (
	"path/filepath"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/detect/tail"
	"berth/sessions/loop"
)

const (
	// A log that is named later than its first line was written is read from a
	// little before.
	logNamedLate = time.Second
	// Without a word of the agent's for so long the log is sought in the folder
	// where such logs are: its hooks are off. A session that has none seeks at once.
	logSoughtAfter = 3 * time.Second
)

// followLog goes over to the log that the agent names, if it is another.
func (t *Track) followLog(d *detection, f agent.Fact, r detect.Result) {
	if f.Log == "" || r.Foreign || d.files.log.tail != nil && d.files.log.tail.Mark().Path == f.Log {
		return
	}
	if logs := t.env.Logs(); !logs.Holds(f.Log) {
		if d.files.log.outside != f.Log {
			d.files.log.outside = f.Log
			t.env.Log.Warn("the agent names a session log that is not among its own: it is not read", "log", f.Log, "folder", logs.Folder)
		}
		return
	}
	since := t.env.Child().Started
	if d.files.log.tail != nil || d.restored {
		since = f.Time.Add(-logNamedLate)
	}
	t.openLog(d, f.Log, since)
}

// openLog follows the log at a path. What it held by then is the past, and no
// news: also when an old conversation is taken up.
func (t *Track) openLog(d *detection, path string, since time.Time) {
	l := &d.files.log
	l.notes.Stop()
	*l = sessionLog{since: since, newest: since, sought: l.sought, soughtSince: l.soughtSince}
	l.tail = tail.New(t.env.Logs(), path, d.oldEntry)
	l.more = true
	t.env.SaveSoon() // so that the next server goes on there before it believes anything
}

// readLog takes in what was added to the log, a batch at a time.
func (t *Track) readLog() {
	d := t.d
	if d == nil {
		return
	}
	l := &d.files.log
	if l.tail == nil {
		return
	}
	before := l.tail.Mark()
	more, err := l.tail.Look(loop.Batch, func(line tail.Line) { t.applyEntry(d, line) })
	l.more = more
	if err != nil {
		t.env.Trouble("read the session log", err)
		return
	}
	t.env.Cured("read the session log")
	if now := l.tail.Mark(); now.Skipped > before.Skipped {
		t.env.Log.Warn("lines of the session log are too long and were skipped", "lines", now.Skipped-before.Skipped, "log", now.Path)
	}
}

// readLogToItsEnd: the program is over, and writes no more.
func (t *Track) readLogToItsEnd() {
	for range lastBatches {
		if t.readLog(); t.d == nil || !t.d.files.log.more {
			return
		}
	}
}

// lastBatches bounds how much of a log is read at its program's end.
const lastBatches = 64

// applyEntry takes in one entry. Of one that the last server told of, by it or
// by what another source said of the same, only the fold hears again.
func (t *Track) applyEntry(d *detection, line tail.Line) {
	facts, err := d.driver.Log(line.Data)
	if err != nil {
		return // what is not an entry says nothing
	}
	l := &d.files.log
	if l.renewals != line.Renewed {
		l.renewals, l.since = line.Renewed, l.newest
	}
	at := placeOf(line)
	told := t.told.LogTold.covers(at)
	var results []detect.Result
	for _, f := range facts {
		if !f.At.IsZero() && !f.At.After(l.since) {
			continue
		}
		l.ledger.Enter(&f)
		d.meter.Take(l.ledger.Turn, f, l.ledger.Over)
		if f.At.After(l.newest) {
			l.newest = f.At
		}
		told = told || !f.At.IsZero() && !f.At.After(t.recalledAt)
		if !told {
			d.ids.opening = t.env.Next()
		}
		f.Time = d.clock(t.env.Now())
		result := d.fold.Apply(f)
		t.noteConversation(f, result)
		t.listen(f, result)
		if end, ok := l.ledger.Late(f); ok {
			t.lateWords(end, result)
		}
		results = append(results, result)
	}
	t.tellOnce(told, at, results)
}

// lateWords takes in the end of a turn whose words are logged after it. Each entry has more of the words,
// so the newest ones are the last message.
func (t *Track) lateWords(end agent.Fact, r detect.Result) {
	d := t.d
	if !r.Foreign && d.said != nil && d.said == d.late {
		d.said = nil
	}
	before := d.said
	if t.listen(end, r); d.said != before {
		d.late = d.said
	}
}

// seekLog looks for the log of the conversation where the agent keeps such logs,
// when nobody has said which it is.
func (t *Track) seekLog(now time.Time) {
	d, spec := t.d, t.env.Spec()
	if d == nil || spec.LogFiles == "" {
		return
	}
	l := &d.files.log
	id := d.fold.Status().Conversation
	if l.tail != nil && (l.sought == "" || l.sought == id) {
		return
	}
	if id == "" || filepath.Base(id) != id {
		return
	}
	started := t.env.Child().Started
	if l.sought != id {
		l.sought, l.soughtSince = id, now
		if l.tail == nil {
			l.soughtSince = started
		}
	}
	if spec.Hooks && now.Sub(started) < logSoughtAfter {
		return
	}
	if path := findLog(spec.LogFiles, id); path != "" {
		t.openLog(d, path, l.soughtSince)
	}
}
