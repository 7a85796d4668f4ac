package forks_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/forks"
)

// TestFits: an answer chooses options that the question has, and several or a text beside them only where it takes that.
func TestFits(t *testing.T) {
	for _, one := range []struct {
		pick agent.QuestionPick
		want string // which questions take it
	}{
		{agent.QuestionPick{Options: []int{2}}, "one several"},
		{agent.QuestionPick{Text: "words"}, "one several"},
		{agent.QuestionPick{Options: []int{1, 2}}, "several"},
		{agent.QuestionPick{Options: []int{1}, Text: "words"}, "several"},
		{agent.QuestionPick{Options: []int{3}}, ""},
		{agent.QuestionPick{Options: []int{0}}, ""},
	} {
		var took []string
		for _, name := range []string{"one", "several"} {
			q := &agent.Question{Options: []string{"a", "b"}, MultiSelect: name == "several"}
			switch err := forks.Fits(q, one.pick); {
			case err == nil:
				took = append(took, name)
			case !errors.Is(err, agent.ErrAnswer):
				t.Errorf("%+v: %v", one.pick, err)
			}
		}
		if got := strings.Join(took, " "); got != one.want {
			t.Errorf("%+v: taken by %q, want %q", one.pick, got, one.want)
		}
	}
}

// TestChoice: the option that opens an editor is never chosen, also when its label is cut.
func TestChoice(t *testing.T) {
	d := &agent.Dialog{Options: []agent.Option{{Number: 1, Label: "Yes"}, {Number: 2, Label: "Modify with external editor"}, {Number: 3, Label: "Modify with ext…"}, {Number: 4, Label: "No…"}}}
	var got []string
	for n := range d.Options {
		k, err := forks.Choice(agent.Answer{Kind: agent.ChooseOption, Option: n + 1}, d, 1, 4)
		got = append(got, fmt.Sprint(len(k.Steps), errors.Is(err, agent.ErrCannot)))
	}
	if want := "1 false 0 true 0 true 1 false"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestFailed: the error that ends the conversation, with the rows that it continues in.
func TestFailed(t *testing.T) {
	rows := strings.Split("reply/✕ old/reply/✕ an error/  of two rows/text", "/")
	over := func(row int) bool { return rows[row] == "reply" }
	for n, want := range map[int]string{6: "an error of two rows", 4: "an error", 3: "", 0: ""} {
		if got := forks.Failed(rows[:n], "✕ ", over); got != want {
			t.Errorf("%d rows: %q, want %q", n, got, want)
		}
	}
}
