package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// phrase is wording that readers stumbled over.
type phrase struct {
	find  string // a regular expression, compared without regard to case; a blank matches a line's end too
	fine  string // a regular expression of wording that contains it and is plain English
	write string // what to write instead
}

// phrases is the only list of them. docs/writing.md has the rules that they break.
var phrases = []phrase{
	{find: `\b(of|by|for|in) which\b`, write: "two sentences: name the thing again in the second"},
	{find: `\b(is|are) no [a-z"'%]`, fine: `\bthere (is|are) no\b|\b(is|are) no (longer|more than|less|later)\b`, write: `"isn't a valid …", "isn't a …" or "has no …"`},
	{find: `\b(nobody|somebody|whoever|whomever)\b`, write: "the actor: no client, another client, the caller, a person"},
	{find: `\bso (long|often)\b`, write: `"for at most 5 s", "at most 3 times", "as long as"`},
	{find: `\bbehind\b`, fine: `\b(bytes?|chunks?|events?|MiB|KiB|lines?|far|falls?|fell|falling|fallen|left|lags?|run|runs) behind\b|\bbehind (a|the) (bastion|proxy|router|NAT)\b`, write: `"after"; a reader "falls behind", a host is "behind a proxy"`},
	{find: `\b(stands|stood)\b`, fine: `\bstands (for|alone)\b`, write: `"is"`},
	{find: `\btold\b`, fine: `\byou are told\b`, write: `"reported", "emitted", "logged", "said"`},
	{find: `\btells\b`, fine: `\btells \S+ apart\b|\btells: true\b`, write: `"reports", "shows", "says", "emits"`},
}

// TestWords checks comments, text in code and the pages for phrases that readers stumbled over.
func TestWords(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "*.go", "*.md", "*.service", "*.yaml").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		if strings.Contains(name, "testdata/") || name == "test/layout/words_test.go" {
			continue
		}
		for _, text := range texts(t, "../../"+name) {
			for _, p := range phrases {
				for _, f := range p.in(text.text) {
					t.Errorf("%s:%d: %q: write %s", name, text.line+f.line, f.words, p.write)
				}
			}
		}
	}
}

// TestWordsFinds: a phrase is found also across a line's end, and its plain uses are not.
func TestWordsFinds(t *testing.T) {
	for _, c := range []struct {
		text string
		want []int // lines
	}{
		{"a list, the first of\nwhich is empty", []int{0}},
		{"one\nX is no size", []int{1}},
		{"there is no size, and it is no longer known", nil},
		{"it falls behind", nil},
		{"behind it", []int{0}},
	} {
		var got []int
		for _, p := range phrases {
			for _, f := range p.in(c.text) {
				got = append(got, f.line)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: lines %v, want %v", c.text, got, c.want)
		}
	}
}

type finding struct {
	line  int // from the text's first
	words string
}

// in finds the phrase in a text of one or more lines.
func (p phrase) in(text string) []finding {
	if p.fine != "" {
		text = anyBlank(p.fine).ReplaceAllStringFunc(text, func(s string) string {
			return strings.Map(func(r rune) rune {
				if r == '\n' {
					return r
				}
				return ' '
			}, s)
		})
	}
	var found []finding
	for _, at := range anyBlank(p.find).FindAllStringIndex(text, -1) {
		found = append(found, finding{strings.Count(text[:at[0]], "\n"), strings.Join(strings.Fields(text[at[0]:at[1]]), " ")})
	}
	return found
}

var compiled = map[string]*regexp.Regexp{}

func anyBlank(expr string) *regexp.Regexp {
	if compiled[expr] == nil {
		compiled[expr] = regexp.MustCompile(`(?i)` + strings.ReplaceAll(expr, " ", `\s+`))
	}
	return compiled[expr]
}

// passage is a piece of prose: a page, a comment, or a string of code.
type passage struct {
	line int
	text string
}

func texts(t *testing.T, name string) []passage {
	if !strings.HasSuffix(name, ".go") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return []passage{{1, string(page)}}
	}
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var all []passage
	for _, group := range parsed.Comments {
		var lines []string
		for _, c := range group.List {
			lines = append(lines, strings.TrimLeft(c.Text, "/* \t"))
		}
		all = append(all, passage{files.Position(group.Pos()).Line, strings.Join(lines, "\n")})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, " ") {
			if lit.Value[0] == '"' {
				s = strings.ReplaceAll(s, "\n", " ") // all of it is on one line of the file
			}
			all = append(all, passage{files.Position(lit.Pos()).Line, s})
		}
		return true
	})
	return all
}
