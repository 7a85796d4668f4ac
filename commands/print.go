package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"berth/api"
	"berth/terminal"
)

// printJSON writes one value as one line. HTML escaping is off, because the reader isn't a
// browser. Control characters are escaped, so that the text can't control a terminal.
func (c *Call) printJSON(v any) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode the answer of %s: %w", c.verbName(), err)
	}
	text := terminal.EscapeJSON(line.Bytes())
	if verb := c.verbName(); !api.Unversioned(verb) {
		text = api.WithNewNames(text, verb)
	}
	_, err := c.Out.Write(c.lines(text))
	return err
}

// answer prints v as JSON, or the output of text, with control characters replaced so that they
// can't control the reader's terminal.
func (c *Call) answer(v any, text func(io.Writer)) error {
	if c.JSON {
		return c.printJSON(v)
	}
	var out bytes.Buffer
	text(&out)
	var safe bytes.Buffer
	for line := range strings.Lines(out.String()) {
		safe.WriteString(terminal.Printable(strings.TrimSuffix(line, "\n")) + "\n")
	}
	_, err := c.Out.Write(c.lines(safe.Bytes()))
	return err
}

// lines gives text the line ends that its reader needs: a client with a PTY has its terminal in
// raw mode, where LF alone only moves down.
func (c *Call) lines(text []byte) []byte {
	if !c.Terminal {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
}

// table aligns rows in columns.
func table(w io.Writer, rows [][]string) {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i := range row {
			row[i] = terminal.Printable(row[i])
		}
		fmt.Fprintln(tab, strings.Join(row, "\t"))
	}
	_ = tab.Flush() // into a buffer, which does not fail
}

// ago is how long before now t was, in the largest fitting unit.
func ago(now, t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := max(now.Sub(t), 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
