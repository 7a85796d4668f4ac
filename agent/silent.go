package agent

// Silent implements Driver without Name. It knows nothing: no source reports a fact, no dialog
// is known, and no source may change the state. A driver embeds it and overrides the methods
// that its agent supports. Its zero value is ready.
type Silent struct{}

// Hook knows no event.
func (Silent) Hook([]byte) ([]Fact, error) { return nil, nil }

// Registry knows no live state file.
func (Silent) Registry(string, []byte) ([]Fact, error) { return nil, nil }

// Title knows no title.
func (Silent) Title(string) []Fact { return nil }

// OSC knows no sequence.
func (Silent) OSC(int, string) []Fact { return nil }

// Log knows no session log.
func (Silent) Log([]byte) ([]Fact, error) { return nil, nil }

// Stream knows no structured output.
func (Silent) Stream([]byte) ([]Fact, error) { return nil, nil }

// Screen finds neither a dialog nor a composer.
func (Silent) Screen(*View) *Reading { return &Reading{} }

// FromDialog is a prompt of the dialog's type that only keys can answer.
func (Silent) FromDialog(d *Dialog) *Request {
	return &Request{Type: d.Type, Modal: true, Channel: ChannelKeys, Options: []string{}}
}

// Match knows no dialog, so no dialog matches a prompt.
func (Silent) Match(*Dialog, *Request) Match { return NoMatch }

// Fill knows no dialog.
func (Silent) Fill(*Request, *Dialog) {}

// Waiting is a question without text: a live state file may report only that there is one.
func (Silent) Waiting(*Fact) *Request {
	return &Request{Type: PromptQuestion, Modal: true, Channel: ChannelKeys, Options: []string{}}
}

// Table names no source for any change of state.
func (Silent) Table() Table { return Table{} }
