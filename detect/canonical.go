package detect

import (
	"bytes"
	"encoding/json"

	"berth/agent"
)

// canonical is JSON with its keys in order and without blanks.
func canonical(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	if agent.Repeats(raw) {
		return string(raw) // parsers disagree on which of two equal names wins
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(raw)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(out)
}
