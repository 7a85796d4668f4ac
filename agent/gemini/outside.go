package gemini

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"

	"berth/agent"
	"berth/agent/drawn"
)

// Tools of servers and found tools have any name. A notification names them, and their dialogs draw their input as JSON, without the
// characters that aren't drawn.

// How the names of these tools begin.
const (
	ofServer = "mcp_"
	ofFound  = "discovered_tool_"
)

// Unnamed reports whether Berth reads no name of this tool from its dialog.
func (Driver) Unnamed(tool string) bool {
	return strings.HasPrefix(tool, ofServer) || strings.HasPrefix(tool, ofFound) || tool == toolFetch
}

// titleOther starts the title of a notification about a tool that has no dialog of its own.
const titleOther = "Confirm: "

// outside is the name of the server's or found tool that a notification is about; empty for another one.
func (d *details) outside() string {
	if d.Kind == kindServer && d.Server != "" && d.ToolName != "" {
		return serverTool(d.Server + "_" + d.ToolName)
	}
	if name, ok := strings.CutPrefix(d.Title, titleOther); ok && strings.HasPrefix(name, ofFound) {
		return name
	}
	return ""
}

// serverTool is the name that Gemini gives a server's tool.
func serverTool(name string) string {
	if !strings.HasPrefix(name, ofServer) {
		name = ofServer + name
	}
	var b strings.Builder
	for _, r := range name {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.:", r)) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Repeat("_", max(1, utf16.RuneLen(r))))
	}
	if name = b.String(); len(name) > 63 {
		name = name[:30] + "..." + name[len(name)-30:]
	}
	return name
}

// sameInput reports whether two texts are the same JSON.
func sameInput(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// DrawsElse reports whether the dialog draws another input than that of the call, or is of another kind of tool. It compares what any
// terminal draws alike.
func (d Driver) DrawsElse(dialog *agent.Dialog, call *agent.Request) bool {
	tool := agent.Value(call.Tool)
	if !d.Unnamed(tool) || dialog.Cut {
		return false
	}
	if tool == toolFetch {
		return drawsElseToFetch(dialog, call.Raw)
	}
	head := ""
	for _, row := range dialog.Lines {
		if m := toolRow.FindStringSubmatch(strings.TrimSpace(row)); m != nil {
			head = strings.TrimSpace(placeOf.ReplaceAllString(m[1], ""))
			break
		}
	}
	b := box{rows: dialog.Lines}
	server := b.has("MCP Tool Details:")
	if server != strings.HasPrefix(tool, ofServer) {
		return true
	}
	name, _, _ := strings.Cut(head, " ")
	if name, _ = strings.CutSuffix(name, "…"); !server && !strings.HasPrefix(tool, drawn.Letters(name)) {
		return true
	}
	at := strings.Index(head, "{")
	if at < 0 {
		return false
	}
	drawn, is := plain(drawn.Letters(head[at:]))
	raw, reads := plain(string(call.Raw))
	return is && reads && drawn != raw
}

// plain is JSON with no more of its texts than any terminal draws.
func plain(text string) (_ string, ok bool) {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "", false
	}
	return string(agent.Encoded(solidIn(v))), true
}

func solidIn(v any) any {
	switch v := v.(type) {
	case string:
		return drawn.Letters(v)
	case []any:
		for i := range v {
			v[i] = solidIn(v[i])
		}
	case map[string]any:
		all := make([]any, 0, len(v)) // two names may be drawn alike
		for name, value := range v {
			all = append(all, string(agent.Encoded([]any{drawn.Letters(name), solidIn(value)})))
		}
		slices.SortFunc(all, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		return all
	}
	return v
}
