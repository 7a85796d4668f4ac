package render

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"berth/agent"
)

// show draws lines with a letter for each tone that isn't plain.
func show(lines []Line) string {
	var b strings.Builder
	for _, l := range lines {
		if l.Margin {
			fmt.Fprintf(&b, "%d%c|", l.Number, l.Sign)
		}
		b.WriteString(l.Text() + "\n")
	}
	return b.String()
}

func join(lines []Line) string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Text())
	}
	return strings.Join(all, "\n")
}

func TestEditInItsFile(t *testing.T) {
	file := File{Known: true, Exists: true, Text: "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"}
	got := show(Change(agent.Change{File: "a.txt", Does: agent.Edits, Edits: []agent.Edit{{Old: "ve\nsix", New: "ve\nhalf\nsix!"}}}, file))
	want := "edit a.txt\n2 |two\n3 |three\n4 |four\n5=|five\n6-|six\n6+|half\n7+|six!\n8 |seven\n9 |eight\n10 |nine\nonly this text:\n0 |ve\n0-|six\n0+|half\n0+|six!\n"
	if got != want {
		t.Errorf("the edit is drawn as\n%s\nwant\n%s", got, want)
	}
	for _, c := range []struct {
		file File
		edit agent.Edit
		says string
	}{
		{File{}, agent.Edit{Old: "a", New: "b"}, "edit f\n0-|a\n0+|b\n"},
		{File{Known: true}, agent.Edit{Old: "a", New: "b"}, "there is no such file now"},
		{File{Known: true}, agent.Edit{New: "b"}, "edit f\n0+|b\n"},
		{File{Known: true, Exists: true, Text: "xyz"}, agent.Edit{Old: "a", New: "b"}, "does not have the old text now"},
		{File{Known: true, Exists: true, Text: "a a"}, agent.Edit{Old: "a", New: "b"}, "has the old text in 2 places"},
		{File{Known: true, Exists: true, Text: "a\na"}, agent.Edit{Old: "a", New: "b", Every: true}, "and so in 1 more places"},
		{File{Known: true, Exists: true, Text: "x\na"}, agent.Edit{Old: "a", New: ""}, "1 |x\n2-|a\n2+|\n"},
	} {
		if got := show(Change(agent.Change{File: "f", Does: agent.Edits, Edits: []agent.Edit{c.edit}}, c.file)); !strings.Contains(got, c.says) {
			t.Errorf("%+v of %+v is drawn as\n%s\nwithout %q", c.edit, c.file, got, c.says)
		}
	}
}

// TestPatchOfAFile: a patch replaces a file that is there by its new one, and an added line may end as the file's do.
func TestPatchOfAFile(t *testing.T) {
	for _, c := range []struct {
		does agent.Does
		file File
		want string
	}{
		{agent.Adds, File{}, ""},
		{agent.Adds, File{Known: true}, "a new file\n"},
		{agent.Adds, File{Known: true, Exists: true}, "replaces the file that is there\n"},
		{agent.Edits, File{Known: true, Exists: true, Text: "a\nb\r\nc\n"}, ""},
		{agent.Edits, File{Known: true, Exists: true, Text: "a\nb\r\n"}, "most lines of the file end in CR LF, so an added line may get a CR\n"},
	} {
		change := agent.Change{File: "f", Does: c.does, Patch: []agent.PatchLine{{Sign: '+', Text: "a"}}}
		if got, want := show(Change(change, c.file)), string(c.does)+" f\n"+c.want+"0+|a\n"; got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct {
		file File
		text string
		want string
	}{
		{File{}, "a\nb\n", "write f\n1+|a\n2+|b\n"},
		{File{Known: true}, "a", "write f\na new file\n1+|a\nno line end at the end of the file\n"},
		{File{Known: true, Exists: true, Text: "a\nb\nc\n"}, "a\nB\nc\n", "write f\nreplaces the file that is there\n1 |a\n2-|b\n2+|B\n3 |c\n"},
		{File{}, "", "write f\nan empty file\n"},
	} {
		if got := show(Change(agent.Change{File: "f", Does: agent.Writes, Text: &c.text}, c.file)); got != c.want {
			t.Errorf("%q is drawn as\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

// Whatever the file on disk holds, the lines that are added or kept are the whole new text.
func TestNoLineOfANewTextIsLeftOut(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString([]string{"a", "b", "", "c d", "+", "-"}[r.IntN(6)] + "\n")
		}
		return b.String()
	}
	for range 5000 {
		was, is := text(), text()
		var kept, gone strings.Builder
		for _, l := range Change(agent.Change{File: "f", Does: agent.Writes, Text: &is}, File{Known: true, Exists: true, Text: was}) {
			if l.Margin && l.Sign != '-' {
				kept.WriteString(l.Text() + "\n")
			}
			if l.Margin && l.Sign != '+' {
				gone.WriteString(l.Text() + "\n")
			}
		}
		if kept.String() != is || gone.String() != was {
			t.Fatalf("from %q to %q: the lines say from %q to %q", was, is, gone.String(), kept.String())
		}
	}
}

// Commands and Markdown lose no character, and code in a quoted text is seen as code.
func TestTextsAreWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	parts := []string{"\\", "\"", "'", "$(", ")", "`", "#", " ", "\n", "a", "日", "$x", "${y}", "|", "&&", "**", "# ", "- ", "```", "~~~", "\t", "\xff", "$", "1. ", "> ", "---"}
	for range 20000 {
		var b strings.Builder
		for range r.IntN(14) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		if got := join(Shell(b.String())); got != b.String() {
			t.Fatalf("the command %q is drawn as %q", b.String(), got)
		}
		if got := join(Markdown(b.String())); got != b.String() {
			t.Fatalf("the text %q is drawn as %q", b.String(), got)
		}
	}
	tones := map[string]Tone{}
	for _, l := range Shell("echo \"a $(rm -rf x) b\" 'c | d' | tee $HOME/x # done; rm") {
		for _, s := range l.Spans {
			tones[s.Text] = s.Tone
		}
	}
	for text, tone := range map[string]Tone{"$(": Operator, "'c | d'": Quoted, "|": Operator, "$HOME": Accent, "# done; rm": Faint, "\"a ": Quoted} {
		if tones[text] != tone {
			t.Errorf("%q has tone %d, want %d; all: %v", text, tones[text], tone, tones)
		}
	}
}

func TestMarkdownTones(t *testing.T) {
	tones := map[string]Tone{}
	for _, l := range Markdown("## Steps\n1. run `make x` and **then** stop\n```sh\nrm -rf **\n```\nsrc/**/x and lib/**/y") {
		for _, s := range l.Spans {
			tones[s.Text] = s.Tone
		}
	}
	for text, tone := range map[string]Tone{"Steps": Strong, "1. ": Accent, "make x": Quoted, "then": Strong, "rm -rf **": Quoted} {
		if tones[text] != tone {
			t.Errorf("%q has tone %d, want %d; all: %v", text, tones[text], tone, tones)
		}
	}
}

// Two different edits never give the same lines, whatever the file has around them.
func TestEditsDiffer(t *testing.T) {
	file := File{Known: true, Exists: true, Text: "safe: true\nnext\n"}
	seen := map[string]agent.Edit{}
	for _, e := range []agent.Edit{
		{Old: "true", New: "false"}, {Old: "safe: true", New: "safe: false"}, {Old: "safe: true\n", New: "safe: false\n"},
		{Old: "safe: true\nnext", New: "safe: false\nnext"}, {Old: "safe: true\nnext\n", New: "safe: false\nnext\n"},
	} {
		got := show(Change(agent.Change{File: "f", Does: agent.Edits, Edits: []agent.Edit{e}}, file))
		if other, same := seen[got]; same {
			t.Errorf("%+v is drawn like %+v:\n%s", e, other, got)
		}
		seen[got] = e
	}
}

// Two different arguments never give the same lines.
func TestArgumentsDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, raw := range []string{
		`{"a":1}`, `{"a":"1"}`, `{"a":"\"1\""}`, `{"a":"true"}`, `{"a":true}`, `{"a":null}`, `{"a":"null"}`, `{"a":""}`, `{"a":" "}`,
		`{"a":"b: c"}`, `{"a: b":"c"}`, `{"a":"x\ny"}`, `{"a":"x","y":"z"}`, `{"a":"x\ny: z"}`, `{"a\nb":"x"}`, `{"a":{"b":1}}`, `{"a":"{\n  \"b\": 1\n}"}`,
		`{"":"p\nq","  x":"1z"}`, `{"":"p\nq\nx: 1z"}`, `{"a":["x"]}`, `{"a":"[x]"}`, `{"a":{}}`, `{"a":[]}`, `{}`,
		`{"a":" x\ny"}`, `{"a":"\" x\ny\""}`, `{"a":" x\\ny"}`, `{"a":{"b":"x\ny"}}`, `{"a":{"b":"x\\ny"}}`, `{"a":"{\n  \"b\": \"x\ny\"\n}"}`,
	} {
		var in agent.Input
		if err := json.Unmarshal([]byte(raw), &in); err != nil {
			t.Fatal(err)
		}
		got := join(Arguments(in))
		if other, same := seen[got]; same {
			t.Errorf("%s is drawn like %s:\n%s", raw, other, got)
		}
		seen[got] = raw
	}
}

// What fits on a line isn't pushed off a small screen by a body of many.
func TestShortArgumentsFirst(t *testing.T) {
	in := agent.Input{"body": json.RawMessage(`"one\ntwo"`), "repo": json.RawMessage(`"shop"`), "as": json.RawMessage(`"draft"`)}
	if got, want := join(Arguments(in)), "as: draft\nrepo: shop\nbody:\n  one\n  two"; got != want {
		t.Errorf("drawn as\n%s\nwant\n%s", got, want)
	}
}

// A line end in a quoted text is drawn as one, and a backslash stays one.
func TestLineEndsAreDrawn(t *testing.T) {
	for raw, want := range map[string]string{
		`{"edits":[{"old":"a\nb \\n","new":"c\td\n"}]}`: "edits:\n  [\n    {\n      \"old\": \"a\n  b \\\\n\",\n      \"new\": \"c\\td\n  \"\n    }\n  ]",
		`{"body":"one\n\ntwo\n"}`:                       "body:\n  \"one\n\n  two\n  \"",
	} {
		var in agent.Input
		if err := json.Unmarshal([]byte(raw), &in); err != nil {
			t.Fatal(err)
		}
		if got := join(Arguments(in)); got != want {
			t.Errorf("%s is drawn as\n%s\nwant\n%s", raw, got, want)
		}
	}
}
