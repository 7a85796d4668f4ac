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

// titleTool heads the permission for a server's tool. Below another title such a call is words: of a
// file's name, or of a skill.
const titleTool = "Tool use"

// A permission for a server's tool begins with the call, on one line that is broken
// into rows: "server - tool (MCP)", or with what it is called with "server - tool(name:
// value, name: value) (MCP)", each value in JSON. Below it is the tool's description.

// mcpCall is such a line: the server and the tool.
var mcpCall = pattern.New(`(?s)^([^\n(]+?) - ([\w.-]+)(?:\(.*\))?\s\(MCP\)`)

// mcpTool is the tool's name as the agent tells it; empty when the text begins with
// no such call.
func mcpTool(text string) string {
	if m := mcpCall.FindStringSubmatch(text); m != nil {
		return "mcp__" + unnamed.ReplaceAllString(m[1], "_") + "__" + unnamed.ReplaceAllString(m[2], "_")
	}
	return ""
}

// unnamed is what tools' names have an underline for.
var unnamed = pattern.New(`[^A-Za-z0-9_-]`)

// plainName is a field's name that looks like nothing else in a call.
var plainName = pattern.New(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// called is how a call with that input is drawn; false when that was not measured.
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

// mcp compares the call with the tool and its input. Where two rows may be the call's last it is not
// known where it ends: a field's name can look like that.
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
