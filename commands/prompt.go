package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/terminal"
)

func promptVerb() *Verb {
	return &Verb{
		Name: "prompt", Group: "see", Synopsis: "S [--full]", Short: "show what a session asks, with its options",
		Examples: []Example{
			{"prompt alpha", "what alpha asks, and its id"},
			{"prompt alpha --full", "with the whole input of the tool"},
		},
		Need: keys.Viewer, MinArgs: 1, MaxArgs: 1, Answer: fullPrompt{}, Run: showPrompt,
		Flags: func(f *pflag.FlagSet) { f.Bool("full", false, "with the whole input and the dialog's lines") },
	}
}

// fullPrompt is a prompt. Its field id is the prompt's, so the session's is session_id. The last three fields
// need --full.
type fullPrompt struct {
	Session   string `json:"session"`
	SessionID string `json:"session_id"`
	*agent.Request
	FullInput *string  `json:"full_input,omitempty"`
	Lines     []string `json:"lines,omitempty"`
	// RawInput is the input as the agent reported it, null if it did not. The digest is also of it.
	RawInput json.RawMessage `json:"raw_input,omitempty"`
}

func showPrompt(_ context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	st := s.Status()
	r := st.Request
	if r == nil {
		return api.Errorf(api.CodeNoPrompt, "%s isn't asking anything: its state is %s", st.Name, st.Now)
	}
	out := fullPrompt{Session: st.Name, SessionID: st.ID, Request: r}
	full, _ := c.flags.GetBool("full")
	if full {
		out.FullInput, out.Lines, out.RawInput = &r.FullInput, r.Lines, r.Raw
	}
	return c.answer(out, func(w io.Writer) { writePrompt(w, st.Name, r, full) })
}

// WholePrompt is a prompt from what prompt --full printed about it on another host; nil if that isn't all of what its
// digest is of.
func WholePrompt(printed []byte) *agent.Request {
	var p fullPrompt
	if json.Unmarshal(printed, &p) != nil || p.Request == nil || p.FullInput == nil {
		return nil
	}
	r := p.Request
	if r.FullInput, r.Raw = *p.FullInput, p.RawInput; !r.Whole() {
		return nil
	}
	return r
}

// PromptLines is a prompt as the verb prompt shows it, and the command line that answers it. All
// of it is printable.
func PromptLines(name string, r *agent.Request) (lines []string, answer string) {
	var b strings.Builder
	writePrompt(&b, name, r, false)
	for line := range strings.Lines(b.String()) {
		lines = append(lines, terminal.Printable(strings.TrimSuffix(line, "\n")))
	}
	lines = lines[:len(lines)-1]
	if r.Channel == agent.ChannelNone { // such as a contested prompt
		return append(lines, "  answer it here, at the terminal"), ""
	}
	return lines, terminal.Printable(nextStep(name, r, false))
}

// Asked is all that a prompt asks, as the verb prompt shows it, for callers that answer in another way.
// Hidden characters are visible in it.
func Asked(name string, r *agent.Request) string {
	var b strings.Builder
	writeAsked(&b, name, r, true)
	return b.String()
}

// writePrompt shows a prompt as text, with how to answer it.
func writePrompt(w io.Writer, name string, r *agent.Request, full bool) {
	writeAsked(w, name, r, full)
	fmt.Fprintf(w, "  answer with: %s\n", nextStep(name, r, full))
	if full || r.Contested {
		fmt.Fprintln(w)
		writeQuoted(w, "|", strings.Join(r.Lines, "\n"))
	}
}

// writeQuoted shows a text that is not Berth's. No line of it looks like one of Berth's lines, and no two texts
// look the same: a blank at a line's end is marked, and a line end at the text's end has an empty line after it.
func writeQuoted(w io.Writer, mark, s string) {
	if s == "" {
		return
	}
	for line := range strings.SplitSeq(terminal.Reveal(s, false), "\n") {
		if end := len(line) - 1; end >= 0 && strings.IndexByte(" \t", line[end]) >= 0 {
			line = fmt.Sprintf("%s⟨U+%04X⟩", line[:end], line[end])
		}
		fmt.Fprintf(w, "  %s %s\n", mark, line)
	}
}

// writeAsked shows what a prompt asks.
func writeAsked(w io.Writer, name string, r *agent.Request, full bool) {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	fmt.Fprintf(w, "%s asks: %s %s\n", name, r.Type, InLine(text(r.Subtype)))
	if r.Tool != nil {
		fmt.Fprintf(w, "  with the tool %s\n", InLine(*r.Tool))
	}
	if r.Agent != nil {
		fmt.Fprintf(w, "  asked by the subagent %s\n", InLine(*r.Agent))
	}
	if title := text(r.Title); title != "" {
		fmt.Fprintf(w, "  > %s\n", InLine(title))
	}
	input := text(r.Input)
	if full && r.FullInput != "" {
		input = r.FullInput
	}
	writeQuoted(w, "|", input)
	switch {
	case r.InPart():
		fmt.Fprintf(w, "  … its dialog shows no more than this: attach %s\n", name)
	case r.InputTruncated && !full:
		fmt.Fprintf(w, "  … %d bytes in all: prompt %s --full\n", r.InputBytes, name)
	}
	if input == "" {
		writeQuoted(w, "|", text(r.Text))
	} else { // the next line of a command would look the same
		writeQuoted(w, "+", text(r.Text))
	}
	if r.URL != nil {
		fmt.Fprintf(w, "  link %s\n", InLine(*r.URL))
	}
	if len(r.Questions) > 1 && !r.Reviewing() {
		writeQuestions(w, r.Questions)
	} else {
		for i, o := range r.Options {
			fmt.Fprintf(w, "  %d. %s\n", i+1, InLine(o))
			if len(r.Questions) == 1 {
				writeDescription(w, r.Questions[0], i)
			}
		}
	}
	if r.HasPreviews() {
		fmt.Fprintf(w, "  … the options have previews, which only the dialog shows: attach %s\n", name)
	}
	if len(r.Options) == 0 && r.OptionsFallback {
		fmt.Fprintln(w, "  reading the options…")
	}
	if len(r.Schema) > 0 { // also without --full: accept sends the defaults
		fmt.Fprintf(w, "  its fields: %s\n", InLine(string(r.Schema)))
	}
	if !r.OnScreen {
		fmt.Fprintln(w, "  not visible in the terminal")
	}
}

// InLine is a text on one line, with hidden characters made visible.
func InLine(s string) string {
	return strings.ReplaceAll(terminal.Reveal(s, false), "\n", "⟨U+000A⟩")
}

func writeQuestions(w io.Writer, questions []agent.Question) {
	for i, q := range questions {
		several := ""
		if q.MultiSelect {
			several = " (several may be chosen)"
		}
		fmt.Fprintf(w, "  question %d, %s: %s%s\n", i+1, InLine(q.Header), InLine(q.Text), several)
		for n, o := range q.Options {
			fmt.Fprintf(w, "    %d. %s\n", n+1, InLine(o))
			writeDescription(w, q, n)
		}
	}
}

func writeDescription(w io.Writer, q agent.Question, option int) {
	if option < len(q.Descriptions) && q.Descriptions[option] != "" {
		fmt.Fprintf(w, "     | %s\n", InLine(q.Descriptions[option]))
	}
}

// nextStep is the command line that answers the prompt, or that shows the rest of it first.
func nextStep(session string, r *agent.Request, full bool) string {
	if r.InputTruncated && !full && !r.Contested && r.Channel != agent.ChannelNone && !r.InPart() {
		return toRead(session, r)
	}
	return answerWith(session, r)
}

// toRead is the command line that shows all that the prompt asks.
func toRead(session string, r *agent.Request) string {
	full := ""
	if r.InputTruncated {
		full = " --full"
	}
	return "prompt " + session + full + ", which shows all of it"
}

// answerWith is the command line that answers the prompt. It names the prompt, because without
// the name it would answer any prompt that is open when it arrives.
func answerWith(session string, r *agent.Request) string {
	if r.Contested {
		return "attach " + session + ", at the terminal: the agent's reports and its screen disagree about the question"
	}
	if r.Channel == agent.ChannelNone {
		return "attach " + session + ", at the terminal"
	}
	if r.InPart() {
		return "attach " + session + ", at the terminal; or respond " + session + " --prompt " + r.ID + " deny, or --unseen accept, which allows the rest unseen"
	}
	if r.SendsTyped() { // it may change before the command arrives
		return "respond " + session + " --prompt " + r.ID + " --digest " + r.Digest + " " + ways(r)
	}
	return "respond " + session + " --prompt " + r.ID + " " + ways(r)
}

// ways are the answers that fit the prompt.
func ways(r *agent.Request) string {
	switch r.Type {
	case agent.PromptQuestion:
		switch {
		case r.Reviewing():
			return "option N | answer 1=N 2=N,N 3=WORDS | deny [TEXT]"
		case len(r.Questions) > 1:
			return "answer 1=N 2=N,N 3=WORDS | deny [TEXT]"
		case len(r.Questions) == 1 && r.Questions[0].MultiSelect:
			return "answer 1=N,N | text TEXT | deny [TEXT]"
		}
		return "option N | text TEXT | deny [TEXT]"
	case agent.PromptForm:
		if len(r.Schema) == 0 {
			return "accept | deny | cancel"
		}
		return `accept | deny | cancel | - with {"action":"accept","content":{...}} on standard input`
	case agent.PromptNotice:
		return "deny, which closes it"
	case agent.PromptSetup:
		if r.URL != nil {
			return "text CODE | deny"
		}
		return "accept | option N"
	}
	if len(r.Options) == 0 && r.OptionsFallback {
		return "accept | deny [TEXT]" // a number is for options that were shown
	}
	if r.Subtype != nil && *r.Subtype == agent.SubtypeTrust {
		return "accept | deny, which ends the agent"
	}
	return "accept | deny [TEXT] | option N"
}
