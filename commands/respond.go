package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		Name: "respond", Group: "drive", Synopsis: "S [--prompt ID] accept | deny [TEXT] | option N | text TEXT | answer Q=N.. | -",
		Short: "answer what a session asks; - reads the answers as JSON",
		Need:  keys.Responder, Tail: true, Lead: 1, Answer: sessions.Response{}, Run: respond,
		Flags: func(f *pflag.FlagSet) {
			f.String("prompt", "", "answer this prompt and no other")
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
	r, err := s.Respond(ctx, c.claim("respond", keys.Responder, s), id, answer)
	if r == nil {
		return err
	}
	if err != nil {
		return c.halfAnswer(r, err)
	}
	return c.answer(r, func(w io.Writer) { fmt.Fprintf(w, "%s: %s, now %s\n", r.Session, r.Outcome, r.State) })
}

// halfAnswer tells a failure beside what there is to tell of the answer.
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
	_, _ = c.Err.Write(c.lines([]byte("berth: " + terminal.Printable(shown.Message) + "\n"))) // nobody is left to tell of a failure
	return statusError(shown.Code.Status())
}

// readAnswer reads the words behind the session.
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
			return readAnswers(text)
		}
		return bad(errMissing.Error())
	}
	tail := strings.TrimSpace(string(text))
	switch kind := agent.AnswerKind(c.Args[1]); kind {
	case agent.Accept:
		if tail != "" {
			return bad("accept takes no text")
		}
		return agent.Answer{Kind: kind}, nil
	case agent.Deny:
		return agent.Answer{Kind: kind, Text: tail}, nil
	case agent.AnswerText:
		if tail == "" {
			return bad("text needs a text")
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
	return bad(api.Quote(c.Args[1]) + " is no answer")
}

// maxQuestions is the most questions that are answered at once.
const maxQuestions = 16

// readPicks reads 1=2 2=1,3: of each question the options.
func readPicks(words string) ([]agent.QuestionPick, error) {
	var each []agent.QuestionPick
	for _, word := range strings.Fields(words) {
		q, list, ok := strings.Cut(word, "=")
		n, err := strconv.Atoi(q)
		if !ok || err != nil || n < 1 || n > maxQuestions {
			return nil, fmt.Errorf("%s is not Q=N, a question's number and an option's", api.Quote(word))
		}
		for len(each) < n {
			each = append(each, agent.QuestionPick{})
		}
		if len(each[n-1].Options) > 0 {
			return nil, fmt.Errorf("question %d is answered twice", n)
		}
		for o := range strings.SplitSeq(list, ",") {
			option, err := strconv.Atoi(o)
			if err != nil || option < 1 {
				return nil, fmt.Errorf("%s is not Q=N, a question's number and an option's", api.Quote(word))
			}
			each[n-1].Options = append(each[n-1].Options, option)
		}
	}
	if len(each) == 0 {
		return nil, errors.New("answer needs Q=N for each question")
	}
	return each, nil
}

// readAnswers reads {"answers":[{"option":2},{"options":[1,3]},{"text":"Redis"}]}.
func readAnswers(data []byte) (agent.Answer, error) {
	var in struct {
		Answers []struct {
			Option  int    `json:"option"`
			Options []int  `json:"options"`
			Text    string `json:"text"`
		} `json:"answers"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, `standard input is not {"answers":[{"option":2},{"options":[1,3]},{"text":"..."}]}: %w`, err)
	}
	if len(in.Answers) == 0 || len(in.Answers) > maxQuestions {
		return agent.Answer{}, api.Errorf(api.CodeBadRequest, "standard input has %d answers: 1 to %d are taken", len(in.Answers), maxQuestions)
	}
	a := agent.Answer{Kind: agent.AnswerEach}
	for _, one := range in.Answers {
		pick := agent.QuestionPick{Options: one.Options, Text: one.Text}
		if one.Option != 0 {
			pick.Options = append(pick.Options, one.Option)
		}
		a.Each = append(a.Each, pick)
	}
	return a, nil
}
