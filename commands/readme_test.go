package commands

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeListsEveryVerb: the table of verbs in the README has each verb, and no other.
func TestReadmeListsEveryVerb(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "### Verbs")
	table, _, end := strings.Cut(after, "Answers are JSON")
	if !found || !end {
		t.Fatal("the README has no section of verbs")
	}
	_, table, _ = strings.Cut(table, "| see |")
	listed := map[string]bool{}
	for i, word := range strings.Split(table, "`") {
		if i%2 == 1 {
			listed[word] = true
		}
	}
	for _, name := range Names() {
		if !listed[name] {
			t.Errorf("the README doesn't list %s", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("the README lists %s, which isn't a verb", name)
	}
}
