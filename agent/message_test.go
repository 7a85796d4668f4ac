package agent

import (
	"errors"
	"testing"
)

func TestCleanMessage(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc":                    "a\tb\nc",
		"a\r\nb\rc\u2028d\u2029e":    "a\nb\nc\nd\ne",
		"evil\x1b[201~\r!touch x":    "evil[201~\n!touch x",
		"\x00\x07\x08\x7f\u009b2J":   "2J",
		"\u202egnp\u2066x\u2069":     "gnpx",
		"日本 é 👩‍👩‍👧 \u200b/x \ufeff": "日本 é 👩‍👩‍👧 \u200b/x \ufeff",
	} {
		if got := CleanMessage(text); got != want {
			t.Errorf("%q is cleaned to %q, want %q", text, got, want)
		}
	}
}

func TestCleanAnswer(t *testing.T) {
	in := Answer{Kind: AnswerEach, Text: "why\x1b\r\nnot", Each: []QuestionPick{{Options: []int{1}}, {Text: "Re\u202edis"}}}
	got, err := in.Clean()
	if err != nil || got.Text != "why\nnot" || got.Each[1].Text != "Redis" || in.Each[1].Text == "Redis" {
		t.Errorf("%+v of %+v, %v", got, in, err)
	}
	for _, nothing := range []Answer{{Kind: Deny, Text: "\x1b"}, {Kind: AnswerEach, Each: []QuestionPick{{Text: "\u202e \n"}}}} {
		if got, err := nothing.Clean(); !errors.Is(err, ErrAnswer) {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if got, err := (Answer{Kind: Deny}).Clean(); err != nil || got.Text != "" {
		t.Errorf("%+v, %v", got, err)
	}
}
