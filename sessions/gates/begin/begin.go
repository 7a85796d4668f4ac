// Package begin is the context that an agent gets when a conversation starts: a text, or a command's output. It is
// pure. Package gates calls it.
package begin

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Source is why a conversation starts.
type Source string

// The sources. Any is for sources without a context of their own.
const (
	Startup Source = "startup"
	Resume  Source = "resume"
	Clear   Source = "clear"
	Compact Source = "compact"
	Any     Source = "any"
)

// Sources lists them.
var Sources = []Source{Startup, Resume, Clear, Compact, Any}

// Limits of a context.
const (
	Most     = 64 << 10         // maximum size in bytes of a text, and of a command's output
	Within   = 10 * time.Second // maximum run time of a command
	mostArgv = 256
)

// Context is the context for the agent: Text, or the output of Run.
type Context struct {
	Text string   `json:"text,omitempty"`
	Run  []string `json:"run,omitempty"` // argv, without a shell
}

// Config has the contexts by source.
type Config map[Source]Context

// For is the context of a source: its own, or the one for any source.
func (c Config) For(source Source) (Context, bool) {
	if one, ok := c[source]; ok {
		return one, true
	}
	one, ok := c[Any]
	return one, ok
}

// With returns a copy with another context for a source; nil removes it.
func (c Config) With(source Source, one *Context) Config {
	out := maps.Clone(c)
	if out == nil {
		out = Config{}
	}
	if delete(out, source); one != nil {
		out[source] = *one
	}
	return out
}

// Check returns an error if the setting isn't valid.
func (c Config) Check() error {
	for _, source := range slices.Sorted(maps.Keys(c)) {
		if !slices.Contains(Sources, source) {
			return fmt.Errorf("there is no source %q: startup, resume, clear, compact, any", source)
		}
		if err := c[source].check(); err != nil {
			return fmt.Errorf("%s: %w", source, err)
		}
	}
	return nil
}

func (c Context) check() error {
	total := 0
	for _, word := range c.Run {
		total += len(word)
		if strings.ContainsRune(word, 0) {
			return errors.New("the command has a NUL byte, which no program can be given")
		}
	}
	switch {
	case c.Text != "" && c.Run != nil:
		return errors.New("it has a text and a command: give one of the two")
	case c.Run != nil && (len(c.Run) == 0 || c.Run[0] == ""):
		return errors.New("the command is empty")
	case c.Run == nil && strings.TrimSpace(c.Text) == "":
		return errors.New("the text is empty")
	case len(c.Text) > Most || total > Most || len(c.Run) > mostArgv:
		return fmt.Errorf("a text has at most %d bytes, a command as many and %d words", Most, mostArgv)
	}
	return nil
}

// Printed is a command's output as a text for an agent: UTF-8, without a partial character at its end.
func Printed(output []byte) string {
	for n := 1; n < utf8.UTFMax && n <= len(output); n++ {
		if b := output[len(output)-n]; utf8.RuneStart(b) {
			if !utf8.FullRune(output[len(output)-n:]) {
				output = output[:len(output)-n]
			}
			break
		}
	}
	return strings.ToValidUTF8(strings.TrimSpace(string(output)), "\ufffd")
}
