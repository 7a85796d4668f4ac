package post

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"berth/agent"
	"berth/api"
	"berth/sessions"
	"berth/sessions/notify"
	"berth/terminal"
)

// Body is what a command gets on its standard input, and a URL as the body of
// a POST: one JSON object.
type Body struct {
	ID        string          `json:"id"` // the same in every notice of one occasion
	Rule      string          `json:"rule"`
	Kind      string          `json:"kind"` // prompt, error, exited, idle, report
	Text      string          `json:"text"` // one line for people
	Time      api.Time        `json:"time"` // when the occasion began
	Session   string          `json:"session"`
	SessionID string          `json:"session_id"`
	Agent     string          `json:"agent"`
	State     string          `json:"state"`
	Since     api.Time        `json:"since"`
	Tags      []string        `json:"tags"`
	Prompt    *agent.Request  `json:"prompt"`
	Failure   *api.Failure    `json:"failure"`
	Exit      *api.Exit       `json:"exit"`
	Report    json.RawMessage `json:"report"` // kind, message
	// Command lines to paste: Respond answers the prompt, Attach opens the session.
	Respond []string `json:"respond"`
	Attach  string   `json:"attach"`

	look []string // Respond below a text that doesn't show all of the prompt
}

// body makes the Body of a notice, with the built-in text.
func (p *Poster) body(s *sessions.Session, n notify.Notice) (Body, error) {
	st := s.Status()
	b := Body{
		ID: n.Occasion.Key, Rule: n.Rule.ID(), Kind: n.Occasion.Kind, Time: api.At(n.Occasion.Since), Session: st.Name, SessionID: st.ID, Agent: st.Agent,
		State: string(st.Now), Since: api.At(st.Since), Tags: append([]string{}, st.Tags...), Failure: st.Failure, Exit: st.Exit, Respond: []string{},
		Attach: strings.Replace(p.o.SSH, "ssh ", "ssh -t ", 1) + " attach " + st.Name,
	}
	for _, r := range st.Requests {
		if r.ID == n.Occasion.Prompt {
			b.Prompt = r
		}
	}
	if n.Occasion.Kind == notify.KindReport {
		var e struct {
			Kind    string `json:"kind"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(n.Occasion.Data, &e); err != nil {
			return b, fmt.Errorf("read a report: %w", err)
		}
		b.Report, _ = json.Marshal(e) // strings always encode
		b.Text = fmt.Sprintf("%s reports %s: %s", st.Name, e.Kind, e.Message)
	} else {
		b.Text = says(b)
	}
	b.Text = short(terminal.Printable(b.Text))
	if b.Prompt != nil {
		b.Respond, b.look = p.lines(st.Name, b.Prompt, b.Prompt.ShownIn(b.Text)), p.lines(st.Name, b.Prompt, false)
	}
	return b, nil
}

// finish gives the Body the text that the rule's template makes, and returns it as JSON, both without the
// session's secrets. If the template fails, the text is the built-in one, and wrong says why. A text without all of the
// built-in one shows less of a prompt.
func (b *Body) finish(r notify.Rule, secrets []string) (data []byte, wrong, err error) {
	all := b.Text
	encoded := func() {
		if data, err = encode(b); err != nil {
			return
		}
		data = hide(data, secrets)
		var hidden struct{ Text string }
		if err = json.Unmarshal(data, &hidden); err == nil {
			b.Text = hidden.Text
		}
	}
	encoded()
	if err == nil && r.Text != "" {
		b.Text, wrong = textOf(r, b.Text, data)
		encoded()
	}
	if err == nil && b.Prompt != nil && !strings.Contains(b.Text, all) {
		b.Respond = b.look
		encoded()
	}
	if err != nil {
		return nil, wrong, fmt.Errorf("encode a notice: %w", err)
	}
	return data, wrong, nil
}

// says is the notice's text.
func says(b Body) string {
	switch b.Kind {
	case notify.KindPrompt:
		if b.Prompt == nil {
			return b.Session + " asks something"
		}
		asks := b.Prompt.About()
		missing := b.Prompt.Missing(asks)
		return b.Session + " asks: " + string(b.Prompt.Type) + " " + strings.Join(append([]string{asks}, missing...), " · ")
	case notify.KindError:
		if b.Failure != nil {
			return b.Session + " is in error: " + b.Failure.Text
		}
		return b.Session + " is in error"
	case notify.KindParked:
		if b.Failure != nil && b.Failure.ResumeAt != nil {
			return b.Session + " has to wait until " + b.Failure.ResumeAt.Format(api.TimeLayout) + ": " + b.Failure.Text
		}
		return b.Session + " has to wait"
	case notify.KindExited:
		return b.Session + " has ended"
	}
	return b.Session + " is idle"
}

// mostLine bounds the built-in text, in characters.
const mostLine = 300

func short(s string) string { return cut(strings.Join(strings.Fields(s), " "), mostLine) }

// lines are the command lines for a prompt by ssh, the simplest first: those that answer it or, if the notice's text
// doesn't show all of it, the one that does so and the one that denies.
func (p *Poster) lines(name string, r *agent.Request, shown bool) []string {
	if r.Channel == agent.ChannelNone {
		return []string{} // the body has the attach command too
	}
	call, seen := fmt.Sprintf("%s respond %s --prompt %s ", p.o.SSH, name, r.ID), ""
	if r.SendsTyped() { // it may have changed by then
		seen = "--digest " + r.Digest + " "
	}
	switch {
	case r.Type == agent.PromptNotice:
		return []string{call + "deny"}
	case r.InPart() || !shown: // a person has to look before it is allowed
		return []string{p.o.SSH + " prompt " + name, call + "deny"}
	case len(r.Questions) > 1 && !r.Reviewing():
		var words []string
		for i := range r.Questions {
			words = append(words, fmt.Sprintf("%d=1", i+1))
		}
		return []string{call + "answer " + strings.Join(words, " "), call + "deny"}
	case r.Type == agent.PromptQuestion:
		return []string{call + seen + "option 1", call + "deny"}
	}
	return []string{call + seen + "accept", call + "deny"}
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return out.Bytes(), err
}

// leastSecret is the length of the shortest value that is hidden. Shorter values occur in many texts by
// chance.
const leastSecret = 6

// hide takes secrets out of the strings of JSON, however they are escaped. Names of fields and numbers
// stay, because a receiver needs them.
func hide(data []byte, secrets []string) []byte {
	var pairs []string
	longest := func(a, b string) int { return cmp.Compare(len(b), len(a)) } // if one secret begins with another, the longer one is hidden
	for _, s := range slices.SortedFunc(slices.Values(secrets), longest) {
		if len(s) >= leastSecret {
			pairs = append(pairs, s, "***")
		}
	}
	hidden := strings.NewReplacer(pairs...)
	var out bytes.Buffer
	for len(pairs) > 0 && len(data) > 0 {
		begin := bytes.IndexByte(data, '"')
		if begin < 0 {
			break
		}
		out.Write(data[:begin])
		end := begin + 1
		for ; data[end] != '"'; end++ { // whole JSON: there is one
			if data[end] == '\\' {
				end++
			}
		}
		token := data[begin : end+1]
		data = data[end+1:]
		if name := len(data) > 0 && data[0] == ':'; !name {
			token = replaced(token, hidden)
		}
		out.Write(token)
	}
	out.Write(data)
	return out.Bytes()
}

// replaced is a JSON string with its text replaced.
func replaced(token []byte, by *strings.Replacer) []byte {
	var s string
	if json.Unmarshal(token, &s) != nil {
		return token // it was encoded by us
	}
	t := by.Replace(s)
	if t == s {
		return token
	}
	out, err := encode(t)
	if err != nil {
		return token // strings always encode
	}
	return bytes.TrimSpace(out)
}
