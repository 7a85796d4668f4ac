package sessions

import (
	"berth/detect/watch"
)

// files are the agent's own files, which tell of it beside its hooks. A note of
// the system's says when to read them; they are looked at now and then too, for
// notes can be lost.
type files struct {
	state *watch.Subscription // of its live state
	log   sessionLog
}

// watchFiles asks for notes, as far as that was not done yet or ended. A folder
// that is not there is tried again at the next look.
func (c *core) watchFiles() {
	d := c.detection
	if d == nil {
		return
	}
	c.watchFile(&d.files.state, c.stateFilePath())
	if d.files.log.tail != nil {
		c.watchFile(&d.files.log.notes, d.files.log.tail.Mark().Path)
	}
}

func (c *core) watchFile(s **watch.Subscription, path string) {
	w := c.s.reg.watcher
	if w == nil || path == "" || *s != nil && (*s).Live() {
		return
	}
	(*s).Stop()
	*s, _ = w.Watch(path, c.s.stirred) // without it the looks do alone
}

// readFiles takes in what the agent's files say now.
func (c *core) readFiles() {
	c.readStateFile()
	c.readLog()
}

// close ends the notes.
func (f *files) close() {
	f.state.Stop()
	f.log.notes.Stop()
}
