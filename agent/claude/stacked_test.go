package claude_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"berth/agent"
)

// stackedRows is the height of a screen with room for two dialogs.
const stackedRows = 120

// drawings are the recorded screens of that width, by name, whose dialogs are read whole.
func drawings(t *testing.T, cols int) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	add := func(name string, data []byte) {
		text := strings.TrimRight(string(data), "\n")
		if r := draw(cols, stackedRows, text); r.Dialog != nil && !r.Dialog.Cut && !r.Dialog.Partial {
			all[name] = strings.Split(text, "\n")
		}
	}
	for _, file := range []string{"screens.txtar", "sizes.txtar"} {
		data, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range txtar.Parse(data).Files {
			if strings.HasPrefix(f.Name, "form_") && f.Name != "form_size_list" && f.Name != "form_accept" {
				continue // the same form, with other values
			}
			if file == "screens.txtar" && cols == 120 || strings.Contains(f.Name, fmt.Sprintf(" %dx", cols)) {
				add(f.Name, f.Data)
			}
		}
	}
	return all
}

// TestStackedDialogs: a process of the session can draw a dialog above the one that Claude Code asks. What is read
// then is the lower one, or it takes no keys. Each dialog that was recorded is drawn above each other one.
func TestStackedDialogs(t *testing.T) {
	for cols, least := range map[int]int{80: 10, 120: 25, 200: 10} {
		all, read := drawings(t, cols), 0
		for upper, above := range all {
			for lower, below := range all {
				d := draw(cols, stackedRows, strings.Join(slices.Concat(above, []string{""}, below), "\n")).Dialog
				if d == nil || d.Cut || d.Partial {
					continue
				}
				read++
				if got, want := identity(d), identity(draw(cols, stackedRows, strings.Join(below, "\n")).Dialog); got != want {
					t.Errorf("%d columns: %s above %s is read as\n%s\nwant\n%s", cols, upper, lower, got, want)
				}
			}
		}
		t.Logf("%d columns: %d dialogs, %d stacks are read", cols, len(all), read)
		if len(all) < least || read < len(all) {
			t.Errorf("%d columns: only %d dialogs, only %d stacks are read", cols, len(all), read)
		}
	}
}

// identity is what a dialog asks.
func identity(d *agent.Dialog) string {
	return fmt.Sprintf("%s %s %s of %q, %q: %q %q %q, tabs %q, confirms %t, options %q, fields %v",
		d.Type, d.Subtype, d.Tool, d.Agent, d.Title, d.Body, d.Asked, d.Question, d.Tabs, d.Confirm, d.Labels(), d.Fields)
}
