package gate

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestGate runs turns through the machine. Each step is one thing that happened, and for a turn's end the wanted
// result.
func TestGate(t *testing.T) {
	closed := Config{Mode: Text, Text: "go on", Cap: 2}
	for name, c := range map[string]struct {
		config Config
		steps  string
	}{
		"allow":                     {Config{}, "turn:a end:allow turn:b end:allow"},
		"allow by name":             {Config{Mode: Allow}, "turn:a end:allow"},
		"text blocks up to the cap": {closed, "turn:a end:block end:block end:cap"},
		"five by default":           {Config{Mode: Auto}, "turn:a end:block end:block end:block end:block end:block end:cap"},
		"a new turn counts anew":    {closed, "turn:a end:block end:block end:cap turn:b end:block end:block end:cap"},
		"complete lets go":          {closed, "turn:a end:block report:complete end:report"},
		"escalate lets go":          {closed, "turn:a report:escalate end:report"},
		"continue does not":         {closed, "turn:a report:continue end:block report:status end:block"},
		"a report is of its turn":   {closed, "turn:a report:complete end:report turn:b end:block"},
		"one before the turn":       {closed, "report:complete turn:a end:block"},
		"a turn reported twice":     {closed, "turn:a end:block turn:a end:block end:cap"},
		"a turn without a report":   {closed, "turn:a report:complete end:report end@b:block"},
		"open lets go once":         {closed, "turn:a open end:opened turn:b end:block"},
		"open beats the count":      {closed, "turn:a end:block open end:opened"},
		"turns without ids":         {closed, "turn: end:block end:block end:cap turn: end:block"},
		"the answer was not taken":  {closed, "turn:a end:gone end:block end:block end:cap"},
		"an answer of another hook": {closed, "turn:a end:block stray end:block end:cap"},
		"a setting changed amid":    {closed, "turn:a end:block allow end:allow close end:block end:cap"},
	} {
		t.Run(name, func(t *testing.T) { play(t, c.config, c.steps) })
	}
}

func play(t *testing.T, config Config, steps string) {
	t.Helper()
	var s State
	set := config
	for i, step := range strings.Fields(steps) {
		hook := uint64(i + 1)
		what, arg, _ := strings.Cut(step, ":")
		what, turn, _ := strings.Cut(what, "@")
		switch what {
		case "turn":
			s.Began(arg)
		case "report":
			s.Reported(Kind(arg))
		case "open":
			s.Opened()
		case "allow":
			set = Config{}
		case "close":
			set = config
		case "stray":
			s.Blocked(hook)
			if s.Over(hook) {
				t.Errorf("step %d: the stray hook counts as held back", i)
			}
		case "end":
			if turn == "" {
				turn = s.Turn
			}
			held, why := s.Ends(turn, hook, set)
			if again, _ := s.Holds(set); again != held {
				t.Errorf("step %d: asked again it says %v", i, again)
			}
			switch {
			case arg == "gone" && held: // the hook ended before the answer
			case held && arg == "block":
				s.Blocked(hook)
			case held || why != arg:
				t.Fatalf("step %d, %s: held %v, why %q", i, step, held, why)
			}
			if s.Over(hook) != held {
				t.Errorf("step %d: held %v, and not over", i, held)
			}
		}
		copied := kept(t, s)
		s = copied
	}
}

// TestTurnBeforeTheHookIsOver: a message starts a turn while the hook of the turn before still waits. The hook's end
// is not lost, because nothing else would end the hold.
func TestTurnBeforeTheHookIsOver(t *testing.T) {
	var s State
	c := Config{Mode: Auto}
	s.Began("a")
	if held, _ := s.Ends("a", 7, c); !held {
		t.Fatal("it was not held back")
	}
	s.Began("b")
	if held, _ := s.Holds(c); held {
		t.Error("the hook is still held back after its end")
	}
	s.Blocked(7)
	if s.Blocks != 0 || s.Why != "" {
		t.Errorf("the turn that began is %+v", s)
	}
	if !s.Over(7) || s.Over(7) {
		t.Error("the hook's end isn't reported exactly once")
	}
	if held, _ := s.Ends("b", 9, c); !held {
		t.Error("the next turn is not held back")
	}
	if s.Blocked(9); s.Blocks != 1 {
		t.Errorf("%d blocks", s.Blocks)
	}
}

// kept is the state after a restart of the server.
func kept(t *testing.T, s State) State {
	t.Helper()
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var out State
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		wrong  string
	}{
		"nothing":       {Config{}, ""},
		"auto":          {Config{Mode: Auto, Cap: 3}, ""},
		"text":          {Config{Mode: Text, Text: "x"}, ""},
		"no text":       {Config{Mode: Text, Text: " "}, "needs a text"},
		"stray text":    {Config{Mode: Auto, Text: "x"}, "belongs to the mode gate"},
		"unknown":       {Config{Mode: "shut"}, "no mode"},
		"long":          {Config{Mode: Text, Text: strings.Repeat("x", MostText+1)}, "at most"},
		"cap":           {Config{Mode: Auto, Cap: -1}, "the cap is"},
		"no schema":     {Config{Mode: Auto, Schema: json.RawMessage(`[1]`)}, "isn't a JSON Schema"},
		"bad schema":    {Config{Mode: Auto, Schema: json.RawMessage(`{"type":"string","pattern":"("}`)}, "schema"},
		"remote schema": {Config{Mode: Auto, Schema: json.RawMessage(`{"$ref":"http://127.0.0.1:1/x"}`)}, "cannot be used"},
		"good schema":   {Config{Mode: Auto, Schema: json.RawMessage(`{"type":"object","required":["pr"]}`)}, ""},
		"in circles":    {Config{Mode: Auto, Schema: json.RawMessage(`{"$ref":"#"}`)}, "leads back"},
	} {
		err := c.config.Check()
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}

func TestCheckReport(t *testing.T) {
	c := Config{Mode: Auto, Schema: json.RawMessage(`{"type":"object","required":["pr"],"properties":{"pr":{"type":"integer"}}}`)}
	for _, tt := range []struct {
		kind    Kind
		message string
		wrong   string
	}{
		{Complete, `{"pr":12}`, ""},
		{Complete, `{"pr":"12"}`, "does not fit"},
		{Complete, `{}`, "pr"},
		{Complete, `done`, "must be JSON"},
		{Escalate, `I may not push`, ""},
		{Continue, `still at it`, ""},
		{Status, strings.Repeat("x", MostText+1), "at most"},
	} {
		err := c.CheckReport(tt.kind, tt.message)
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s %.20s: %v, want %q", tt.kind, tt.message, err, tt.wrong)
		}
	}
	if err := (Config{}).CheckReport(Complete, "done"); err != nil {
		t.Error(err)
	}
}

func TestAnswer(t *testing.T) {
	if got := (Config{Mode: Text, Text: "the tests are red"}).Answer("berth"); got != "the tests are red" {
		t.Error(got)
	}
	got := Config{Mode: Auto, Schema: json.RawMessage(`{"type":"object"}`)}.Answer("/x/berth")
	for _, want := range []string{"/x/berth report complete", "/x/berth report escalate", "/x/berth report continue", `{"type":"object"}`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
