package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// stateFilePath is where the agent that runs now keeps its live state; empty
// when it has none.
func (c *core) stateFilePath() string {
	if c.detection == nil || c.spec.StateFile == "" || c.child.pid == 0 {
		return ""
	}
	return fmt.Sprintf(c.spec.StateFile, c.child.pid)
}

// readStateFile reads the file in which the agent keeps its live state. A torn
// one is read again at the next note or look; a missing one says nothing.
func (c *core) readStateFile() {
	d := c.detection
	if d == nil || !d.awake {
		return
	}
	name := c.stateFilePath()
	if name == "" {
		return
	}
	data, err := os.ReadFile(name)
	if err != nil || bytes.Equal(data, d.stateSeen) || !ownStateFile(data, c.child.start) {
		return
	}
	facts, err := d.driver.Registry(name, data)
	if err != nil {
		return
	}
	d.stateSeen = data
	c.facts(facts)
}

// ownStateFile says whether the file is of the process that runs now: a killed
// one leaves its file, and its id may have gone to another.
func ownStateFile(data []byte, start string) bool {
	var head struct {
		Start string `json:"procStart"`
	}
	if json.NewDecoder(bytes.NewReader(data)).Decode(&head) != nil {
		return false
	}
	ticks, _, _ := strings.Cut(start, "@")
	return head.Start == "" || head.Start == ticks
}
