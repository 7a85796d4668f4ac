package sessions

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/agent"
)

// TestCheckpointOfTheVersionBefore: that has what the parts save among its own fields. A hook
// that waited at a turn's end waits on, an answer on its way is followed on, and no transcript
// gets a second event.
func TestCheckpointOfTheVersionBefore(t *testing.T) {
	s := open(t).sh("one", "cat")
	const line = `{"version":1,"detection":{},"gate":{"turn":"t1","blocks":2,"hook":7},"beginnings":{"9":{"source":"clear"}},"saved":3,` +
		`"own":"the last message","answers":[{"prompt":"p-1","verb":"respond","outcome":"accepted"}],"groom":{"tries":[{"prompt":"p-0","given":1}]},` +
		`"state":"idle","since":"2026-01-02T03:04:05Z","state_seq":4,"tier":3,"cause":"log:end","said":{"text":"bye","time":"2026-01-02T03:04:05Z"},` +
		`"log_told":{"source":"log","file":"f","renewed":1,"offset":9},"stream_told":{"source":"stream","renewed":0,"offset":8}}`
	from := checkpoint{Detection: json.RawMessage("{}"), line: []byte(line)}
	saves := func(from checkpoint) string {
		got, err := ask(t.Context(), s, func(c *core) (string, error) {
			c.restoreParts(from)
			parts, own := c.saveParts()
			data, err := json.Marshal(parts)
			return string(data) + string(own), err
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := saves(from)
	for _, want := range []string{`"blocks":2,"hook":7`, `"9":{"source":"clear"`, `"saved":3`, `"own":"the last message"`, `"prompt":"p-1"`, `"prompt":"p-0","given":1`,
		`"state":"idle","since":"2026-01-02T03:04:05`, `"state_seq":4,"tier":3,"cause":"log:end"`, `"text":"bye"`, `"file":"f","renewed":1,"offset":9`, `"stream","renewed":0,"offset":8`} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is not in %s", want, first)
		}
	}
	var parts map[string]json.RawMessage
	decoder := json.NewDecoder(strings.NewReader(first))
	if err := decoder.Decode(&parts); err != nil {
		t.Fatal(err)
	}
	own := []byte(first[decoder.InputOffset():])
	if second := saves(checkpoint{Detection: json.RawMessage("{}"), Parts: parts, line: own}); second != first {
		t.Errorf("%s was saved again as %s", first, second)
	}
	if ended := saves(checkpoint{Parts: parts, line: []byte("{}")}); strings.Contains(ended, `"blocks":2`) {
		t.Errorf("what was known of a program that ended is kept: %s", ended)
	}
}

// TestPartThatCannotBeRestored: a part that cannot read what was saved of it begins anew with
// the program that is still followed.
func TestPartThatCannotBeRestored(t *testing.T) {
	_, s := newAsker(t, "asks 1: a")
	broken := map[string]json.RawMessage{}
	if err := s.do(t.Context(), func(c *core) {
		for _, part := range c.parts {
			broken[part.name] = json.RawMessage(`"broken"`)
			part.End() // as a server begins that has yet to restore it
		}
		c.restoreParts(checkpoint{Detection: json.RawMessage("{}"), Parts: broken})
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Respond(t.Context(), claim("c1"), "", agent.Answer{Kind: agent.Accept}); err != nil || !r.Confirmed {
		t.Errorf("%+v, %v", r, err)
	}
}
