package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"berth/agent"
	"berth/api"
	"berth/keys"
	"berth/sessions"
	"berth/terminal"
)

func respondVerb() *Verb {
	return &Verb{
		Name: "respond", Group: "drive", Synopsis: "S [--prompt ID] [--digest D] [--unseen] [--wait-lock D] [--takeover] [--lease G] accept | deny [TEXT] | option N | text TEXT | answer Q=N|WORDS.. | cancel | -",
		Short: "answer a session's prompt; - reads the answers as JSON",
		Examples: []Example{
			{"respond alpha --prompt ID accept", "allow what prompt ID asks"},
			{`respond alpha --prompt ID deny "use pnpm instead"`, "refuse it, with a reason"},
			{"respond alpha --prompt ID option 2", "choose the second option"},
			{"respond alpha --prompt ID answer 1=Red 2=Small,Large", "answer several questions"},
		},
		Need: keys.Responder, Tail: true, Lead: 1, Answer: sessions.Response{}, Run: respond,
		Flags: func(f *pflag.FlagSet) {
			f.String("prompt", "", "answer only this prompt")
			f.String("digest", "", "answer only while the prompt has this digest, which covers what it asks")
			f.Bool("unseen", false, "allow what the prompt shows only a part of, such as edits whose dialog shows only their files")
			claimFlags(f)
		},
	}
}

func respond(ctx context.Context, c *Call) error {
	s, err := c.session(c.Args[0])
	if err != nil {
		return err
	}
	answer, err := c.readAnswer()
	if err != nil {
		return err
	}
	id, _ := c.flags.GetString("prompt")
	claim := c.claim("respond", keys.Responder, s)
	claim.Digest, _ = c.flags.GetString("digest")
	claim.Unseen, _ = c.flags.GetBool("unseen")
	r, err := s.Respond(ctx, claim, id, answer)
	if r == nil {
		return err
	}
	if err != nil {
		return c.halfAnswer(r, err)
	}
	return c.answer(r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s, now %s\n", r.Session, r.Outcome, r.State) })
}

// halfAnswer prints a failure together with what is known of the answer.
func (c *Call) halfAnswer(r *sessions.Response, err error) error {
	shown := api.AsError(err)
	if c.JSON {
		if err := c.printJSON(struct {
			*sessions.Response
			Error *api.Error `json:"error"`
		}{r, shown}); err != nil {
			return err
		}
	}
	_, _ = c.Err.Write(c.lines([]byte("berth: " + terminal.Printable(shown.Message) + "\n"))) // a failed write means that the client is gone
	return statusError(shown.Code.Status())
}

// readAnswer reads the words after the session.
func (c *Call) readAnswer() (agent.Answer, error) {
	verb := respondVerb()
	bad := func(why string) (agent.Answer, error) { return agent.Answer{}, verb.usage(errors.New(why)) }
	text, err := c.tailBytes()
	if err != nil {
		return agent.Answer{}, err
	}
	if !utf8.Valid(text) {
		return bad("the text is not UTF-8")
	}
	if len(c.Args) < 2 {
		if c.Stdin {
			return readJSON(text)
		}
		return bad(errMissing.Error())
	}
	tail := strings.TrimSpace(string(text))
	switch kind := agent.AnswerKind(c.Args[1]); kind {
	case agent.Accept, agent.Cancel:
		if tail != "" {
			return bad(string(kind) + " takes no text")
		}
		return agent.Answer{Kind: kind}, nil
	case agent.Deny:
		return agent.Answer{Kind: kind, Text: tail}, nil
	case agent.AnswerText:
		if tail == "" {
			return bad("text needs words after it")
		}
		return agent.Answer{Kind: kind, Text: tail}, nil
	case agent.ChooseOption:
		n, err := strconv.Atoi(tail)
		if err != nil || n < 1 {
			return bad("option needs a number from 1")
		}
		return agent.Answer{Kind: kind, Option: n}, nil
	case agent.AnswerEach:
		each, err := readPicks(tail)
		if err != nil {
			return agent.Answer{}, verb.usage(err)
		}
		return agent.Answer{Kind: kind, Each: each}, nil
	}
	return bad(api.Quote(c.Args[1]) + " isn't a valid answer")
}

// maxQuestions is the most questions that one call answers.
const maxQuestions = 16

var (
	pickHead    = regexp.MustCompile(`(?:^|\s)(\d{1,9})=`)
	pickOptions = regexp.MustCompile(`^\d+(,\d+)*$`)
	pickQuoted  = regexp.MustCompile(`^("[^"]*"|'[^']*')(\s|$)`)
	pickUnclear = regexp.MustCompile(`^\d+,`)
)

// readPicks reads 1=2 2=1,3 3=words: for each question its options, or an answer in words. The
// words end where the next question starts, outside of quotes.
func readPicks(tail string) ([]agent.QuestionPick, error) {
	heads := pickHeads(tail)
	if len(heads) == 0 || strings.TrimSpace(tail[:heads[0][0]]) != "" {
		return nil, errors.New("answer needs Q=N or Q=WORDS for each question, such as 1=2 2=1,3 3=neither")
	}
	var each []agent.QuestionPick
	for i, head := range heads {
		end := len(tail)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		n, err := strconv.Atoi(tail[head[2]:head[3]])
		if err != nil || n < 1 || n > maxQuestions {
			return nil, fmt.Errorf("there is no question %s: questions are numbered from 1 to at most %d", tail[head[2]:head[3]], maxQuestions)
		}
		for len(each) < n {
			each = append(each, agent.QuestionPick{})
		}
		if len(each[n-1].Options) > 0 || each[n-1].Text != "" {
			return nil, fmt.Errorf("question %d is answered twice", n)
		}
		if each[n-1], err = readPick(strings.TrimSpace(tail[head[1]:end])); err != nil {
			return nil, fmt.Errorf("question %d: %w", n, err)
		}
	}
	return each, nil
}

// pickHeads finds where each answer starts, and its number.
func pickHeads(tail string) (heads [][]int) {
	quoted := 0 // where the quotes of the answer before end
	for _, head := range pickHead.FindAllStringSubmatchIndex(tail, -1) {
		if head[0] < quoted {
			continue
		}
		heads = append(heads, head)
		if in := pickQuoted.FindStringSubmatch(tail[head[1]:]); in != nil {
			quoted = head[1] + len(in[1])
		}
	}
	return heads
}

// readPick reads the answer to one question. Numbers are options; quoted text is words; all else
// is an option's name or words.
func readPick(value string) (agent.QuestionPick, error) {
	if !pickOptions.MatchString(value) {
		if pickUnclear.MatchString(value) {
			return agent.QuestionPick{}, fmt.Errorf("%s isn't a list of options; put words into quotes", api.Quote(value))
		}
		bare := true
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value, bare = value[1:n-1], false
		}
		if strings.TrimSpace(value) == "" {
			return agent.QuestionPick{}, errors.New("it has no answer")
		}
		return agent.QuestionPick{Text: value, Bare: bare}, nil
	}
	var pick agent.QuestionPick
	for o := range strings.SplitSeq(value, ",") {
		option, err := strconv.Atoi(o)
		if err != nil || option < 1 {
			return agent.QuestionPick{}, fmt.Errorf("%s isn't an option: options are numbered from 1", api.Quote(o))
		}
		pick.Options = append(pick.Options, option)
	}
	return pick, nil
}

// jsonForms are the forms of an answer on standard input.
const jsonForms = `{"answers":[{"option":2},{"options":[1,3]},{"text":"..."}]} or {"action":"accept","content":{...}}`

// readJSON reads the answers to questions, or the content of a form.
func readJSON(data []byte) (agent.Answer, error) {
	var in struct {
		Answers []jsonPick     `json:"answers"`
		Action  string         `json:"action"`
		Content map[string]any `json:"content"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber() // unchanged
	if err := d.Decode(&in); err != nil {
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input can't be read as an answer: %s. Give %s", jsonFault(err), jsonForms)
	}
	if d.More() {
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input has more than one answer")
	}
	if name := misnamed(data); name != "" {
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input can't be read as an answer: there is no field %q. Give %s", name, jsonForms)
	}
	if agent.Repeats(data) {
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input can't be read as an answer: an object has a name twice. Give %s", jsonForms)
	}
	switch {
	case in.Action != "" && in.Answers != nil:
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input has both action and answers: give %s", jsonForms)
	case in.Answers != nil:
		return jsonAnswers(in.Answers)
	}
	kind, ok := map[string]agent.AnswerKind{"accept": agent.Accept, "decline": agent.Deny, "deny": agent.Deny, "cancel": agent.Cancel}[in.Action]
	switch {
	case !ok:
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input is not %s: an action is accept, decline or cancel", jsonForms)
	case kind != agent.Accept && len(in.Content) > 0:
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "only accept has a content")
	}
	return agent.Answer{Kind: kind, Fields: in.Content}, nil
}

// misnamed is a name in other letter case, which the decoder takes for a field's; empty for none. The content's names are the form's.
func misnamed(data []byte) string {
	var in map[string]json.RawMessage
	var picks []map[string]json.RawMessage
	_ = json.Unmarshal(data, &in)             // it was decoded before, so it is an object
	_ = json.Unmarshal(in["answers"], &picks) // it may have none
	for _, fields := range append(picks, in) {
		for name := range fields {
			for known := range jsonWants {
				if field := strings.TrimPrefix(known, "answers."); name != field && strings.EqualFold(name, field) {
					return name
				}
			}
		}
	}
	return ""
}

// jsonWants describes the value of each field of an answer.
var jsonWants = map[string]string{
	"answers": "a list of answers", "answers.option": "a whole number", "answers.options": "a list of whole numbers", "answers.text": "a text",
	"action": "accept, decline or cancel", "content": "an object of a form's fields",
}

// jsonFault describes what is wrong with an answer, in terms of JSON.
func jsonFault(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return "it is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.As(err, &syntax):
		return fmt.Sprintf("it isn't valid JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind):
		if wants, known := jsonWants[kind.Field]; known {
			return fmt.Sprintf("%s must be %s, not a JSON %s", kind.Field, wants, kind.Value)
		}
		return fmt.Sprintf("it is a JSON %s, not an object", kind.Value)
	}
	if _, field, ok := strings.Cut(err.Error(), "unknown field "); ok {
		return "there is no field " + field
	}
	return "it isn't valid JSON"
}

// jsonPick answers one question.
type jsonPick struct {
	Option  int    `json:"option"`
	Options []int  `json:"options"`
	Text    string `json:"text"`
}

func jsonAnswers(picks []jsonPick) (agent.Answer, error) {
	if len(picks) == 0 || len(picks) > maxQuestions {
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input has %d answers: give 1 to %d", len(picks), maxQuestions)
	}
	a := agent.Answer{Kind: agent.AnswerEach}
	for _, one := range picks {
		pick := agent.QuestionPick{Options: one.Options, Text: one.Text}
		if one.Option != 0 {
			pick.Options = append(pick.Options, one.Option)
		}
		a.Each = append(a.Each, pick)
	}
	return a, nil
}
