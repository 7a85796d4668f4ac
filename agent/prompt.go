package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// Subtypes of prompts. Trust is a permission's, the others belong to setup.
const (
	SubtypeTrust         = "trust"
	SubtypeTheme         = "theme_picker"
	SubtypeLoginMethod   = "login_method"
	SubtypeAPIKey        = "api_key"
	SubtypeSecurityNotes = "security_notes"
	SubtypeTerminalSetup = "terminal_setup"
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

// Channels by which a prompt can be answered.
const (
	ChannelHook = "hook" // a hook of the agent waits for the answer
	ChannelKeys = "keys" // by keys, at the dialog
	ChannelNone = "none" // by none: somebody at the terminal has to
)

// InputLimit is how many characters of a tool's input a prompt shows.
const InputLimit = 200

// Request is a prompt: a question an agent has stopped at.
type Request struct {
	ID              string          `json:"id"`
	Digest          string          `json:"digest"` // of all that it asks: see Sign
	Type            PromptType      `json:"type"`
	Subtype         *string         `json:"subtype"`
	Agent           *string         `json:"agent"` // type of the subagent that asks, null for the main one
	Tool            *string         `json:"tool"`
	Title           *string         `json:"title"`
	Input           *string         `json:"input"` // what the tool would do, at most InputLimit characters
	InputBytes      int             `json:"input_bytes"`
	InputTruncated  bool            `json:"input_truncated"`
	Text            *string         `json:"text"` // of a plan, a question or a notice; of a permission, its input's other fields, or what else its dialog says
	URL             *string         `json:"url"`  // to be opened in a browser
	Options         []string        `json:"options"`
	OptionsFallback bool            `json:"options_fallback"` // not read off the screen: of a permission or a plan they are not known yet
	Questions       []Question      `json:"questions"`
	QuestionCurrent int             `json:"question_current"` // len(Questions) on the page that confirms
	Schema          json.RawMessage `json:"schema,omitempty"` // of a form
	Ready           bool            `json:"ready"`
	OnScreen        bool            `json:"on_screen"`
	Modal           bool            `json:"modal"`
	Channel         string          `json:"channel"`
	Contested       bool            `json:"contested"` // the dialog on the screen may ask something else than the agent told
	Since           api.Time        `json:"since"`
	Expires         *api.Time       `json:"expires"`

	// What Input leaves out, and what the dialog looks like: for those who ask
	// for all of it.
	FullInput string   `json:"-"`
	Lines     []string `json:"-"`
	// Raw is the tool's input as the agent told it; empty when only the dialog did.
	Raw json.RawMessage `json:"-"`
	// Alike: its dialog alone tells of it, and another one may look the same.
	Alike bool `json:"-"`
}

// Sign sets Digest, a hash of what a person reads before answering: the prompt's type,
// subagent, tool with its whole input, texts, questions and options. It covers the answers on
// the page that confirms several of them. It leaves out text that changes or is typed while a
// login, or a notice without options, is open. Where another dialog may look the same, it
// covers the id.
func (p *Request) Sign() {
	all := struct {
		Type                                          PromptType
		Subtype, Agent, Tool, Title, Input, Text, URL *string
		Raw, Schema                                   json.RawMessage
		Options                                       []string
		Questions                                     []Question
		ID                                            string `json:",omitempty"`
	}{
		p.Type, p.Subtype, p.Agent, p.Tool, p.Title, &p.FullInput, p.Text, p.URL, p.Raw, p.Schema, p.Options, p.Questions, "",
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
	if err != nil {
		data = []byte(p.ID) // raw JSON that is none: it is as good as another
	}
	sum := sha256.Sum256(data)
	p.Digest = hex.EncodeToString(sum[:16])
}

// Question is one of those asked at once.
type Question struct {
	Header       string   `json:"header"`
	Text         string   `json:"text"`
	Options      []string `json:"options"`
	Descriptions []string `json:"descriptions"`
	MultiSelect  bool     `json:"multi_select"`
	Previews     bool     `json:"previews"` // its options are shown with what they would look like
	Hint         string   `json:"-"`        // what its line for a text shows while that is empty, where its agent was told
}

// SetInput puts what the tool would do into the prompt.
func (p *Request) SetInput(input string) {
	p.FullInput, p.InputBytes = input, len(input)
	shown := input
	if utf8.RuneCountInString(input) > InputLimit {
		shown = string([]rune(input)[:InputLimit])
	}
	p.InputTruncated = len(shown) < len(input)
	p.Input = &shown
}

// About is what the prompt asks about, for lists: a plan by its heading, a question
// by its words, a tool's use by the tool and what it would do.
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

// heading is a text's first line that says something, without Markdown's marks.
func heading(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return line
		}
	}
	return text
}

// Reviewing says that of several questions the page is shown that confirms the
// answers.
func (p *Request) Reviewing() bool {
	return len(p.Questions) > 0 && p.QuestionCurrent >= len(p.Questions)
}

// Clone is a copy that shares nothing that changes. Its lists are never nil.
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

// Pointer is a pointer to s, nil when s is empty: for the fields that are null
// when there is nothing to say.
func Pointer(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// ShownBy puts into the prompt what its dialog shows of any prompt: the title, the lines, the
// options, and whether they are all there.
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
