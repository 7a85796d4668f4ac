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
	// logNamedLate is how far before the report of its path a log is read, because the agent may report it
	// after the first line.
	logNamedLate = time.Second
	// logSoughtAfter is how long to wait for the agent's report of the path. Then its hooks are off, and the
	// log is searched in the agent's folders. A session without hooks searches at once.
	logSoughtAfter = 3 * time.Second
)

// followLog switches to the log that the agent names, if it is another one.
func (t *Track) followLog(d *detection, f agent.Fact, r detect.Result) {
	if f.Log == "" || r.Foreign {
		return
	}
	named := f.Time.Add(-logNamedLate)
	id := d.fold.Status().Conversation
	d.files.returns(id, named, t.reader(d))
	if f.Conversation != "" && f.Conversation != id {
		return // a fork's start, by the id of the conversation that it was copied from
	}
	if l := &d.files.log; l.tail != nil && l.tail.Mark().Path == f.Log && l.conversation == id {
		return
	}
	logs := t.env.Logs()
	if !logs.Holds(f.Log) || f.Conversation != "" && !isLogOf(t.env.Spec().LogFiles, id, f.Log) {
		if d.files.outside != f.Log {
			d.files.outside = f.Log
			t.env.Log.Warn("the agent names a session log that is not among its own: it is not read", "log", f.Log, "folder", logs.Folder)
		}
		return
	}
	since := t.child().Started
	if d.files.log.tail != nil || d.restored {
		since = named
	}
	t.openLog(d, f.Log, id, since)
}

// openLog follows the log at a path. Its entries up to then are of the past and make no events, also when an
// old conversation is resumed.
func (t *Track) openLog(d *detection, path, conversation string, since time.Time) {
	if d.files.follow(path, conversation, since, t.child().Started, t.reader(d)) {
		t.env.SaveSoon() // so that the next server continues at this position
		return
	}
	if d.files.outside != path {
		d.files.outside = path
		t.env.Log.Warn("the agent names too many session logs for one conversation: this one is not read", "log", path)
	}
	d.files.noRoom = true
}

func (t *Track) reader(d *detection) reader { return reader{logs: t.env.Logs(), old: d.oldEntry} }

// readLog applies new entries of the logs that are read, one batch of each at a time.
func (t *Track) readLog() {
	d := t.d
	if d == nil || d.files.log.tail == nil {
		return
	}
	if d.files.noRoom {
		d.files.noRoom = false
		t.missed(d, d.fold.LacksLog)
	}
	d.files.returns(d.fold.Status().Conversation, t.env.Now().Add(-logNamedLate), t.reader(d))
	var failed error
	d.files.log.more = false
	for l := range d.files.reads(d.fold.Status().Conversation) {
		before := l.tail.Mark()
		more, err := l.tail.Look(loop.Batch, func(line tail.Line) { t.applyEntry(d, l, line) })
		d.files.log.more = d.files.log.more || more
		if err != nil {
			failed = err
			continue
		}
		if now := l.tail.Mark(); now.Skipped > before.Skipped {
			t.env.Log.Warn("lines of the session log are too long and were skipped", "lines", now.Skipped-before.Skipped, "log", now.Path)
			t.missed(d, d.fold.Skipped)
		}
	}
	if failed != nil {
		t.env.Trouble("read the session log", failed)
		return
	}
	t.env.Cured("read the session log")
}

// readLogToItsEnd applies the rest of the log of a program that has ended, or up to the call that the agent asks about.
func (t *Track) readLogToItsEnd() {
	for range lastBatches {
		if t.readLog(); t.d == nil || !t.d.files.log.more {
			return
		}
	}
}

// lastBatches limits how much of a log is read then.
const lastBatches = 64

// applyEntry applies one entry. If an earlier server emitted its change, because of this entry or of another
// source, only the fold gets it again.
func (t *Track) applyEntry(d *detection, l *sessionLog, line tail.Line) {
	facts, err := d.entry(line.Data)
	if err != nil { // the line isn't an entry
		t.missed(d, d.fold.Unread)
		return
	}
	if l.renewals != line.Renewed {
		l.renewals, l.since = line.Renewed, l.newest
	}
	at := placeOf(line)
	emitted := t.emitted.LogTold.covers(at)
	var results []detect.Result
	for _, f := range facts {
		if !f.At.IsZero() && !f.At.After(l.since) {
			if !l.unread.IsZero() && f.At.After(l.unread) {
				d.ids.at(t.env.Next(), emitted)
				f.Time = d.clock(t.env.Now())
				results = append(results, d.fold.LoggedBefore(f))
			}
			continue
		}
		if l.ledger.Enter(&f) {
			d.meter.Adopt(l.ledger.Turn)
		}
		d.meter.Take(l.ledger.Turn, f, l.ledger.Over)
		if f.At.After(l.newest) && !f.At.After(t.env.Now()) { // a forged time would make later entries old
			l.newest = f.At
		}
		emitted = emitted || !f.At.IsZero() && !f.At.After(t.recalledAt)
		d.ids.at(t.env.Next(), emitted)
		f.Time = d.clock(t.env.Now())
		result := d.fold.Apply(f)
		t.noteConversation(f, result)
		t.listen(f, result)
		if end, ok := l.ledger.Late(f); ok {
			t.lateWords(end, result)
		}
		results = append(results, result)
	}
	t.emitOnce(emitted, at, results)
}

// missed reports to the fold that an entry couldn't be read.
func (t *Track) missed(d *detection, report func(now time.Time) detect.Result) {
	d.ids.at(t.env.Next(), !d.waking.live)
	if result := report(d.clock(t.env.Now())); d.waking.live {
		t.Emit([]detect.Result{result})
	}
}

// lateWords applies a turn's end whose message is logged after it. Each entry has a later part of the
// message, so the newest one is the last message.
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

// seekLog searches the conversation's log in the agent's folders, if the agent hasn't reported its path.
func (t *Track) seekLog(now time.Time) {
	d, spec := t.d, t.env.Spec()
	if d == nil || spec.LogFiles == "" {
		return
	}
	l := &d.files
	id := d.fold.Status().Conversation
	if l.log.tail != nil && (l.sought == "" || l.sought == id) {
		return
	}
	if id == "" || filepath.Base(id) != id {
		return
	}
	started := t.child().Started
	if l.sought != id {
		l.sought, l.soughtSince = id, now
		if l.log.tail == nil {
			l.soughtSince = started
		}
	}
	if spec.Hooks && now.Sub(started) < logSoughtAfter {
		return
	}
	if path := findLog(spec.LogFiles, id); path != "" {
		t.openLog(d, path, id, l.soughtSince)
	}
}

// Ending reads the rest of the log after the program has ended. The loop then calls End and Ended.
func (t *Track) Ending() { t.readLogToItsEnd() }
