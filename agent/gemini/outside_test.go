package gemini_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// Calls of a server's tool and of a found one: hidden, the same without the characters that aren't drawn, and another one.
const (
	hiddenCall = `{"message":"delete ` + "\u200b\u3164\u2060" + `/","z` + "\u200b" + `z":1}`
	plainCall  = `{"message":"delete /","zz":1}`
	otherCall  = `{"message":"keep /"}`
	shellCall  = `"tool_name":"run_shell_command","tool_input":{"command":"ls","dir_path":"sub"}`
	readCall   = `"tool_name":"read_file","tool_input":{"file_path":"a.txt"}`
)

// hiddenLine is in the text of the hidden call's prompt.
var hiddenLine = "input: " + strconv.QuoteToASCII(hiddenCall)

func calls(tool, input string) string {
	return fmt.Sprintf(`"tool_name":%q,"tool_input":%s`, tool, input)
}

// asksOutside is the report of the dialog of a server's or found tool.
func (s *story) asksOutside(tool, input string) *story {
	details := `{"type":"mcp","title":"Confirm MCP Tool Execution","serverName":"lab","toolName":"ask","toolDisplayName":"ask (lab MCP Server)"}`
	if tool == foundTool {
		details = fmt.Sprintf(`{"type":"info","title":"Confirm: %s","prompt":%s}`, tool, strconv.Quote(input))
	}
	return s.hook("Notification", `"notification_type":"ToolPermission","details":`+details)
}

const (
	serverTool = "mcp_lab_ask"
	foundTool  = "discovered_tool_found"
)

func outside(tool, drawn string) []string {
	options := []string{"", "● 1. Allow once", "  2. Allow tool for this session", "  3. No, suggest changes (esc)"}
	if tool == foundTool {
		return box(append([]string{"Action Required", "", "?  " + tool + " " + drawn, "", drawn, "", "Do you want to proceed?"}, options...)...)
	}
	return box(append([]string{"Action Required", "", "?  ask (lab MCP Server) " + drawn, "", "MCP Server: lab", "Tool: ask", "", "MCP Tool Details:",
		"(press Ctrl+O to expand MCP tool details)", `Allow execution of MCP tool "ask" from server "lab"?`}, options...)...)
}

// TestOutsideToolBesideOthers: the prompt of a server's or found tool has the characters of its own call that aren't drawn, whatever other
// calls the step has. Calls that differ only in such characters are all named.
func TestOutsideToolBesideOthers(t *testing.T) {
	const may = "\n\nThe dialog may be that of a call "
	for _, tool := range []string{serverTool, foundTool} {
		hidden, plain, other := calls(tool, hiddenCall), calls(tool, plainCall), calls(tool, otherCall)
		for name, c := range map[string]struct {
			calls []string
			asked string
			drawn string
			want  string
		}{
			"alone":                       {[]string{hidden}, hiddenCall, plainCall, hiddenLine},
			"before a call without one":   {[]string{hidden, readCall}, hiddenCall, plainCall, hiddenLine},
			"before a command":            {[]string{hidden, shellCall}, hiddenCall, plainCall, hiddenLine},
			"after a command":             {[]string{shellCall, hidden}, hiddenCall, plainCall, hiddenLine},
			"before another input":        {[]string{hidden, other}, hiddenCall, plainCall, hiddenLine},
			"after another input":         {[]string{other, hidden}, hiddenCall, plainCall, hiddenLine},
			"the other one":               {[]string{hidden, other}, otherCall, otherCall, ""},
			"the other one, before":       {[]string{other, hidden}, otherCall, otherCall, ""},
			"drawn like another":          {[]string{hidden, plain}, plainCall, plainCall, may},
			"drawn like another, before":  {[]string{plain, hidden}, hiddenCall, plainCall, may},
			"without hidden characters":   {[]string{other, shellCall}, otherCall, otherCall, ""},
			"no call of it was reported":  {[]string{readCall}, plainCall, plainCall, "none"},
			"a call of another one alone": {[]string{calls("mcp_lab_wipe", otherCall)}, plainCall, plainCall, "none"},
		} {
			for _, late := range []bool{false, true} {
				s := tell(t)
				s.begin(1000).at(1100)
				for _, call := range c.calls {
					s.hook("BeforeTool", call)
				}
				if late {
					s.screen(outside(tool, c.drawn)...).at(1500)
				}
				s.at(1600).asksOutside(tool, c.asked).screen(outside(tool, c.drawn)...).at(5500)
				if c.want == "none" {
					s.unanswerable(name)
					continue
				}
				p := s.fold.Status().Request
				if p == nil {
					t.Errorf("%s %s: it asks nothing", tool, name)
					continue
				}
				own := text(p.Text)
				if strings.HasPrefix(own, "{") { // a found tool's
					own = strings.TrimPrefix(own, c.drawn)
				}
				good := own == c.want
				if c.want == may {
					good = strings.Contains(own, hiddenLine)
				} else if c.want == hiddenLine {
					good = strings.HasSuffix(own, hiddenLine)
				}
				if !good || !s.keyed(p.ID) {
					t.Errorf("%s %s, late %v: keyed %v, it asks %+v\n%s", tool, name, late, s.keyed(p.ID), p, own)
				}
			}
		}
	}
}

// TestNamesOfServersTools: Gemini makes a tool's name of its server's and its own.
func TestNamesOfServersTools(t *testing.T) {
	long := strings.Repeat("a", 40)
	for _, c := range []struct{ server, tool, called string }{
		{"lab", "ask", "mcp_lab_ask"}, {"mcp_lab", "ask", "mcp_lab_ask"}, {"my lab", "a/b\u00fc\U0001f600", "mcp_my_lab_a_b___"}, {"l.a-b:c", "ask", "mcp_l.a-b:c_ask"},
		{long, long, "mcp_" + long[:26] + "..." + long[:30]},
	} {
		s := tell(t)
		s.begin(1000).at(1100).hook("BeforeTool", calls(c.called, plainCall)).hook("BeforeTool", shellCall).at(1600)
		s.hook("Notification", fmt.Sprintf(`"notification_type":"ToolPermission","details":{"type":"mcp","serverName":%q,"toolName":%q}`, c.server, c.tool))
		if p := s.fold.Status().Request; p == nil || text(p.Tool) != c.called || string(p.Raw) != plainCall {
			t.Errorf("%s of %s: it asks %+v", c.tool, c.server, p)
		}
	}
}
