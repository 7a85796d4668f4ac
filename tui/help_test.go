package tui

import (
	"os"
	"strings"
	"testing"

	"berth/agent"
)

// TestHelpIsInTheDocs: each key of the help page, in the list and on the Wall, is in a table of the docs.
func TestHelpIsInTheDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/dashboard.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows string
	for _, row := range strings.Split(string(text), "\n") {
		if cells := strings.Split(row, " | "); strings.HasPrefix(row, "| ") && len(cells) == 2 {
			rows += " " + strings.ToLower(strings.NewReplacer("`", " ", ",", " ", "\\|", "|").Replace(row)) + "\n"
		}
	}
	w := world(at("alpha", agent.Idle, 1))
	w.May, w.OwnCommand = Rights{"respond": true, "nudge": true, "new": true}, true
	for verb := range everything {
		w.May[verb] = true
	}
	for _, d := range actions() {
		w.May[d.verb] = true
	}
	m := started(80, 24, w)
	for _, where := range []string{"the list", "the Wall"} {
		keys := m.helpKeys()
		if len(keys) < 30 {
			t.Errorf("the help of %s has %d keys", where, len(keys))
		}
		for _, h := range keys {
			for _, key := range strings.Fields(strings.ToLower(h.key)) {
				each := []string{key}
				if key == "hjkl" || key == "jk" || key == "gg" {
					each = strings.Split(key, "")
				}
				for _, key := range each {
					if !strings.Contains(rows, " "+key+" ") && !strings.Contains(rows, " "+strings.ReplaceAll(key, "-", " - ")+" ") {
						t.Errorf("docs/dashboard.md has no row with %q (%s), which the help of %s has", key, h.does, where)
					}
				}
			}
		}
		press(m, noon, "W")
	}
}
