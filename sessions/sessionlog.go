package sessions

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"berth/agent"
	"berth/detect"
	"berth/detect/tail"
	"berth/detect/watch"
)

const (
	// A log that is named later than its first line was written is read from a
	// little before.
	logNamedLate = time.Second
	// Without a word of the agent's for so long the log is sought in the folder
	// where such logs are: its hooks are off. A session that has none seeks at once.
	logSoughtAfter = 3 * time.Second
)

// sessionLog is the log that the agent keeps of its conversation.
type sessionLog struct {
	tail   *tail.Tail          // nil while nobody has said where it is
	notes  *watch.Subscription // of its changes
	since  time.Time           // entries up to then are of the past: they move nothing
	newest time.Time           // of the entries taken in
	more   bool                // it was not read to its end

	ledger      detect.Ledger
	renewals    uint64    // how often it was replaced or cut short
	outside     string    // named by the agent, and not among its own
	sought      string    // the conversation whose log is sought, or was found by seeking
	soughtSince time.Time // and since when
}

// savedLog is what a checkpoint keeps of it.
type savedLog struct {
	Mark     tail.Mark     `json:"mark"`
	Since    time.Time     `json:"since"`
	Newest   time.Time     `json:"newest"`
	Ledger   detect.Ledger `json:"ledger"`
	Renewals uint64        `json:"renewals"`
}

func (l *sessionLog) saved() *savedLog {
	if l.tail == nil {
		return nil
	}
	return &savedLog{Mark: l.tail.Mark(), Since: l.since, Newest: l.newest, Renewals: l.renewals, Ledger: l.ledger}
}

// sourcePlace is where what caused an event stands in a file of the agent's, or
// in what it prints. What was told of up to there is not told again.
type sourcePlace struct {
	Source  agent.Source `json:"source"`         // log, stream
	File    string       `json:"file,omitempty"` // its id, empty for what is printed
	Renewed uint64       `json:"renewed"`        // how often it had been replaced or cut short
	Offset  int64        `json:"offset"`         // right behind it
}

func placeOf(l tail.Line) *sourcePlace {
	return &sourcePlace{Source: agent.SourceLog, File: l.File, Renewed: l.Renewed, Offset: l.Next}
}

// covers says whether the other place is not behind this one.
func (p *sourcePlace) covers(o *sourcePlace) bool {
	return p != nil && p.File == o.File && (o.Renewed < p.Renewed || o.Renewed == p.Renewed && o.Offset <= p.Offset)
}

// followLog goes over to the log that the agent names, if it is another.
func (c *core) followLog(d *detection, f agent.Fact, r detect.Result) {
	if f.Log == "" || r.Foreign || d.files.log.tail != nil && d.files.log.tail.Mark().Path == f.Log {
		return
	}
	if !c.spec.logs().Holds(f.Log) {
		if d.files.log.outside != f.Log {
			d.files.log.outside = f.Log
			c.log.Warn("the agent names a session log that is not among its own: it is not read", "log", f.Log, "folder", c.spec.logFolder())
		}
		return
	}
	since := c.started
	if d.files.log.tail != nil || d.restored {
		since = f.Time.Add(-logNamedLate)
	}
	c.openLog(d, f.Log, since)
}

// openLog follows the log at a path. What it held by then is the past, and no
// news: also when an old conversation is taken up.
func (c *core) openLog(d *detection, path string, since time.Time) {
	l := &d.files.log
	l.notes.Stop()
	*l = sessionLog{since: since, newest: since, sought: l.sought, soughtSince: l.soughtSince}
	l.tail = tail.New(c.spec.logs(), path, d.oldEntry)
	l.more = true
	c.saveSoon = true // so that the next server goes on there before it believes anything
}

// restoreLog goes on where a checkpoint left off.
func (d *detection) restoreLog(logs tail.Below, from *savedLog) {
	if from == nil {
		return
	}
	d.files.log = sessionLog{tail: tail.Resume(logs, from.Mark, d.oldEntry), since: from.Since, newest: from.Newest, renewals: from.Renewals, ledger: from.Ledger, more: true}
}

func (d *detection) oldEntry(line []byte) bool {
	facts, err := d.driver.Log(line)
	if err != nil || len(facts) == 0 || facts[0].At.IsZero() {
		return false
	}
	return !facts[0].At.After(d.files.log.since)
}

// readLog takes in what was added to the log, a batch at a time.
func (c *core) readLog() {
	d := c.detection
	if d == nil {
		return
	}
	l := &d.files.log
	if l.tail == nil {
		return
	}
	before := l.tail.Mark()
	more, err := l.tail.Look(batch, func(line tail.Line) { c.applyEntry(d, line) })
	l.more = more
	if err != nil {
		c.trouble("read the session log", err)
		return
	}
	c.cured("read the session log")
	if now := l.tail.Mark(); now.Skipped > before.Skipped {
		c.log.Warn("lines of the session log are too long and were skipped", "lines", now.Skipped-before.Skipped, "log", now.Path)
	}
}

// readLogToItsEnd: the program is over, and writes no more.
func (c *core) readLogToItsEnd() {
	for range lastBatches {
		if c.readLog(); c.detection == nil || !c.detection.files.log.more {
			return
		}
	}
}

// lastBatches bounds how much of a log is read at its program's end.
const lastBatches = 64

// applyEntry takes in one entry. Of one that the last server told of, by it or
// by what another source said of the same, only the fold hears again.
func (c *core) applyEntry(d *detection, line tail.Line) {
	facts, err := d.driver.Log(line.Data)
	if err != nil {
		return // what is not an entry says nothing
	}
	l := &d.files.log
	if l.renewals != line.Renewed {
		l.renewals, l.since = line.Renewed, l.newest
	}
	at := placeOf(line)
	told := c.logTold.covers(at)
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
		told = told || !f.At.IsZero() && !f.At.After(c.recalledAt)
		if !told {
			d.ids.opening = c.s.reg.events.LastSeq(c.s.id) + 1
		}
		f.Time = d.clock(c.now())
		result := d.fold.Apply(f)
		c.noteConversation(f, result)
		c.listen(f, result)
		results = append(results, result)
	}
	c.tellOnce(told, at, results)
}

// wordless says that the agent tells of its turn's end and not of what it said.
func wordless(f agent.Fact) bool {
	return f.Kind == agent.TurnEnded && f.How == agent.Completed && f.Agent == "" && f.Text == "" && f.Turn == ""
}

// worded gives the end of a turn that was told without words and without its name
// what the log has of it. The log itself may not tell that it is over.
func (d *detection) worded(f agent.Fact) agent.Fact {
	l := &d.files.log.ledger
	if !wordless(f) || l.Turn == "" {
		return f
	}
	f.Turn, f.Text = l.Turn, l.Words
	d.meter.Take(f.Turn, agent.Fact{}, true)
	return f
}

// seekLog looks for the log of the conversation where the agent keeps such logs,
// when nobody has said which it is.
func (c *core) seekLog(now time.Time) {
	d := c.detection
	if d == nil || c.spec.LogFiles == "" {
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
	if l.sought != id {
		l.sought, l.soughtSince = id, now
		if l.tail == nil {
			l.soughtSince = c.started
		}
	}
	if c.spec.Isolate != agent.IsolateNone && now.Sub(c.started) < logSoughtAfter {
		return
	}
	if path := findLog(c.spec.LogFiles, id); path != "" {
		c.openLog(d, path, l.soughtSince)
	}
}

// findLog is the file of that name in any of the folders of a folder: the
// pattern is as agent.Launch has it.
func findLog(pattern, id string) string {
	folder, name, ok := strings.Cut(pattern, "/*/")
	if !ok || strings.ContainsAny(id, `*?[\`) {
		return ""
	}
	name = strings.NewReplacer("%s", id, "%.8s", id[:min(8, len(id))]).Replace(name)
	found, _ := fs.Glob(os.DirFS(folder), "*/"+name) // a folder that is not there holds none
	for _, file := range found {
		path := filepath.Join(folder, file)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}
