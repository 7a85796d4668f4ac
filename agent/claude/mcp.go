package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
	"berth/terminal"
)

// titleTool is the head of the permission for a server's tool. Below another title a text that
// looks like a call is a file's name, or a skill's text.
const titleTool = "Tool use"

// A permission for a server's tool begins with the call, on one line that is broken
// into rows: "server - tool (MCP)", or with what it is called with "server - tool(name:
// value, name: value) (MCP)", each value in JSON. Below it is the tool's description.

// mcpCall is such a line: the server and the tool.
var mcpCall = pattern.New(`(?s)^([^\n(]+?) - ([\w.-]+)(?:\(.*\))?\s\(MCP\)`)

// mcpTool is the tool's name as hooks report it; empty when the text doesn't start with a call.
func mcpTool(text string) string {
	if m := mcpCall.FindStringSubmatch(text); m != nil {
		return "mcp__" + unnamed.ReplaceAllString(m[1], "_") + "__" + unnamed.ReplaceAllString(m[2], "_")
	}
	return ""
}

// unnamed matches the characters that become an underscore in tools' names.
var unnamed = pattern.New(`[^A-Za-z0-9_-]`)

// plainName matches a field's name that can't be mistaken for another part of a call.
var plainName = pattern.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// called is the drawn form of a call with that input; false if that form wasn't measured.
func called(name string, input json.RawMessage) (string, bool) {
	fields, ok := drawnInput(input)
	if !ok || len(fields) == 0 {
		return name, ok
	}
	var texts []string
	for _, f := range fields {
		texts, ok = append(texts, f.text), ok && plainName.MatchString(f.name)
	}
	return name + "(" + strings.Join(texts, ", ") + ")", ok
}

// drawnField is a field of a call, and how it is drawn: its name as it is, and its value in JSON.
type drawnField struct{ name, text string }

// drawnInput has the fields of a call. It reports whether the input is an object.
func drawnInput(input json.RawMessage) (fields []drawnField, ok bool) {
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return nil, false
	}
	d := json.NewDecoder(&b)
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err = errors.Join(err, d.Decode(&value)); err != nil {
			return nil, false
		}
		name := fmt.Sprint(key)
		fields = append(fields, drawnField{name, name + ": " + string(value)})
	}
	_, err := d.Token()
	_, end := d.Token()
	return fields, err == nil && errors.Is(end, io.EOF)
}

// mayLack reports whether the dialog of a server's tool may lack a part of the field. A name is drawn as it is, also with tabs,
// after which a row has no room. A value is drawn in JSON, which has no tabs.
func (f drawnField) mayLack() bool {
	return !plainName.MatchString(f.name) || strings.ContainsFunc(f.text, func(r rune) bool { return unicode.IsControl(r) || terminal.RuneWidth(r) == 0 })
}

// drawsWhole reports whether the dialog of a server's tool draws all of such an input.
func drawsWhole(input json.RawMessage) bool {
	fields, ok := drawnInput(input)
	return ok && !slices.ContainsFunc(fields, drawnField.mayLack)
}

// mayServe reports whether the dialog may be about such a call of a server's tool, and lack a part of it: it has the start of a field
// that has no room. Without the call's end it names no tool.
func mayServe(d *agent.Dialog, input json.RawMessage) bool {
	if d.Type != agent.PromptPermission || d.Tool != "" && !strings.HasPrefix(d.Tool, "mcp__") {
		return false
	}
	fields, ok := drawnInput(input)
	rows := plainLetters(strings.Join(rowsOf(d.Rows), ""))
	return !ok || slices.ContainsFunc(fields, func(f drawnField) bool {
		start := f.text
		if at := strings.IndexFunc(start, unicode.IsControl); at >= 0 {
			start = start[:at]
		}
		return f.mayLack() && strings.Contains(rows, plainLetters(start))
	})
}

// mcp compares the call with the tool and its input. If two rows could be the call's last, the
// match isn't sure, because a field's name can look like a call's end.
func (r *drawnRows) mcp(tool string, input json.RawMessage) agent.Match {
	server, name, _ := strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	call, ok := called(name, input)
	if !ok || r.dashes > 0 {
		return agent.PartMatch
	}
	rows, ok := texts(r.above, 3)
	if !ok || len(rows) == 0 {
		return agent.NoMatch
	}
	last, ends := 0, 0
	for i, row := range rows {
		if strings.HasSuffix(strings.TrimSpace(row), "(MCP)") {
			last, ends = i, ends+1
		}
	}
	if ends != 1 {
		return agent.PartMatch
	}
	t := r.text(rows[:last+1], besideIndented)
	t.Ends = drawn.AllBroken(t.Rows)
	return max(t.Of(server+" - "+call+" (MCP)"), agent.PartMatch)
}
