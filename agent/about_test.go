package agent

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestAbout(t *testing.T) {
	questions := []Question{{Header: "Color", Text: "Which color?"}, {Header: "Size", Text: "Which size?"}}
	for want, p := range map[string]Request{
		"Plan: add a greeting":          {Type: PromptPlan, Tool: Pointer("ExitPlanMode"), Input: Pointer("/plans/a.md"), Title: Pointer("Ready to code?"), Text: Pointer("\n# Plan: add a greeting\n\n## Steps\n")},
		"Bash: rm -rf build":            {Type: PromptPermission, Tool: Pointer("Bash"), Input: Pointer("rm -rf build"), Title: Pointer("Bash command")},
		"Which size?":                   {Type: PromptQuestion, Tool: Pointer("AskUserQuestion"), Questions: questions, QuestionCurrent: 1, Title: Pointer("Size"), Text: Pointer("Which size?")},
		"Review your answers: ● Color":  {Type: PromptQuestion, Tool: Pointer("AskUserQuestion"), Questions: questions, QuestionCurrent: 2, Title: Pointer("Review your answers"), Text: Pointer("● Color")},
		"Accessing workspace: /home/me": {Type: PromptPermission, Subtype: Pointer(SubtypeTrust), Title: Pointer("Accessing workspace"), Text: Pointer("/home/me")},
		"form":                          {Type: PromptForm},
	} {
		if got := p.About(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestNamed: options are named by their labels, and an unknown label in a list is an error, not a
// text answer.
func TestNamed(t *testing.T) {
	p := &Request{Questions: []Question{
		{Header: "Color", Options: []string{"Red", "Green"}},
		{Header: "Features", Options: []string{"A", "B", "Access log"}, MultiSelect: true},
	}}
	for words, want := range map[string]QuestionPick{
		"A,B":               {Options: []int{1, 2}},
		"access log, b":     {Options: []int{3, 2}},
		"B":                 {Options: []int{2}},
		"something else":    {Text: "something else"},
		"A,D":               {Text: "error: its options are 1 A, 2 B, 3 Access log"},
		"use redis, please": {Text: "error: no option \"use redis\""},
	} {
		a, err := Answer{Kind: AnswerEach, Each: []QuestionPick{{Options: []int{1}}, {Text: words, Bare: true}}}.Named(p)
		if fault, ok := strings.CutPrefix(want.Text, "error: "); ok {
			if !errors.Is(err, ErrAnswer) || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(fault)) {
				t.Errorf("%q: %v", words, err)
			}
			continue
		}
		got := a.Each[1]
		got.Bare = false
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", words, got, err, want)
		}
	}
	quoted, err := Answer{Each: []QuestionPick{{Text: "Red"}, {Text: "A,B"}}}.Named(p)
	if err != nil || quoted.Each[0].Text != "Red" || quoted.Each[1].Text != "A,B" {
		t.Errorf("in quotes: %+v, %v", quoted, err)
	}
	if single, err := (Answer{Each: []QuestionPick{{Text: "green", Bare: true}}}).Named(p); err != nil || !reflect.DeepEqual(single.Each[0].Options, []int{2}) {
		t.Errorf("one of one: %+v, %v", single, err)
	}
	two := &Request{Questions: []Question{{Header: "Data", Options: []string{"Wipe", "wipe", "Keep", "Later", "Later"}}}}
	for words, want := range map[string]int{"Later": 0, "later": 0, "wipe": 2, "Wipe": 1, " wipe ": 2, "KEEP": 3, "WIPE": 0} {
		a, err := Answer{Each: []QuestionPick{{Text: words, Bare: true}}}.Named(two)
		if want == 0 && !errors.Is(err, ErrAnswer) || want > 0 && (err != nil || !reflect.DeepEqual(a.Each[0].Options, []int{want})) {
			t.Errorf("%q: %+v, %v, want option %d", words, a, err, want)
		}
	}
}
