package commands

import (
	"reflect"
	"strings"
	"testing"

	"berth/agent"
	"berth/api"
)

func TestReadPicks(t *testing.T) {
	pick := func(options ...int) agent.QuestionPick { return agent.QuestionPick{Options: options} }
	text := func(text string) agent.QuestionPick { return agent.QuestionPick{Text: text, Bare: true} }
	quoted := func(text string) agent.QuestionPick { return agent.QuestionPick{Text: text} }
	for words, want := range map[string][]agent.QuestionPick{
		"1=2":                          {pick(2)},
		"1=2 2=1,3":                    {pick(2), pick(1, 3)},
		"2=1\t1=3":                     {pick(3), pick(1)},
		"1=neither of them":            {text("neither of them")},
		"1=use redis, please 2=2":      {text("use redis, please"), pick(2)},
		`1="two words" 2='and more'`:   {quoted("two words"), quoted("and more")},
		`1="keep 2=1 ratio" 2='a 1=1'`: {quoted("keep 2=1 ratio"), quoted("a 1=1")},
		`1='tis so 2=1`:                {text("'tis so"), pick(1)},
		`1="a"b 2=1`:                   {text(`"a"b`), pick(1)},
		"1=a=b c=d":                    {text("a=b c=d")},
		`1="1,x"`:                      {quoted("1,x")},
		"3=2":                          {{}, {}, pick(2)}, // the driver says what is missing
	} {
		got, err := readPicks(words)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", words, got, err, want)
		}
	}
	for words, says := range map[string]string{
		"":                         "Q=N",
		"2":                        "Q=N",
		"yes 1=2":                  "Q=N",
		"1=":                       "no answer",
		`1=""`:                     "no answer",
		"0=1":                      "no question 0",
		"17=1":                     "no question 17",
		"99999999999=1":            "Q=N",
		"1=0":                      "isn't an option",
		"1=1,99999999999999999999": "isn't an option",
		"1=1 1=2":                  "twice",
		"1=1,x":                    "quotes",
		"1=x 1=2":                  "twice",
	} {
		if got, err := readPicks(words); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %+v, %v; want %q", words, got, err, says)
		}
	}
}

func TestReadJSON(t *testing.T) {
	for input, want := range map[string]agent.Answer{
		`{"answers":[{"option":2},{"options":[1,3]},{"text":"Redis"}]}`: {Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{2}}, {Options: []int{1, 3}}, {Text: "Redis"}}},
		`{"answers":[{"options":[1],"text":"and more"}]}`:               {Kind: agent.AnswerEach, Each: []agent.QuestionPick{{Options: []int{1}, Text: "and more"}}},
		`{"action":"accept"}`:                             {Kind: agent.Accept},
		`{"action":"decline"}`:                            {Kind: agent.Deny},
		`{"action":"deny"}`:                               {Kind: agent.Deny},
		` {"action":"cancel"} ` + "\n":                    {Kind: agent.Cancel},
		`{"action":"accept","content":{"a":true,"b":[]}}`: {Kind: agent.Accept, Fields: map[string]any{"a": true, "b": []any{}}},
		`{"action":"accept","content":{"Action":"x"}}`:    {Kind: agent.Accept, Fields: map[string]any{"Action": "x"}},
	} {
		got, err := readJSON([]byte(input))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; want %+v", input, got, err, want)
		}
	}
	for _, input := range []string{
		``, `null`, `[]`, `{}`, `{"answers":[]}`, `{"answers":[{"opt":1}]}`, `{"answers":"x"}`, `{"action":"yes"}`, `{"action":"cancel","content":{"a":1}}`,
		`{"action":"accept","answers":[{"option":1}]}`, `{"content":{"a":1}}`, `{"action":"accept"}{"action":"cancel"}`, `{"action":"decline","Action":"accept"}`, `{"action":"decline","action":"accept"}`,
		`{"answers":[{"option":1,"Option":2}]}`, `{"Answers":[{"option":1}]}`, `{"an\u017fwers":[{"option":1}]}`, `{"action":"accept","content":{"a":1,"a":2}}`, `{"answers":[` + strings.Repeat(`{"option":1},`, 16) + `{"option":1}]}`,
	} {
		if got, err := readJSON([]byte(input)); err == nil || api.AsError(err).Code != api.CodeBadRequest {
			t.Errorf("%s: %+v, %v", input, got, err)
		}
	}
}

// TestJSONFaults: an error in an answer is described in terms of JSON.
func TestJSONFaults(t *testing.T) {
	for input, want := range map[string]string{
		``:                                "it is empty",
		`{"answers":[`:                    "it ends too early",
		`{"answers":[}`:                   "it isn't valid JSON at byte 13",
		`[]`:                              "it is a JSON array, not an object",
		`2`:                               "it is a JSON number, not an object",
		`{"answers":"x"}`:                 "answers must be a list of answers, not a JSON string",
		`{"answers":[{"option":"2"}]}`:    "answers.option must be a whole number, not a JSON string",
		`{"answers":[{"option":1.5}]}`:    "answers.option must be a whole number, not a JSON number 1.5",
		`{"answers":[{"options":["A"]}]}`: "answers.options must be a list of whole numbers, not a JSON string",
		`{"answers":[{"text":3}]}`:        "answers.text must be a text, not a JSON number",
		`{"action":true}`:                 "action must be accept, decline or cancel, not a JSON bool",
		`{"content":3}`:                   "content must be an object of a form's fields, not a JSON number",
		`{"answers":[{"opt":1}]}`:         `there is no field "opt"`,
	} {
		_, err := readJSON([]byte(input))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `{"answers":[{"option":2}`) {
			t.Errorf("%s: %v; want %s", input, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "json:") || strings.Contains(err.Error(), "struct")) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// FuzzReadJSON: what is taken is an answer that is whole.
func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(`{"answers":[{"option":2},{"options":[1,3]},{"text":"Redis"}]}`))
	f.Add([]byte(`{"action":"accept","content":{"name":"Ann","n":1e3,"list":["a"]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := readJSON(data)
		switch {
		case err != nil:
			if api.AsError(err).Code != api.CodeBadRequest {
				t.Errorf("%v", err)
			}
		case a.Kind == agent.AnswerEach:
			if len(a.Each) == 0 || len(a.Each) > maxQuestions || a.Fields != nil {
				t.Errorf("%+v", a)
			}
		case a.Kind != agent.Accept && (a.Kind != agent.Deny && a.Kind != agent.Cancel || len(a.Fields) > 0):
			t.Errorf("%+v", a)
		}
	})
}

// FuzzReadPicks: what is taken has an answer for each question it names.
func FuzzReadPicks(f *testing.F) {
	f.Add("1=2 2=1,3 3=words of one's own")
	f.Fuzz(func(t *testing.T, words string) {
		each, err := readPicks(words)
		if err != nil {
			return
		}
		last := each[len(each)-1]
		if len(each) > maxQuestions || len(last.Options) == 0 && last.Text == "" {
			t.Errorf("%q: %+v", words, each)
		}
	})
}
