package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
)

// TestMCPCall: a server's tool is compared with all that it is called with, at every
// width that the call is broken at.
func TestMCPCall(t *testing.T) {
	const input = `{"message":"Please fill this in (MCP)","schema":{"properties":{"name":{"description":"What it is called","type":"string"}},"required":["name"]}}`
	const call = `lab - ask(message: "Please fill this in (MCP)", schema: {"properties":{"name":{"description":"What it is called","type":"string"}},"required":["name"]}) (MCP)`
	for _, cols := range []int{100, 120, 200} {
		d := draw(cols, 40, strings.Repeat("─", cols)+"\n Tool use\n\n"+broken(call, cols-6, "   ")+"   Asks the user.\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. Yes, and don't ask again for lab - ask commands in /tmp\n   3. No\n\n Esc to cancel · Tab to amend\n").Dialog
		if d == nil || d.Type != agent.PromptPermission || d.Tool != "mcp__lab__ask" {
			t.Fatalf("at %d columns: %+v", cols, d)
		}
		same := agent.AlikeMatch // how many blanks a row's end stands for is not seen
		if cols == 200 {
			same = agent.WholeMatch
		}
		for told, want := range map[string]agent.Match{
			input: same,
			strings.Replace(input, "called", "killed", 1):                     agent.PartMatch,
			strings.Replace(input, `"required":["name"]`, `"required":[]`, 1): agent.PartMatch,
			strings.Replace(input, `"schema"`, `"also":1,"schema"`, 1):        agent.PartMatch,
			strings.Replace(input, `{"message"`, `{"Message"`, 1):             agent.PartMatch,
			`{"message: \"Please fill this in (MCP)\", schema":{}}`:           agent.PartMatch,
			`{"message":"Please fill this in"}`:                               agent.PartMatch,
			`{}`:                                                              agent.PartMatch,
		} {
			p := &agent.Request{Type: agent.PromptPermission, Tool: agent.Pointer("mcp__lab__ask"), Raw: []byte(told)}
			if got := (claude.Driver{}).Match(d, p); got != want {
				t.Errorf("at %d columns, reported %s: %v, want %v", cols, told, got, want)
			}
		}
	}
	other := draw(80, 24, strings.Repeat("─", 80)+"\n Tool use\n\n   claude.ai Mail - send(to: \"a\") (MCP)\n   Sends.\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel\n").Dialog
	if other == nil || other.Tool != "mcp__claude_ai_Mail__send" {
		t.Errorf("of a server whose name has other characters: %+v", other)
	}
}

// broken breaks a line between words, as the agent does.
func broken(line string, width int, indent string) string {
	var b strings.Builder
	row := ""
	for word := range strings.SplitSeq(line, " ") {
		if row != "" && len(row)+1+len(word) > width {
			b.WriteString(indent + row + "\n")
			row = ""
		}
		row = strings.TrimPrefix(row+" "+word, " ")
	}
	return b.String() + indent + row + "\n"
}

// TestWordsOfACall: text from the model between a tool's parentheses names no server.
func TestWordsOfACall(t *testing.T) {
	for row, want := range map[string]string{
		`lab - ask(query: "x") (MCP)`:             "mcp__lab__ask",
		`Web Search("lab - ask(query: 1) (MCP)")`: "",
	} {
		d := draw(120, 40, strings.Repeat("─", 120)+"\n Tool use\n\n   "+row+"\n   It does something.\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n").Dialog
		if d == nil || d.Type != agent.PromptPermission || d.Tool != want {
			t.Errorf("%s: %+v", row, d)
		}
	}
}

// TestForgedCall: words below another title name no server's tool. When a call could end on either
// of two rows, Berth can't know which of them the hook reported.
func TestForgedCall(t *testing.T) {
	foot := "\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend\n"
	for name, c := range map[string]struct {
		drawn, told string
		keyed       bool
	}{
		"a call":         {" Tool use\n\n   lab - list(a: 1) (MCP)\n   Lists.", `{"a":1}`, true},
		"a skill":        {" Use skill \"wipe\"?\n\n   lab - list(a: 1) (MCP)\n   Lists.", `{"a":1}`, false},
		"a field's name": {" Tool use\n\n   lab - list(a: 1) (MCP)\n   all: \"wipe\") (MCP)\n   Lists.", `{"a":1}`, false},
		"its arguments":  {" Tool use\n\n   lab - list(a: 1) (MCP)\n   Lists.", `{"a":2}`, false},
	} {
		s := newForgery(t)
		r := draw(80, 40, strings.Repeat("─", 80)+"\n"+c.drawn+foot)
		if r.Dialog == nil || r.Dialog.Type != agent.PromptPermission {
			t.Fatalf("%s: %+v", name, r.Dialog)
		}
		s.asks("mcp__lab__list", c.told, "")
		id := s.f.Status().Request.ID
		s.show(r)
		if keyed := s.keyed(id, r.Dialog); keyed != c.keyed {
			t.Errorf("%s: a key answers the reported prompt: %v", name, keyed)
		}
	}
}

// TestNamesWithoutRoom: 2.1.197 draws the names of a call's fields as they are, and nothing that has no room after tabs. The prompt
// says what the session log has of such a call, also once the call was reported as over.
func TestNamesWithoutRoom(t *testing.T) {
	tabs := strings.Repeat(`\t`, 40)
	asks := func(row string) *agent.Reading {
		return draw(80, 40, strings.Join([]string{strings.Repeat("─", 80), " Tool use", "", "   " + row, "", "", "   It lists", "",
			" Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"}, "\n"))
	}
	for name, c := range map[string]struct {
		row, input string
	}{
		"a part":            {"lab - wipe(a", `{"a` + tabs + `":1,"path":"/hidden"}`},
		"a whole one":       {"lab - wipe(a: 1) (MCP)", `{"a: 1) (MCP)` + tabs + `":1,"path":"/hidden"}`},
		"another tool's":    {"lab - wipe(a: 1) (MCP)", `{"a: 1) (MCP)` + tabs + `":1,"a":"/hidden","A":1}`},
		"in two cases":      {"lab - wipe(a", `{"a` + tabs + `":1,"path":"/hidden","Path":1}`},
		"before any letter": {"lab - wipe(", `{"` + tabs + `a":1,"path":"/hidden"}`},
		"characters":        {`lab - wipe(path: "/") (MCP)`, `{"path":"/` + "\U000e0061\U000e0062" + `"}`},
	} {
		for _, when := range []string{"before", "after", "over"} {
			s, r := newLogged(t), asks(c.row)
			if when == "after" {
				s.show(r)
			}
			if when == "over" {
				s.ran(1, "mcp__lab__wipe", c.input)
			} else {
				s.logsCalls([]string{"mcp__lab__wipe", c.input})
			}
			was := s.f.Status().Request
			s.show(r)
			s.pass(time.Second)
			p := s.f.Status().Request
			if p == nil || !s.keyed(p.ID, r.Dialog) || !strings.Contains(text(p.Text), "tool: mcp__lab__wipe\ninput: {") {
				t.Errorf("%s, logged %s: %+v", name, when, p)
			}
			if when == "after" && was != nil && !strings.Contains(text(was.Text), "input: {") && s.keyed(was.ID, r.Dialog) {
				t.Errorf("%s: a key answers the prompt from before the call was logged", name)
			}
		}
	}
}

// TestCharactersOfCalls: many calls with characters that have no width leave the dialogs of other calls answerable.
func TestCharactersOfCalls(t *testing.T) {
	s, r := newLogged(t), servedCall("list")
	for i := range 12 {
		s.ran(i, "mcp__lab__list", fmt.Sprintf(`{"message":"done \u2764\ufe0f","n":%d}`, i))
	}
	s.logsCalls([]string{"mcp__lab__list", `{"a":1}`})
	s.show(r)
	s.pass(time.Second)
	if p := s.f.Status().Request; p == nil || !s.keyed(p.ID, r.Dialog) || p.Text != nil {
		t.Errorf("%+v", p)
	}
}
