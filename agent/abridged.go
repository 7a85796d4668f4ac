package agent

import (
	"fmt"
	"strings"
)

// abridged begins the text of a prompt that is without its long parts.
const abridged = "Too large for this list. "

// Abridged is the prompt without what may be long, for a list that has no room for it. It says so, and it has the digest
// of all that is asked, so a reader of the list can't take it for the whole prompt.
func (p *Request) Abridged(bytes int) *Request {
	text := fmt.Sprintf(abridged+"It has %d bytes: read it with the verb prompt and --full, or attach.", bytes)
	return &Request{
		ID: p.ID, Digest: p.Digest, Type: p.Type, Subtype: p.Subtype, Agent: brief(p.Agent), Tool: brief(p.Tool), Title: brief(p.Title), Text: &text,
		InputTruncated: true, InputBytes: bytes, Options: []string{}, OptionsFallback: p.OptionsFallback, Questions: []Question{}, QuestionCurrent: p.QuestionCurrent,
		Ready: p.Ready, OnScreen: p.OnScreen, Modal: p.Modal, Channel: p.Channel, Contested: p.Contested, Since: p.Since, Expires: p.Expires,
	}
}

// IsAbridged reports whether the prompt is without its long parts.
func (p *Request) IsAbridged() bool {
	return p.InputTruncated && p.Text != nil && strings.HasPrefix(*p.Text, abridged)
}

// Brief is a text of at most InputLimit characters.
func Brief(text string) string {
	short := []rune(text)
	return string(short[:min(len(short), InputLimit)])
}

func brief(text *string) *string {
	if text == nil {
		return nil
	}
	return Pointer(Brief(*text))
}
