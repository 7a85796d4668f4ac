package dispatch

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"berth/terminal"
)

// lines is an output that several hosts share, each whole lines at a time. A line says whose it is, and controls no
// terminal: a host that was taken over can write anything.
type lines struct {
	mu       sync.Mutex
	to       io.Writer
	messages bool // standard error
	shaped   bool // the caller has chosen what a line is, so it gets no name
}

func (l *lines) part(host string) *linesPart { return &linesPart{of: l, host: host} }

// linesPart is one host's part. One goroutine at a time uses it.
type linesPart struct {
	of   *lines
	host string
	rest []byte // of a line that isn't complete
}

// longestLine bounds what is kept of a line without an end.
const longestLine = 1 << 20

func (p *linesPart) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	end := bytes.LastIndexByte(p.rest, '\n') + 1
	if end == 0 && len(p.rest) > longestLine {
		end = len(p.rest)
	}
	if end == 0 {
		return len(b), nil
	}
	err := p.print(p.rest[:end])
	p.rest = append(p.rest[:0], p.rest[end:]...)
	return len(b), err
}

// flush writes what is left. An error means that the client is gone.
func (p *linesPart) flush() {
	if len(p.rest) > 0 {
		_ = p.print(p.rest)
	}
}

func (p *linesPart) print(text []byte) error {
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		body := strings.TrimRight(line, "\r\n")
		out.WriteString(p.named(terminal.Printable(body)))
		out.WriteString(line[len(body):])
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	_, err := io.WriteString(p.of.to, out.String())
	return err
}

// named adds the host's name to a line: an object of JSON gets the field host, and another line begins with it.
func (p *linesPart) named(line string) string {
	var fields map[string]json.RawMessage
	switch {
	case p.of.messages:
	case json.Unmarshal([]byte(line), &fields) == nil && fields != nil:
		name := `"` + p.host + `"`
		if _, has := fields["host"]; !has && len(fields) > 0 {
			return strings.TrimSuffix(strings.TrimRight(line, " \t"), "}") + `,"host":` + name + "}"
		}
		fields["host"] = json.RawMessage(name)
		if data, err := json.Marshal(fields); err == nil {
			return string(data)
		}
	case p.of.shaped:
		return line
	}
	return p.host + ": " + line
}
