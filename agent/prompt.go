package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"berth/api"
)

// PromptType is the kind of question an agent has stopped at.
type PromptType string

// The types of prompts.
const (
	PromptPermission PromptType = "permission"
	PromptPlan       PromptType = "plan"
	PromptQuestion   PromptType = "question"
	PromptForm       PromptType = "form"
	PromptSetup      PromptType = "setup"
	PromptNotice     PromptType = "notice"
)

// Subtypes of prompts. SubtypeTrust is a permission's; the others are setup's.
const (
	SubtypeTrust         = "trust"
	SubtypeTheme         = "theme_picker"
	SubtypeLogin         = "login" // no one is signed in, and the agent shows no dialog about it
	SubtypeLoginMethod   = "login_method"
	SubtypeAPIKey        = "api_key"
	SubtypeSecurityNotes = "security_notes"
	SubtypeTerminalSetup = "terminal_setup"
	SubtypeTerminalDone  = "terminal_setup_done"
	SubtypeOAuthLogin    = "oauth_login"
	SubtypeLoginSuccess  = "login_success"
	SubtypeSettingsError = "settings_error"
	SubtypeBypass        = "bypass"
	SubtypeUpdate        = "update"
	SubtypeModelOffer    = "model_offer"
	SubtypeHookReview    = "hook_review"
	SubtypeTerminal      = "startup_terminal"
	SubtypeAuth          = "auth"
	SubtypeAutoMode      = "auto_mode"
	SubtypeAutoDefault   = "auto_mode_default"
)

// Channels are the ways for Berth to answer a prompt.
const (
	ChannelHook = "hook" // a hook of the agent waits for the answer
	ChannelKeys = "keys" // keys at the dialog
	ChannelNone = "none" // none: a person at the terminal has to answer
)

// InputLimit is how many characters of a tool's input a prompt shows.
const InputLimit = 200

// Request is a prompt: a question that the agent waits on.
type Request struct {
	ID              string          `json:"id"`
	Digest          string          `json:"digest"` // of all that it asks: see Sign
	Type            PromptType      `json:"type"`
	Subtype         *string         `json:"subtype"`
	Agent           *string         `json:"agent"` // type of the subagent that asks; null for the main agent
	Tool            *string         `json:"tool"`
	Title           *string         `json:"title"`
	Input           *string         `json:"input"`       // what the tool would do, at most InputLimit characters
	InputBytes      int             `json:"input_bytes"` // 0 with InputTruncated: the rest isn't known, see InPart
	InputTruncated  bool            `json:"input_truncated"`
	Text            *string         `json:"text"` // of a plan, a question or a notice; of a permission, its input's other fields, or the rest of its dialog's text
	URL             *string         `json:"url"`  // to be opened in a browser
	Options         []string        `json:"options"`
	OptionsFallback bool            `json:"options_fallback"` // the options weren't read from the screen; for a permission or a plan they aren't known yet
	Questions       []Question      `json:"questions"`
	QuestionCurrent int             `json:"question_current"` // len(Questions) on the review page
	Schema          json.RawMessage `json:"schema,omitempty"` // of a form
	Ready           bool            `json:"ready"`            // all of it is known: its options, and the questions of all pages
	OnScreen        bool            `json:"on_screen"`
	Modal           bool            `json:"modal"`
	Channel         string          `json:"channel"`
	Contested       bool            `json:"contested"` // the dialog on the screen may ask something else than the agent reported
	Since           api.Time        `json:"since"`
	Expires         *api.Time       `json:"expires"`

	// FullInput is Input without its limit. Lines are the dialog as it is drawn. Only a caller that
	// asks for full details gets them.
	FullInput string   `json:"-"`
	Lines     []string `json:"-"`
	// Raw is the tool's input as the agent reported it; empty when only the dialog showed the
	// prompt.
	Raw json.RawMessage `json:"-"`
	// Alike: only the dialog shows this prompt, and another prompt's dialog may look the same.
	Alike bool `json:"-"`
}

// Sign sets Digest, a hash of what a person reads before answering: the prompt's type, subagent,
// tool with its whole input, texts, questions and options. It covers the answers on the review
// page. It leaves out text that changes, or that a person types, while a login or a notice without
// options is open. If another prompt's dialog may look the same, it covers the id.
func (p *Request) Sign() {
	all := struct {
		Type                                          PromptType
		Subtype, Agent, Tool, Title, Input, Text, URL *string
		Raw, Schema                                   json.RawMessage
		Options                                       []string
		Questions                                     []Question
		ID                                            string `json:",omitempty"`
	}{
		p.Type, p.Subtype, p.Agent, p.Tool, p.Title, &p.FullInput, p.Text, p.URL, p.Raw, p.Schema, orNil(p.Options), nil, "",
	}
	for _, q := range p.Questions { // a list without entries and none are the same, because JSON's are never null
		q.Options, q.Descriptions = orNil(q.Options), orNil(q.Descriptions)
		all.Questions = append(all.Questions, q)
	}
	if p.Alike {
		all.ID = p.ID
	}
	if p.Input == nil {
		all.Input = nil
	}
	switch {
	case p.Type == PromptNotice && len(p.Options) == 0:
		all.Text = nil
	case p.Type == PromptSetup && p.Subtype != nil && *p.Subtype == SubtypeOAuthLogin:
		all.Text, all.Options = nil, nil
	}
	if p.Type == PromptQuestion && len(p.Questions) > 0 && !p.Reviewing() { // the options of the visible page; Questions has all pages
		all.Title, all.Text, all.Options = nil, nil, nil
	}
	data, err := json.Marshal(all)
	if err != nil { // Raw or Schema isn't valid JSON; the id serves as the content
		data = []byte(p.ID) // raw JSON that is none: it is as good as another
	}
	sum := sha256.Sum256(data)
	p.Digest = hex.EncodeToString(sum[:16])
}

func orNil(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

// Whole reports whether the prompt's digest is that of what it has. One that came as JSON may lack a part of what it
// was signed with.
func (p *Request) Whole() bool {
	again := *p
	if again.FullInput == "" && p.Input != nil && !p.InputTruncated {
		again.FullInput = *p.Input
	}
	for _, again.Alike = range []bool{false, true} {
		if again.Sign(); again.Digest == p.Digest {
			return true
		}
	}
	return false
}

// RequestOf is a row's prompt; nil for none. That of another host's row is JSON.
func RequestOf(p api.Prompt) *Request {
	switch p := p.(type) {
	case *Request:
		return p
	case nil:
		return nil
	}
	var r Request
	data, raw := p.(json.RawMessage) // as its host wrote it
	if !raw {
		var err error
		if data, err = json.Marshal(p); err != nil {
			return nil
		}
	}
	if json.Unmarshal(data, &r) != nil {
		return nil
	}
	return &r
}

// Question is one of the questions that a prompt asks at once.
type Question struct {
	Header       string   `json:"header"`
	Text         string   `json:"text"`
	Options      []string `json:"options"`
	Descriptions []string `json:"descriptions"`
	MultiSelect  bool     `json:"multi_select"`
	Previews     bool     `json:"previews"` // the dialog shows a preview of each option
	Hint         string   `json:"-"`        // the placeholder of its text field, if the agent was given one
}

// HasPreviews reports whether an option has a preview, which only the dialog shows.
func (p *Request) HasPreviews() bool {
	return slices.ContainsFunc(p.Questions, func(q Question) bool { return q.Previews })
}

// SetInput sets the prompt's input: what the tool would do.
func (p *Request) SetInput(input string) {
	p.FullInput, p.InputBytes = input, len(input)
	shown := input
	if utf8.RuneCountInString(input) > InputLimit {
		shown = string([]rune(input)[:InputLimit])
	}
	p.InputTruncated = len(shown) < len(input)
	p.Input = &shown
}

// SetWhole sets all of what the tool would do, where the input is a part of it, such as a file's name; nothing if whole is
// empty.
func (p *Request) SetWhole(whole string) {
	if whole != "" {
		p.FullInput, p.InputBytes, p.InputTruncated = whole, len(whole), true
	}
}

// InPart reports whether Berth knows only a part of what the tool would do, such as the file of an edit
// whose dialog shows nothing else. SetInPart sets that.
func (p *Request) InPart() bool { return p.Input != nil && p.InputTruncated && p.InputBytes == 0 }

// SetInPart: see InPart.
func (p *Request) SetInPart() { p.InputTruncated, p.InputBytes = true, 0 }

// SetNoPart undoes that, with the input: the prompt's text has what the tool would do.
func (p *Request) SetNoPart() {
	p.Input, p.FullInput, p.InputTruncated, p.InputBytes = nil, "", false, 0
}

// About is the prompt in one line, for lists: a plan's heading, a question's text, or a tool and
// its input.
func (p *Request) About() string {
	switch n := p.QuestionCurrent; {
	case p.Type == PromptPlan && p.Text != nil:
		return heading(*p.Text)
	case len(p.Questions) > 0 && n >= 0 && n < len(p.Questions) && p.Questions[n].Text != "":
		return p.Questions[n].Text
	case p.Tool != nil && p.Input != nil:
		return *p.Tool + ": " + *p.Input
	case p.Title != nil && p.Text != nil:
		return *p.Title + ": " + *p.Text
	}
	for _, s := range []*string{p.Text, p.Title, p.Input, p.Tool, p.Subtype} {
		if s != nil {
			return *s
		}
	}
	return string(p.Type)
}

// pieces are what a person has to read before the prompt is allowed, or a question answered by a number.
func (p *Request) pieces() []string {
	list := []string{Value(p.Input), Value(p.Text), Value(p.Tool), Value(p.Agent)}
	if p.Tool == nil {
		list = append(list, Value(p.Title))
	}
	if len(p.Questions) == 0 && p.Type == PromptQuestion {
		for i, o := range p.Options {
			list = append(list, fmt.Sprintf("%d. %s", i+1, o))
		}
	}
	for _, q := range p.Questions {
		list = append(list, q.Text)
		for i, o := range q.Options {
			list = append(list, fmt.Sprintf("%d. %s", i+1, o))
			if i < len(q.Descriptions) {
				list = append(list, q.Descriptions[i])
			}
		}
	}
	return list
}

// Missing returns what a text in one line, such as a notification, lacks of what a person has to read of the prompt. Each part
// has a place of its own in the text: a command can contain the name of the folder that it runs in.
func (p *Request) Missing(text string) (missing []string) {
	found, all := map[string]bool{"": true}, p.pieces()
	for _, piece := range slices.SortedStableFunc(slices.Values(all), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		at := strings.Index(text, piece)
		if found[piece] = found[piece] || at >= 0; at >= 0 && piece != "" {
			text = text[:at] + "\x00" + text[at+len(piece):]
		}
	}
	for _, piece := range all {
		if !found[piece] {
			missing, found[piece] = append(missing, piece), true
		}
	}
	return missing
}

// ShownIn reports whether the text has all of the prompt. A form's fields aren't in a line.
func (p *Request) ShownIn(text string) bool {
	return !p.InputTruncated && len(p.Schema) == 0 && len(p.Missing(text)) == 0
}

// heading is the text's first line that isn't blank, without Markdown's marks.
func heading(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return line
		}
	}
	return text
}

// Reviewing reports whether the dialog shows the review page, where the answers to several
// questions are confirmed.
func (p *Request) Reviewing() bool {
	return len(p.Questions) > 0 && p.QuestionCurrent >= len(p.Questions)
}

// SendsTyped reports whether an answer sends what was chosen or typed at the terminal. The prompt keeps
// its id while that changes, so the answer has to name the digest.
func (p *Request) SendsTyped() bool {
	return p.Reviewing() || p.Type == PromptForm && len(p.Schema) == 0 && p.Input != nil
}

// Clone copies the prompt and all that may change in it. The copy's lists are never nil.
func (p *Request) Clone() *Request {
	if p == nil {
		return nil
	}
	c := *p
	c.Options = append([]string{}, p.Options...)
	c.Questions = append([]Question{}, p.Questions...)
	for i := range c.Questions {
		q := &c.Questions[i]
		q.Options = append([]string{}, q.Options...)
		q.Descriptions = append([]string{}, q.Descriptions...)
	}
	c.Lines = append([]string(nil), p.Lines...)
	return &c
}

// Pointer returns a pointer to s, or nil when s is empty. JSON fields are null when they have
// nothing to say.
func Pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ShownBy copies from the dialog what any prompt takes from it: the title, the lines, the options,
// and whether the dialog is complete.
func (r *Request) ShownBy(d *Dialog) {
	if d.Title != "" {
		r.Title = &d.Title
	}
	r.Lines = d.Lines
	if labels := d.Labels(); len(labels) > 0 || r.Options == nil {
		r.Options, r.OptionsFallback = labels, false
	}
	r.Ready = !d.Partial
}
