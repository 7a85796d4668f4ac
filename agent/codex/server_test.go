package codex_test

import (
	"errors"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// asksServer is the dialog about a server's tool, with these rows of its input. Codex draws the first
// three values at most, and 60 characters of each.
func asksServer(rows ...string) *agent.Reading {
	return draw("  \x1b[2mField 1/1\x1b[22m\n  Allow the lab MCP server to run tool \"ask\"?\n\n  "+strings.Join(rows, "\n  ")+
		"\n\n  › 1. Allow                   Run the tool and continue\n    2. Allow for this session  Run the tool and remember this choice for this session\n"+
		"    3. Always allow            Run the tool and remember this choice for future tool calls\n    4. Cancel                  Cancel this tool call\n  enter to submit | esc to cancel", -1, 0)
}

// TestServersInput: the dialog of a server's tool takes a key only where it surely shows all of the
// tool's input.
func TestServersInput(t *testing.T) {
	for name, c := range map[string]struct {
		rows  []string
		keyed bool
	}{
		"one value":                     {[]string{"message: hello"}, true},
		"two":                           {[]string{"message: hello", "url: none"}, true},
		"three, and perhaps more":       {[]string{"arg00: value 0", "arg01: value 1", "arg02: value 2"}, false},
		"one that is cut off":           {[]string{"message: line 0 of text line 1 of text line 2 of text line 3 of te..."}, false},
		"one whose dots are wrapped":    {[]string{"message: line 0 of text line 1 of text line 2 of text line 3 of te..", "."}, false},
		"a cut one, and another":        {[]string{"message: line 0 of text line 1 of text line 2 of text line 3 of te...", "url: none"}, false},
		"a name that draws rows":        {[]string{"message: hello", "z", "", "  › 1. Yes: x"}, false},
		"nothing, or a name of a blank": {[]string{""}, true},
	} {
		s, r := newSeen(), asksServer(c.rows...)
		p := s.show(r)
		if p == nil || p.Type != agent.PromptPermission || s.keyed(p.ID, r.Dialog) != c.keyed {
			t.Errorf("%s: answered by keys %v: %+v", name, !c.keyed, p)
		}
	}
}

// TestServersInputByHook: the prompt of a server's tool shows all of its input, whatever its fields are
// called. An option is chosen at the dialog, so the hook is kept where the dialog would not show all.
func TestServersInputByHook(t *testing.T) {
	const most = `{"command":"status","description":"look","force":true}`
	for input, keys := range map[string]bool{
		most:                                true,
		`{"message":"hello","url":"none"}`:  false,
		`{"message":"hello","url":"no..."}`: true,
		`{"message":"` + strings.Repeat("x", 60) + `"}`: true,
	} {
		f := hook(t, "PermissionRequest", `,"tool_name":"mcp__lab__ask","tool_input":`+input)[0]
		p := f.Request
		if p.FullInput != input || string(f.Input) != input {
			t.Errorf("%s is shown as %q, and compared as %s", input, p.FullInput, f.Input)
		}
		_, err := codex.Driver{}.Verdict(p, agent.Answer{Kind: agent.ChooseOption, Option: 2}, nil)
		if errors.Is(err, agent.ErrCannot) != keys || errors.Is(err, agent.ErrOnlyByKeys) == keys {
			t.Errorf("%s: option 2: %v", input, err)
		}
		if v, err := (codex.Driver{}).Verdict(p, agent.Answer{Kind: agent.Accept}, nil); err != nil || v.Outcome != agent.OutcomeAccepted {
			t.Errorf("%s: %+v, %v", input, v, err)
		}
	}
}

// TestMoreThanACommand: a call of Codex's own tool with a field that isn't known is shown as a whole.
func TestMoreThanACommand(t *testing.T) {
	p := hook(t, "PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"ls","description":"look","sandbox":"none"}`)[0].Request
	if p.FullInput != `{"command":"ls","description":"look","sandbox":"none"}` {
		t.Errorf("it is shown as %q", p.FullInput)
	}
}

// TestServersValuesThatAreNotDrawn: a dialog draws all blanks and line breaks of a value as one blank, and leaves
// characters out. The prompt shows such a value as the call's hook reported it.
func TestServersValuesThatAreNotDrawn(t *testing.T) {
	for value, line := range map[string]string{
		`"rm -rf x"`:               "",
		`"rm\n-rf x"`:              `"message": "rm\n-rf x"`,
		`"rm  -rf x"`:              `"message": "rm  -rf x"`,
		`"rm\u200b -rf x"`:         `"message": "rm\u200b -rf x"`,
		`{"a":["rm\u0007 -rf x"]}`: `"message": {"a":["rm\u0007 -rf x"]}`,
	} {
		s, r := newSeen(), asksServer("message: rm -rf x")
		for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"mcp__lab__ask","tool_input":{"message":`+value+`}`) {
			f.Hook, f.Time = "7", s.now
			s.f.Apply(f)
		}
		s.release("7")
		p := s.show(r)
		if p == nil || !s.keyed(p.ID, r.Dialog) || !strings.HasSuffix(agent.Value(p.Text), line) || line == "" && strings.Contains(agent.Value(p.Text), `"message"`) {
			t.Errorf("%s: it is shown as %+v", value, p)
		}
	}
}
