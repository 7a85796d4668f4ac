package track

import (
	"bytes"
	"fmt"

	"berth/detect/watch"
)

// stateFilePath is the path of the running agent's live state file; empty if it has none.
func (t *Track) stateFilePath() string {
	file, pid := t.env.Spec().StateFile, t.child().PID
	if t.d == nil || file == "" || pid == 0 {
		return ""
	}
	return fmt.Sprintf(file, pid)
}

// readStateFile applies the agent's live state file. A torn one is read again at the next notification or
// poll. A missing one is ignored.
func (t *Track) readStateFile() {
	d := t.d
	if d == nil || !d.waking.live {
		return
	}
	name := t.stateFilePath()
	if name == "" {
		return
	}
	data, err := readSmall(name, t.env.Logs().UID, stateFileMost)
	if err != nil || bytes.Equal(data, d.stateSeen) || !ownStateFile(data, t.child().Start) {
		return
	}
	facts, err := d.driver.Registry(name, data)
	if err != nil {
		return
	}
	d.stateSeen = data
	t.facts(facts)
}

// watchFiles watches the agent's files, unless it does already. A missing folder is tried again at the next
// poll.
func (t *Track) watchFiles() {
	d := t.d
	if d == nil {
		return
	}
	t.watchFile(&d.files.state, t.stateFilePath())
	for l := range d.files.reads(d.fold.Status().Conversation) {
		t.watchFile(&l.notes, l.tail.Mark().Path)
	}
}

func (t *Track) watchFile(s **watch.Subscription, path string) {
	w := t.env.Watcher
	if w == nil || path == "" || *s != nil && (*s).Live() {
		return
	}
	(*s).Stop()
	*s, _ = w.Watch(path, t.env.FilesChanged) // without a watch the polls are enough
}

// readFiles applies the current content of the agent's files.
func (t *Track) readFiles() {
	t.readStateFile()
	t.readLog()
}
