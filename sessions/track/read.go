package track

import (
	"bytes"
	"fmt"

	"berth/detect/watch"
)

// stateFilePath is where the agent that runs now keeps its live state; empty
// when it has none.
func (t *Track) stateFilePath() string {
	file, pid := t.env.Spec().StateFile, t.env.Child().PID
	if t.d == nil || file == "" || pid == 0 {
		return ""
	}
	return fmt.Sprintf(file, pid)
}

// readStateFile reads the file in which the agent keeps its live state. A torn
// one is read again at the next note or look; a missing one says nothing.
func (t *Track) readStateFile() {
	d := t.d
	if d == nil || !d.waking.awake {
		return
	}
	name := t.stateFilePath()
	if name == "" {
		return
	}
	data, err := readSmall(name, t.env.Logs().UID, stateFileMost)
	if err != nil || bytes.Equal(data, d.stateSeen) || !ownStateFile(data, t.env.Child().Start) {
		return
	}
	facts, err := d.driver.Registry(name, data)
	if err != nil {
		return
	}
	d.stateSeen = data
	t.facts(facts)
}

// watchFiles asks for notes, as far as that was not done yet or ended. A folder
// that is not there is tried again at the next look.
func (t *Track) watchFiles() {
	d := t.d
	if d == nil {
		return
	}
	t.watchFile(&d.files.state, t.stateFilePath())
	if d.files.log.tail != nil {
		t.watchFile(&d.files.log.notes, d.files.log.tail.Mark().Path)
	}
}

func (t *Track) watchFile(s **watch.Subscription, path string) {
	w := t.env.Watcher
	if w == nil || path == "" || *s != nil && (*s).Live() {
		return
	}
	(*s).Stop()
	*s, _ = w.Watch(path, t.env.FilesChanged) // without it the looks do alone
}

// readFiles takes in what the agent's files say now.
func (t *Track) readFiles() {
	t.readStateFile()
	t.readLog()
}
