package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
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
	var b bytes.Buffer
	if json.Compact(&b, input) != nil {
		return "", false
	}
	d := json.NewDecoder(&b)
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return "", false
	}
	var fields []string
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		field, ok := key.(string)
		if err = errors.Join(err, d.Decode(&value)); err != nil || !ok || !plainName.MatchString(field) {
			return "", false
		}
		fields = append(fields, field+": "+string(value))
	}
	if _, err := d.Token(); err != nil {
		return "", false
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", false
	}
	if len(fields) == 0 {
		return name, true
	}
	return name + "(" + strings.Join(fields, ", ") + ")", true
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
