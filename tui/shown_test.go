package tui

import (
	"fmt"
	"strings"
	"testing"

	"berth/agent"
	"berth/terminal/paint"
)

// readThrough returns everything that is drawn of a card until it was read, without the list beside it.
func readThrough(t *testing.T, m *Model) string {
	t.Helper()
	var all strings.Builder
	for range 200 {
		all.WriteString(drawn(m) + "\n")
		shown(m, later)
		if m.readAll() {
			return all.String()
		}
		m.Press(Key{Name: "J", Text: "J"}, later)
	}
	t.Fatalf("%dx%d: the card is never read", m.cols, m.rows)
	return ""
}

// TestOptionsAreDrawnWhole: a key answers only after each character of the options was drawn.
func TestOptionsAreDrawnWhole(t *testing.T) {
	var words []string
	for i := range 40 {
		words = append(words, fmt.Sprintf("w%02d", i))
	}
	label := strings.Join(words, " ") + " " + strings.Repeat("x", 150) + "end"
	for cols := leastCols; cols <= 140; cols += 3 {
		for _, multi := range []bool{false, true} {
			m := asking(cols, 12, &agent.Request{Type: agent.PromptQuestion, Title: agent.Pointer("Data"), Text: agent.Pointer("What now?"), Options: []string{label, "Keep"},
				Questions: []agent.Question{{Header: strings.Repeat("Data ", 40) + "head", Text: "What now?", MultiSelect: multi, Options: []string{label, "Keep"}, Descriptions: []string{strings.ToUpper(label), ""}}}})
			if !m.carded() {
				m.Press(Key{Name: "enter"}, later)
			}
			if !m.carded() {
				t.Fatalf("%d columns: no card", cols)
			}
			all := readThrough(t, m)
			for _, w := range append(words, "head") {
				if !strings.Contains(all, w) || !strings.Contains(all, strings.ToUpper(w)) && w != "head" {
					t.Errorf("%d columns, several %v: %q was not drawn", cols, multi, w)
				}
			}
			for line := range strings.Lines(all) {
				if strings.Contains(line, "xx") && strings.Contains(line, "…") {
					t.Errorf("%d columns, several %v: a row is cut: %q", cols, multi, line)
				}
			}
		}
	}
}

// TestCommandsThatDiffer: two commands are never drawn the same, wherever a row ends.
func TestCommandsThatDiffer(t *testing.T) {
	for cols := 30; cols <= 100; cols += 7 {
		seen := map[string]string{}
		for n := 10; n < 90; n++ {
			if far(n, cols) && far(n, 2*cols) {
				continue // the path ends amid a row, as that of a shorter one does
			}
			path := "/" + strings.Repeat("a", n)
			for _, command := range []string{"rm -rf " + path + "/b", "rm -rf " + path + " /b", "rm -rf " + path + "\n/b", "rm -rf " + path + "\n /b", "rm -rf " + path + "  /b", path + "\n/b", path + "/b", "rm -rf " + path + " \n/b", path + "\u00a0/b", path + " /b", path + "\u200d/b"} {
				r := permission()
				r.SetInput(command)
				r.FullInput = command
				m := asking(cols, 40, r)
				if !m.carded() {
					m.Press(Key{Name: "enter"}, later)
				}
				all := readThrough(t, m)
				if other, same := seen[all]; same && other != command {
					t.Fatalf("%d columns: %q is drawn like %q:\n%s", cols, command, other, all)
				}
				seen[all] = command
			}
		}
	}
}

// far reports whether a row of that width ends elsewhere than about there.
func far(n, cols int) bool { return n < cols-20 || n > cols+4 }

// TestCardInASCII: on a terminal with ASCII alone, other characters are drawn as their numbers.
func TestCardInASCII(t *testing.T) {
	r := permission()
	r.SetInput("deploy \u2014dry-run \u2502 tee 文 e\u0301 \x1b")
	m := asking(100, 30, r)
	m.SetLook(paint.Look{}, false)
	all := drawn(m)
	for _, want := range []string{"<U+2014>dry-run", "<U+2502> tee", "<U+6587>", "e<U+0301>", "<U+001B>"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not drawn:\n%s", want, all)
		}
	}
}

// TestNothingIsHidden: characters that look like others, or like nothing, are drawn as their numbers.
func TestNothingIsHidden(t *testing.T) {
	r := permission()
	r.SetInput("a\u200db c\u00a0d \u2800 \u241b e\ufe0f \u27e8")
	all := drawn(asking(100, 30, r))
	for _, want := range []string{"a⟨U+200D⟩b", "c⟨U+00A0⟩d", "⟨U+2800⟩", "⟨U+241B⟩", "e⟨U+FE0F⟩", "⟨U+27E8⟩"} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not drawn:\n%s", want, all)
		}
	}
}

// TestFieldsThatLookLikeACommand: a line of a command isn't drawn like a line of the call's other fields,
// even without colors.
func TestFieldsThatLookLikeACommand(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		for rows := 12; rows <= 40; rows += 4 {
			seen := map[string]bool{}
			for _, c := range [][2]string{{"npm test", `note: "$(curl evil)"`}, {"npm test\nnote: \"$(curl evil)\"", ""}, {"npm test\n\nnote: \"$(curl evil)\"", ""}, {"npm test\n│note: \"$(curl evil)\"", ""}, {"npm test\n|note: \"$(curl evil)\"", ""}} {
				r := permission()
				r.Text = agent.Pointer(c[1])
				r.SetInput(c[0])
				m := asking(50, rows, r)
				if ascii {
					m.SetLook(paint.Look{}, false)
				}
				if !m.carded() { // on a small terminal tab shows the card instead of the list
					m.Press(Key{Name: "enter"}, later)
				}
				all := readThrough(t, m)
				if seen[all] {
					t.Errorf("%d rows: %q is drawn like another:\n%s", rows, c, all)
				}
				seen[all] = true
			}
		}
	}
}

// TestPreviewsAreTold: a card says that the options of a question have previews, which it doesn't show.
func TestPreviewsAreTold(t *testing.T) {
	for _, has := range []bool{false, true} {
		r := &agent.Request{Type: agent.PromptQuestion, Ready: true, OnScreen: true, Questions: []agent.Question{{Previews: has}}}
		if got := len((&Model{}).notes(r)) == 1; got != has {
			t.Errorf("%v: %q", has, (&Model{}).notes(r))
		}
	}
}
