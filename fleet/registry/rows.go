package registry

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"berth/api"
)

// UnmarshalJSON reads each row by itself: one that can't be read, or may not be shown, keeps none of the others out.
func (r *Rows) UnmarshalJSON(data []byte) error {
	var read struct {
		Number   uint64            `json:"number"`
		Sessions []json.RawMessage `json:"sessions"`
		Pending  []string          `json:"pending"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	*r = Rows{Number: read.Number, Pending: read.Pending[:min(len(read.Pending), MostRows)]}
	for _, raw := range read.Sessions[:min(len(read.Sessions), MostRows)] {
		if s, ok := rowOf(raw); ok {
			r.Sessions = append(r.Sessions, s)
		}
	}
	return nil
}

// rowOf reads a row. Its prompt stays as the host wrote it, because the prompt's digest is of that: read into Go values,
// large numbers would become others, and a form's fields would lose their order.
func rowOf(raw json.RawMessage) (s api.Session, ok bool) {
	var row struct {
		api.Session
		Prompt json.RawMessage `json:"prompt"`
	}
	if err := json.Unmarshal(raw, &row); err != nil {
		return s, false
	}
	s = row.Session
	if prompt := bytes.ToValidUTF8(row.Prompt, []byte("\uFFFD")); len(prompt) > 0 && string(prompt) != "null" {
		s.Prompt = json.RawMessage(prompt)
	}
	return s, sound(s)
}

// sound says whether a row may be shown. People and scripts copy its name and ids into command lines, so a host mustn't
// choose words there that a shell or a verb reads otherwise.
func sound(s api.Session) bool {
	if api.CheckName(s.Session) != nil || !isID(s.ID) || s.Parent != nil && !isID(*s.Parent) {
		return false
	}
	if slices.ContainsFunc(s.Tags, func(t string) bool { return api.CheckTag(t) != nil }) {
		return false
	}
	prompt, ok := s.Prompt.(json.RawMessage)
	return s.Prompt == nil || ok && soundPrompt(prompt)
}

// soundPrompt says whether the words of a prompt are. A name that it has twice is read in different ways by different
// readers, so no name may be there twice.
func soundPrompt(prompt json.RawMessage) bool {
	d := json.NewDecoder(bytes.NewReader(prompt))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return false
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		name, _ := token.(string)
		var value json.RawMessage
		if err != nil || seen[name] || d.Decode(&value) != nil {
			return false
		}
		seen[name] = true
		if slices.ContainsFunc(wordFields, func(field string) bool { return strings.EqualFold(name, field) }) {
			var text *string
			if json.Unmarshal(value, &text) != nil || text == nil || !isID(*text) {
				return false
			}
		}
	}
	return true
}

// wordFields are the fields of a prompt that are copied into command lines. JSON is read into a Request without regard
// to letter case, so they count in any.
var wordFields = []string{"id", "prompt_id", "digest"}

// isID says whether a text has the form of an id or a hash.
func isID(text string) bool {
	const most = 128
	for i, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || i > 0 && strings.ContainsRune("._:-", r)) {
			return false
		}
	}
	return text != "" && len(text) <= most
}
