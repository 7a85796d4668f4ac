package drawn_test

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/drawn"
	"berth/agent/pattern"
)

var item = pattern.New(`^(●?) ?(\d)\. (.*)$`)

// items are the options of a row: two of them with a bar between.
func items(row string) (all []agent.Option) {
	for part := range strings.SplitSeq(row, " | ") {
		if m := item.FindStringSubmatch(part); m != nil {
			all = append(all, agent.Option{Number: pattern.Number(m[2]), Focused: m[1] != "", Label: m[3]})
		}
	}
	return all
}

// TestNumbered: the last list that counts up is read, and numbers within it are text.
func TestNumbered(t *testing.T) {
	scrolled := func(row string) bool { return row == "▲" }
	for text, want := range map[string]string{
		"1. a/2. b":                  "[1 a 2 b] at [0 1] whole",
		"1. x/2. y/text/● 1. a/2. b": "[1 a 2 b] at [3 4] whole focused 1",
		"1. a/7. text/2. b":          "[1 a 2 b] at [0 2] whole",
		"1. a | 2. b/3. c/foot":      "[1 a 2 b 3 c] at [0 0 1] whole",
		"1. x/▲/2. b/● 3. c":         "[2 b 3 c] at [2 3] focused 1",
		"● 1. a/● 2. b":              "[1 a 2 b] at [0 1] whole focused 2",
		"2. b/3. c":                  "[2 b 3 c] at [0 1]",
		"text":                       "[] at []",
	} {
		l := drawn.Numbered(strings.Split(text, "/"), items, scrolled)
		var list []any
		for _, o := range l.Options {
			list = append(list, o.Number, o.Label)
		}
		got := fmt.Sprint(list, " at ", l.At)
		if l.Whole() {
			got += " whole"
		}
		if n := l.Focused(); n > 0 {
			got += fmt.Sprint(" focused ", n)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	if l := drawn.Numbered([]string{"▲", "1. x", "2. b"}, items, nil); !l.Whole() {
		t.Errorf("without an end: %+v", l)
	}
}

// TestExplain: below an option are the rest of its label and its description, up to the next one or to an end.
func TestExplain(t *testing.T) {
	rows := strings.Split("1. a | 2. b/ rest/   about//7. it/3. c/   about c//none", "/")
	l := drawn.Numbered(rows, items, nil)
	l.Explain(rows, drawn.Blank, func(head, label, row string) bool {
		return strings.Contains(head, label) && drawn.Indent(row) == 1
	})
	var got []string
	for _, o := range l.Options {
		got = append(got, o.Label+"="+strings.ReplaceAll(o.More, "\n", ","))
	}
	if want := "a= b rest=about,,7. it c=about c"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestUp: the nearest row upwards, and the texts of rows that aren't blank.
func TestUp(t *testing.T) {
	rows := []string{"x", "", " x ", ""}
	is := func(row string) bool { return strings.TrimSpace(row) == "x" }
	for from, want := range map[int]int{3: 2, 2: 2, 1: 0, 0: 0, -1: -1} {
		if got := drawn.Up(rows, from, is); got != want {
			t.Errorf("from %d: %d, want %d", from, got, want)
		}
	}
	if got := fmt.Sprint(drawn.Up(rows, 3, func(string) bool { return false }), drawn.Filled(rows)); got != "-1 [x x]" {
		t.Error(got)
	}
}
