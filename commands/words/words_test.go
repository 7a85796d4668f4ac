package words

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"", nil},
		{" \t ", nil},
		{"ls", []string{"ls"}},
		{"  state   alpha\tbeta ", []string{"state", "alpha", "beta"}},
		{`say ""`, []string{"say", ""}},
		{`say '' x`, []string{"say", "", "x"}},
		{`a 'b c' "d e"`, []string{"a", "b c", "d e"}},
		{`'it'\''s'`, []string{"it's"}},
		{`a"b"'c'\d`, []string{"abcd"}},
		{`"a\"b\\c\$d\` + "`" + `e\x\n"`, []string{`a"b\c$d` + "`" + `e\x\n`}},
		{`'a\b"c'`, []string{`a\b"c`}},
		{`a\ b \\ \" \'`, []string{"a b", `\`, `"`, `'`}},
		{"a\\\nb \"c\\\nd\" \\\n e", []string{"ab", "cd", "e"}},
		{"$HOME ~ *.go ; $(id) #x `id` | & > {a,b} !!", []string{"$HOME", "~", "*.go", ";", "$(id)", "#x", "`id`", "|", "&", ">", "{a,b}", "!!"}},
		{`"$HOME *"`, []string{"$HOME *"}},
		{"grüße 🦀 “x”", []string{"grüße", "🦀", "“x”"}},
		{"a\nb\r\nc", []string{"a", "b", "c"}},
	}
	for _, tt := range tests {
		got, err := Split(tt.line)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Split(%q) = %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
}

func TestSplitNamesWhereItIsWrong(t *testing.T) {
	tests := []struct {
		line     string
		position int
		reason   string
	}{
		{`a 'b c`, 3, "single quote"},
		{`ab "c d`, 4, "double quote"},
		{`don't stop`, 4, "single quote"},
		{`"a\"`, 1, "double quote"},
		{`a b\`, 4, "backslash"},
		{`"a'b" 'c"d`, 7, "single quote"},
	}
	for _, tt := range tests {
		words, err := Split(tt.line)
		var e *Error
		if !errors.As(err, &e) || e.Position != tt.position || !strings.Contains(e.Reason, tt.reason) || words != nil {
			t.Errorf("Split(%q) = %q, %v, want %s at %d", tt.line, words, err, tt.reason, tt.position)
		}
	}
}

var input = Spec{Options: []Option{
	{Name: "enter", Short: 'e'}, {Name: "lease", TakesValue: true}, {Name: "takeover"},
	{Name: "wait-lock", Short: 'w', TakesValue: true}, {Name: "json"},
}}

var respond = Spec{Options: []Option{{Name: "prompt", TakesValue: true}, {Name: "json"}}, Lead: 1}

func TestParseTail(t *testing.T) {
	args := func(words ...string) []string { return words }
	tests := []struct {
		line string
		spec Spec
		want Parsed
	}{
		// What a person typed to OpenSSH, and what arrives (in the comment: typed).
		{`nudge alpha fix the "login" bug`, input, Parsed{Verb: "nudge", Session: "alpha", Tail: `fix the "login" bug`, HasTail: true}}, // "fix the \"login\" bug"
		{`nudge alpha 'two  spaces'`, input, Parsed{Verb: "nudge", Session: "alpha", Tail: "two  spaces", HasTail: true}},               // "'two  spaces'"
		{`nudge a it's`, input, Parsed{Verb: "nudge", Session: "a", Tail: "it's", HasTail: true}},                                       // "it's"
		{`nudge a `, input, Parsed{Verb: "nudge", Session: "a"}},                                                                        // ""
		{`nudge a $HOME ~ *.go ; $(id) #x`, input, Parsed{Verb: "nudge", Session: "a", Tail: "$HOME ~ *.go ; $(id) #x", HasTail: true}},
		{`input demo it's  two  spaces`, input, Parsed{Verb: "input", Session: "demo", Tail: "it's  two  spaces", HasTail: true}},

		{`input demo --enter "ls"`, input, Parsed{Verb: "input", Session: "demo", Args: args("--enter"), Tail: "ls", HasTail: true}},
		{`input --lease 3 demo -- --x`, input, Parsed{Verb: "input", Session: "demo", Args: args("--lease", "3"), Tail: "--x", HasTail: true}},
		{`input --lease=3 demo --enter --wait-lock "10 s" x`, input, Parsed{Verb: "input", Session: "demo", Args: args("--lease=3", "--enter", "--wait-lock", "10 s"), Tail: "x", HasTail: true}},
		{`input --wait-lock="10 s" 'demo' x`, input, Parsed{Verb: "input", Session: "demo", Args: args("--wait-lock=10 s"), Tail: "x", HasTail: true}},
		{`input -ew 5s demo x`, input, Parsed{Verb: "input", Session: "demo", Args: args("-ew", "5s"), Tail: "x", HasTail: true}},
		{`input -w5s -e demo x`, input, Parsed{Verb: "input", Session: "demo", Args: args("-w5s", "-e"), Tail: "x", HasTail: true}},
		{`input -- demo --enter`, input, Parsed{Verb: "input", Session: "demo", Tail: "--enter", HasTail: true}},
		{`input demo -- -- x`, input, Parsed{Verb: "input", Session: "demo", Tail: "-- x", HasTail: true}},
		{`input demo -- text --enter`, input, Parsed{Verb: "input", Session: "demo", Tail: "text --enter", HasTail: true}},
		{`input demo 'text --enter'`, input, Parsed{Verb: "input", Session: "demo", Tail: "text --enter", HasTail: true}},
		{`input demo use "--enter" and --entering`, input, Parsed{Verb: "input", Session: "demo", Tail: `use "--enter" and --entering`, HasTail: true}},
		{`input demo npm test --silent -w`, Spec{Options: input.Options[:1]}, Parsed{Verb: "input", Session: "demo", Tail: "npm test --silent -w", HasTail: true}},
		{`input --enter demo --takeover x`, input, Parsed{Verb: "input", Session: "demo", Args: args("--enter", "--takeover"), Tail: "x", HasTail: true}},
		{`input demo '--enter'`, input, Parsed{Verb: "input", Session: "demo", Tail: "--enter", HasTail: true}},
		{`input demo -`, input, Parsed{Verb: "input", Session: "demo", HasTail: true, Stdin: true}},
		{`input demo --enter -- - `, input, Parsed{Verb: "input", Session: "demo", Args: args("--enter"), HasTail: true, Stdin: true}},
		{`input demo '-'`, input, Parsed{Verb: "input", Session: "demo", Tail: "-", HasTail: true}},
		{`input demo - one`, input, Parsed{Verb: "input", Session: "demo", Tail: "- one", HasTail: true}},
		{`input demo ""`, input, Parsed{Verb: "input", Session: "demo", HasTail: true}},
		{"input demo \t a\n\n  b \n", input, Parsed{Verb: "input", Session: "demo", Tail: "a\n\n  b", HasTail: true}},
		{`input demo 'a' and 'b'`, input, Parsed{Verb: "input", Session: "demo", Tail: `'a' and 'b'`, HasTail: true}},
		{`input demo 'a'b'c'`, input, Parsed{Verb: "input", Session: "demo", Tail: `'a'b'c'`, HasTail: true}},
		{`input demo 'it'\''s'`, input, Parsed{Verb: "input", Session: "demo", Tail: `it's`, HasTail: true}},
		{`input demo 'it'"'"'s  so'`, input, Parsed{Verb: "input", Session: "demo", Tail: `it's  so`, HasTail: true}},
		{`input demo "a \"b\" \n"`, input, Parsed{Verb: "input", Session: "demo", Tail: `a "b" \n`, HasTail: true}},
		{`input demo "a`, input, Parsed{Verb: "input", Session: "demo", Tail: `"a`, HasTail: true}},
		{`input demo a\`, input, Parsed{Verb: "input", Session: "demo", Tail: `a\`, HasTail: true}},
		{`input demo grüße  🦀`, input, Parsed{Verb: "input", Session: "demo", Tail: "grüße  🦀", HasTail: true}},
		{`input`, input, Parsed{Verb: "input"}},
		{`input --enter`, input, Parsed{Verb: "input", Args: args("--enter")}},
		{``, input, Parsed{}},

		{`respond alpha deny no, use the  other one`, respond, Parsed{Verb: "respond", Session: "alpha", Lead: args("deny"), Tail: "no, use the  other one", HasTail: true}},
		{`respond alpha --prompt P-1 deny don't`, respond, Parsed{Verb: "respond", Session: "alpha", Args: args("--prompt", "P-1"), Lead: args("deny"), Tail: "don't", HasTail: true}},
		{`respond alpha accept`, respond, Parsed{Verb: "respond", Session: "alpha", Lead: args("accept")}},
		{`respond alpha deny --prompt P-1 is bad`, respond, Parsed{Verb: "respond", Session: "alpha", Args: args("--prompt", "P-1"), Lead: args("deny"), Tail: "is bad", HasTail: true}},
		{`respond alpha accept --prompt P-1`, respond, Parsed{Verb: "respond", Session: "alpha", Args: args("--prompt", "P-1"), Lead: args("accept")}},
		{`respond alpha deny -- --prompt is bad`, respond, Parsed{Verb: "respond", Session: "alpha", Lead: args("deny"), Tail: "--prompt is bad", HasTail: true}},
		{`respond alpha -- deny -- --prompt is bad`, respond, Parsed{Verb: "respond", Session: "alpha", Lead: args("deny"), Tail: "-- --prompt is bad", HasTail: true}},
		{`respond alpha text --prompt P-1 -`, respond, Parsed{Verb: "respond", Session: "alpha", Args: args("--prompt", "P-1"), Lead: args("text"), HasTail: true, Stdin: true}},
		{`start alpha startup --run gh pr list --run`, Spec{Options: []Option{{Name: "run", Argv: true}}, Lead: 1}, Parsed{Verb: "start", Session: "alpha", Args: args("--run"), Lead: args("startup"), Tail: "gh pr list --run", HasTail: true}},
		{`respond alpha -`, respond, Parsed{Verb: "respond", Session: "alpha", HasTail: true, Stdin: true}},
		{`respond alpha text -`, respond, Parsed{Verb: "respond", Session: "alpha", Lead: args("text"), HasTail: true, Stdin: true}},
		{`report complete all  done`, Spec{NoSession: true, Lead: 1}, Parsed{Verb: "report", Lead: args("complete"), Tail: "all  done", HasTail: true}},

		{`["input","demo","--enter","it's  two"]`, input, Parsed{Verb: "input", Session: "demo", Args: args("--enter"), Tail: "it's  two", HasTail: true}},
		{` ["input","demo","'a'","b"] `, input, Parsed{Verb: "input", Session: "demo", Tail: "'a' b", HasTail: true}},
		{`["input","demo","--"," --x\n"]`, input, Parsed{Verb: "input", Session: "demo", Tail: " --x\n", HasTail: true}},
		{`["input","demo","use --enter now"]`, input, Parsed{Verb: "input", Session: "demo", Tail: "use --enter now", HasTail: true}},
		{`["input","demo","--","x","--enter"]`, input, Parsed{Verb: "input", Session: "demo", Tail: "x --enter", HasTail: true}},
		{`["input","demo",""]`, input, Parsed{Verb: "input", Session: "demo", HasTail: true}},
		{`["input","demo","-"]`, input, Parsed{Verb: "input", Session: "demo", HasTail: true, Stdin: true}},
		{`["respond","a","answer","1=2 2=1,3"]`, respond, Parsed{Verb: "respond", Session: "a", Lead: args("answer"), Tail: "1=2 2=1,3", HasTail: true}},
		{`[]`, input, Parsed{}},
		{`["input",null] x`, input, Parsed{Verb: "[input,null]", Session: "x"}},
	}
	for _, tt := range tests {
		got, err := ParseTail(tt.line, tt.spec)
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("ParseTail(%q)\n got %+v, %v\nwant %+v", tt.line, got, err, tt.want)
		}
	}
}

func TestParseTailRefuses(t *testing.T) {
	tests := []struct {
		line     string
		position int
		reason   string
	}{
		{`input --what demo x`, 7, "--what"},
		{`input demo --what x`, 12, "put `--` before text"},
		{`input demo the text --enter`, 21, "option --enter is after the text: put --enter before the text, or `--` before"},
		{`input demo the text --lease=4 more`, 21, "put --lease before the text"},
		{`input demo the text -e`, 21, "put -e before"},
		{`input demo - --enter`, 14, "put --enter before"},
		{`input demo 'the text' --enter`, 23, "put --enter before"},
		{"input demo one\n  --enter", 18, "put --enter before"},
		{`["input","demo","the text","--enter"]`, 0, "put --enter before"},
		{`input demo -5 degrees`, 12, "-5"},
		{`input demo --lease`, 12, "needs a value"},
		{`input demo --lease "3`, 20, "double quote"},
		{`input "demo x`, 7, "double quote"},
		{`"input demo x`, 1, "double quote"},
		{`input d\`, 8, "backslash"},
		{`["input","--what"]`, 0, "--what"},
		{`["input","--lease"]`, 0, "needs a value"},
	}
	for _, tt := range tests {
		got, err := ParseTail(tt.line, input)
		var e *Error
		if !errors.As(err, &e) || e.Position != tt.position || !strings.Contains(e.Reason, tt.reason) {
			t.Errorf("ParseTail(%q) = %+v, %v, want %s at %d", tt.line, got, err, tt.reason, tt.position)
		}
	}
}

func TestWordsAndVerb(t *testing.T) {
	for line, want := range map[string][]string{
		`["a b","$x"]`: {"a b", "$x"}, `state 'a b'`: {"state", "a b"}, `[1]`: {"[1]"}, `[`: {"["},
	} {
		got, err := Words(line)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Words(%q) = %q, %v", line, got, err)
		}
		if verb, err := Verb(line); err != nil || verb != want[0] {
			t.Errorf("Verb(%q) = %q, %v", line, verb, err)
		}
	}
	if verb, err := Verb(`nudge alpha don't stop`); err != nil || verb != "nudge" {
		t.Errorf("a verb before an open quote: %q, %v", verb, err)
	}
	if verb, err := Verb(" "); err != nil || verb != "" {
		t.Errorf("no verb: %q, %v", verb, err)
	}
}

func quote(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// FuzzArray: a command line is words only when it is nothing but them.
func FuzzArray(f *testing.F) {
	for _, s := range []string{`["a","b c"]`, `[]`, `[1]`, `["a"`, "ls", `["\ud800"]`, `[null]`, ` ["a"]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, ok := array(line)
		if !ok {
			return
		}
		again, err := json.Marshal(words)
		if list, ok := array(string(again)); err != nil || !ok || !slices.Equal(list, words) {
			t.Errorf("%q is %q, which is not %q again", line, words, again)
		}
	})
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{`a 'b' "c\"" \d`, `'`, `\`, "a\\\n", "\x00\xff", "ü \"$x\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Split(line)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Position < 1 || e.Position > len(line) {
				t.Fatalf("%q: error %v", line, err)
			}
			return
		}
		// Quoted again they are the same words.
		again := make([]string, len(words))
		for i, word := range words {
			again[i] = quote(word)
		}
		if got, err := Split(strings.Join(again, " ")); err != nil || !slices.Equal(got, words) {
			t.Fatalf("%q: %q, again %q, %v", line, words, got, err)
		}
	})
}

func FuzzParseTail(f *testing.F) {
	for _, seed := range []string{`input demo --enter "ls"`, `input --lease 3 demo -- --x`, `input demo it's`, `["input","demo","x"]`, "input\\\n demo -", `input demo '`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		p, err := ParseTail(line, input)
		if err != nil {
			return
		}
		if p.Stdin && p.Tail != "" || !p.HasTail && (p.Tail != "" || p.Stdin) {
			t.Fatalf("%q: %+v", line, p)
		}
		// A text taken verbatim is part of the line; any text survives as argv.
		if _, isArray := array(line); !isArray && p.HasTail && !strings.Contains(line, p.Tail) && !strings.ContainsAny(line, `'"\`) {
			t.Fatalf("%q: tail %q", line, p.Tail)
		}
		if _, err := asWords(p); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	})
}

// asWords sends a parsed line once more, as a program would.
func asWords(p Parsed) (Parsed, error) {
	if p.Session == "" || !p.HasTail || p.Stdin || p.Tail == "-" {
		return p, nil
	}
	words := append([]string{p.Verb}, p.Args...)
	words = append(words, "--", p.Session, p.Tail)
	again, err := ParseArgs(words, input)
	if err != nil {
		return again, err
	}
	p.Lead, again.Lead = nil, nil
	if !reflect.DeepEqual(p, again) {
		b, _ := json.Marshal(again)
		return again, errors.New("as words it is " + string(b))
	}
	return again, nil
}
