package tui

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/render"
	"berth/sessions"
)

// some is a text of at most n parts.
func some(r *rand.Rand, n int, parts ...string) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(parts[r.IntN(len(parts))])
	}
	return b.String()
}

// differ fails if two different subjects have the same rows. A person sees no blanks at a row's end.
func differ(t *testing.T, n, width int, next func(*rand.Rand) (subject string, rows []string)) {
	t.Helper()
	r, seen := rand.New(rand.NewPCG(uint64(width), 9)), map[string]string{}
	for range n {
		subject, rows := next(r)
		var all strings.Builder
		for _, row := range rows {
			all.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		if other, same := seen[all.String()]; same && other != subject {
			t.Fatalf("%d columns: %q is drawn like %q:\n%s", width, subject, other, all.String())
		}
		seen[all.String()] = subject
	}
}

// Two texts never have the same rows, wherever their words, blanks and lines end.
func TestRowsOfTextsDiffer(t *testing.T) {
	m := askingFor(t, 80, 24, "Bash", map[string]any{"command": "x"})
	for _, two := range [][2]string{
		{"xbbbbbbbbb b: ", "xbbbbbbbbb\nb: "}, {"aaaaaaaaa a\naaaaaaaaaaaa", "aaaaaaaaa\na\naaaaaaaaaaaa"}, {"aaaaaa a\tbbbb", "aaaaaa\na\tbbbb"},
		{"a  aaaaaaaaaaaa", "a  aaaaaaaaaaa a"}, {"    aaaaaaaaaaaa", "\naaaaaaaaaaaa"}, {"  aaaaaaaaaa  ", "  aaaaaaaaaa "}, {"a\n \naaaaaaaaaaaa", "a  \naaaaaaaaaaaa"},
	} {
		for width := 6; width < 24; width++ {
			one, other := strings.Join(m.lay(two[0], width), "\n"), strings.Join(m.lay(two[1], width), "\n")
			if one == other {
				t.Errorf("%d columns: %q is drawn like %q:\n%s", width, two[0], two[1], one)
			}
		}
	}
	for _, width := range []int{6, 9, 12, 13, 20} {
		differ(t, 20000, width, func(r *rand.Rand) (string, []string) {
			text := some(r, 6, strings.Repeat("a", 1+r.IntN(width+2)), strings.Repeat("a", width-r.IntN(3)), " ", "  ", "   ", "\n", "\t", "日", "\u200b")
			return text, m.lay(text, width)
		})
	}
}

// Two subjects never have the same rows, whatever the file on disk has.
func TestRowsOfSubjectsDiffer(t *testing.T) {
	m := askingFor(t, 80, 24, "Bash", map[string]any{"command": "x"})
	change := func(c agent.Change) agent.Subject { return agent.Subject{Changes: []agent.Change{c}} }
	for name, next := range map[string]func(*rand.Rand) (agent.Subject, string){
		"patch": func(r *rand.Rand) (agent.Subject, string) {
			c := agent.Change{Does: agent.Edits, File: some(r, 2, "f", " ", "+", "aaa")}
			for range r.IntN(4) {
				c.Patch = append(c.Patch, agent.PatchLine{Sign: "+- @"[r.IntN(4)], Text: some(r, 3, "a", " ", "bbbb")})
			}
			return change(c), ""
		},
		"edit": func(r *rand.Rand) (agent.Subject, string) {
			e := agent.Edit{Old: some(r, 3, "a", "\n", "b"), New: some(r, 4, "a", "\n", "b", "aaaa", " ")}
			return change(agent.Change{Does: agent.Edits, File: "f", Edits: []agent.Edit{e}}), some(r, 5, "a", "\n", "b")
		},
		"write": func(r *rand.Rand) (agent.Subject, string) {
			text := some(r, 5, "a", "\n", "b", " ", "bbb")
			return change(agent.Change{Does: agent.Writes, File: "f", Text: &text}), some(r, 5, "a", "\n", "b")
		},
		"arguments": func(r *rand.Rand) (agent.Subject, string) {
			in := agent.Input{}
			for range 1 + r.IntN(3) {
				value := any(some(r, 4, "a", " ", "\n", ":", "b", "1", "\"", "  "))
				switch r.IntN(4) {
				case 0:
					value = []any{value, 1}
				case 1: // a text that looks like another value
					like := render.Value([]byte(fmt.Sprintf("%q", "\""+value.(string))))
					value = ""
					for i, l := range like {
						value = value.(string) + map[bool]string{true: "\n"}[i > 0] + l.Text()
					}
				}
				in[some(r, 3, "a", " ", ":", "b", "\n", "\"")], _ = json.Marshal(value) // never fails
			}
			return agent.Subject{Arguments: in}, ""
		},
		"command": func(r *rand.Rand) (agent.Subject, string) {
			in := agent.Input{}
			if r.IntN(2) == 0 {
				in["a"], _ = json.Marshal(some(r, 3, "a", " ", "\n")) // never fails
			}
			return agent.Subject{Command: "x" + some(r, 6, "a", " ", "\n", "bbb", "\t", ": "), Arguments: in}, ""
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, width := range []int{8, 11, 20, 60} {
				differ(t, 6000, width, func(r *rand.Rand) (string, []string) {
					about, text := next(r)
					m.card.files = []render.File{{Known: text != "", Exists: true, Text: text}}
					var rows []string
					for _, l := range m.subject(&sessions.Status{Subject: &about}, &agent.Request{}, width) {
						rows = append(rows, map[bool]string{true: "│"}[l.rail]+l.text)
					}
					subject, _ := json.Marshal(about) // never fails
					return string(subject), rows
				})
			}
		})
	}
}

// With blanks as a margin, the rest of a long line would look like an unchanged line.
func TestRestOfALongLine(t *testing.T) {
	m := askingFor(t, 80, 24, "Bash", map[string]any{"command": "x"})
	patch := func(lines ...agent.PatchLine) string {
		var all []string
		for _, l := range m.laid(render.Change(agent.Change{Does: agent.Edits, File: "f", Patch: lines}, render.File{}), 14) {
			all = append(all, l.text)
		}
		return strings.Join(all, "\n")
	}
	if one, two := patch(agent.PatchLine{Sign: '+', Text: "exec true; reboot"}), patch(agent.PatchLine{Sign: '+', Text: "exec true;"}, agent.PatchLine{Sign: ' ', Text: "reboot"}); one == two {
		t.Errorf("one line is drawn like two:\n%s", one)
	}
}

// A form's card shows which field has which default, for accept sends them.
func TestFieldsThatDiffer(t *testing.T) {
	m := askingFor(t, 80, 24, "Bash", map[string]any{"command": "x"})
	drawn := func(schema string, width int) string {
		r := &agent.Request{Type: agent.PromptForm, Schema: json.RawMessage(schema)}
		var all []string
		for _, l := range m.asked(&sessions.Status{}, r, width, true) {
			all = append(all, map[bool]string{true: "│"}[l.rail]+l.text)
		}
		return strings.Join(all, "\n")
	}
	two := `{"properties":{"a":{"type":"boolean","title":"Wipe","default":false},"b":{"type":"boolean","title":"Greet","default":true}}}`
	for width := 12; width < 60; width++ {
		for _, one := range []string{
			`{"properties":{"a":{"type":"boolean","title":"Wipe, default false\n· Greet","default":true}}}`,
			`{"properties":{"a":{"type":"boolean","title":"Wipe, default false · Greet","default":true}}}`,
			`{"properties":{"a":{"type":"boolean","title":"Wipe","default":false},"b":{"type":"boolean","title":"Greet, default true"}}}`,
		} {
			if drawn(one, width) == drawn(two, width) {
				t.Errorf("%d columns: %s is drawn like %s:\n%s", width, one, two, drawn(one, width))
			}
		}
	}
	unread := `{"properties":{"a":{"type":["boolean"],"title":"Wipe","default":true}}}`
	if got := drawn(unread, 100); !strings.Contains(got, unread) {
		t.Errorf("a schema that can't be read is drawn as\n%s", got)
	}
}

// A description below an option isn't drawn like the rest of a long label.
func TestDescriptionsDiffer(t *testing.T) {
	m := askingFor(t, 80, 24, "Bash", map[string]any{"command": "x"})
	drawn := func(label, about string) string {
		r := &agent.Request{Type: agent.PromptQuestion, Questions: []agent.Question{{Text: "How?", Options: []string{label}, Descriptions: []string{about}}}}
		var all []string
		for _, l := range m.choices(r, 14) {
			all = append(all, map[bool]string{true: "│"}[l.rail]+l.key+l.mark+l.text)
		}
		return strings.Join(all, "\n")
	}
	if one, two := drawn("Keep all or remove", ""), drawn("Keep all", "or remove"); one == two {
		t.Errorf("a label is drawn like a shorter one with a description:\n%s", one)
	}
}

// TestLongLine: a row costs the same however much of its line follows. A file of one line, such as
// minified code, has 1 MiB.
func TestLongLine(t *testing.T) {
	m := started(80, 24, world())
	from := processor(t)
	rows := m.lay(strings.Repeat("x", 1<<20), 40)
	if took := processor(t) - from; took > 4*time.Second || strings.Join(rows, "") != strings.Repeat("x", 1<<20) {
		t.Errorf("%d rows took %v of processor time", len(rows), took)
	}
}
