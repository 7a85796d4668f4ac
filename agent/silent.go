package agent

// Silent is a Driver but for its Name that knows nothing: no source says anything, no
// dialog is known, and no source may move the state. A driver embeds it and has methods
// for what its agent does say. Its zero value is ready.
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

// Screen sees neither dialog nor composer.
func (Silent) Screen(*View) *Reading { return &Reading{} }

// FromDialog is a prompt of the dialog's type that only keys answer.
func (Silent) FromDialog(d *Dialog) *Request {
	return &Request{Type: d.Type, Modal: true, Channel: ChannelKeys, Options: []string{}}
}

// Match knows no dialog: none shows a prompt.
func (Silent) Match(*Dialog, *Request) Match { return NoMatch }

// Fill knows no dialog.
func (Silent) Fill(*Request, *Dialog) {}

// Waiting is a question without words: a live state file may say that there is one.
func (Silent) Waiting(*Fact) *Request {
	return &Request{Type: PromptQuestion, Modal: true, Channel: ChannelKeys, Options: []string{}}
}

// Table has no witness for any move.
func (Silent) Table() Table { return Table{} }
