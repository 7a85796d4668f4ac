package dispatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"

	"berth/sessions/loop"
	"berth/tui"
)

// Choices keeps what people have set in the dashboard and in attached sessions, in a file of the state
// folder. Its methods may be called concurrently.
type Choices struct {
	file string
	log  *slog.Logger

	mu   sync.Mutex
	list []chosen // the one that was changed last is at the end

	saving sync.Mutex // held while the file is written
}

// chosen is what one person has set.
type chosen struct {
	Person     string      `json:"person"`
	StatusLine bool        `json:"status_line,omitempty"`
	Dashboard  tui.Choices `json:"dashboard"`
}

// choicesKept is the maximum of persons to remember: more than have keys on any server. Of more, those are
// forgotten who changed something the longest time ago; keys that are gone are among them.
const choicesKept = 1000

// LoadChoices reads the file that an earlier server saved. Without one that can be read, all people have the
// defaults.
func LoadChoices(file string, log *slog.Logger) *Choices {
	c := &Choices{file: file, log: log}
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, &c.list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		log.Warn("the settings of people cannot be read; they have the defaults", "error", fmt.Errorf("read %s: %w", file, err))
		c.list = nil
	}
	c.list = c.list[max(0, len(c.list)-choicesKept):]
	return c
}

// of returns what a person has set.
func (c *Choices) of(person string) chosen {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.index(person); i >= 0 {
		return c.list[i]
	}
	return chosen{Person: person}
}

func (c *Choices) index(person string) int {
	return slices.IndexFunc(c.list, func(p chosen) bool { return p.Person == person })
}

// change changes what a person has set, and saves it. Another reader never waits for the disk.
func (c *Choices) change(person string, set func(*chosen)) {
	c.saving.Lock()
	defer c.saving.Unlock()
	if err := c.save(c.changed(person, set)); err != nil {
		c.log.Warn("a setting is lost when the server ends", "error", err)
	}
}

// changed returns the list after a change. One with nothing but defaults isn't kept.
func (c *Choices) changed(person string, set func(*chosen)) []chosen {
	p := c.of(person)
	set(&p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.index(person); i >= 0 {
		c.list = slices.Delete(c.list, i, i+1)
	}
	if p != (chosen{Person: person}) {
		c.list = append(c.list, p)
	}
	c.list = c.list[max(0, len(c.list)-choicesKept):]
	return slices.Clone(c.list)
}

func (c *Choices) save(list []chosen) error {
	data, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encode the settings of people: %w", err)
	}
	return loop.ReplaceFile(c.file, append(data, '\n'))
}
