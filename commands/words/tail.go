package words

import (
	"slices"
	"strings"
)

// Option is an option of a verb, as a flag set would list it.
type Option struct {
	Name       string // without the dashes
	Short      byte   // one letter, 0 for none
	TakesValue bool   // --name VALUE or --name=VALUE; otherwise --name alone
	Argv       bool   // a command line follows; its words are never options of the verb
}

// Spec is the form of a verb that ends in free text.
type Spec struct {
	Options   []Option
	Lead      int  // words between the session and the text, such as deny in: respond S deny TEXT
	NoSession bool // the verb names no session, such as: report status TEXT
}

// Parsed is a parsed line.
type Parsed struct {
	Verb    string
	Args    []string // the options with their values, as words for a flag set
	Session string   // empty when the line ends before it
	Lead    []string // fewer than Spec.Lead when the line ends before
	Tail    string
	HasTail bool // there is a tail, even if it is an empty quoted word
	Stdin   bool // the tail is a lone -: the text is read from standard input
}

// ParseTail reads VERB [options] SESSION [options] [lead words] TAIL, with options around each
// lead word too. The first word that isn't an option starts the tail (or the lead words before
// it), and -- ends the options. The tail is taken verbatim from the line, with its quotes but
// without the blanks around it. A tail that is a single quoted word is unquoted. The tail of a
// JSON array is its remaining words, joined with one blank.
//
// An option of the verb as a word of the tail is an error, unless -- came before or the whole
// tail is quoted: the caller wanted the option, and the agent would read it as text. ssh removes
// the quotes, so the word counts wherever it is in the text.
//
// Errors are of type *Error: an unknown option, an option after the text or without its value,
// and the errors of Split in the words before the tail.
func ParseTail(line string, spec Spec) (Parsed, error) {
	if words, ok := array(line); ok {
		return ParseArgs(words, spec)
	}
	return parse(&raw{line: line}, spec)
}

// ParseArgs is ParseTail for words that were never joined, such as a process's
// arguments.
func ParseArgs(args []string, spec Spec) (Parsed, error) {
	return parse(&list{words: args}, spec)
}

// source yields words one by one.
type source interface {
	dash() dash                              // how the next word begins
	take() (text string, ok bool, err error) // ok is false after the last word
	tail() (text string, literal, ok bool)   // all the rest; literal when it was quoted
	rest() []word                            // the words of the tail, separated by blanks only
	position() int                           // position of the last word, for errors
}

// dash classifies a word by an unquoted dash at its start.
type dash int

const (
	noDash   dash = iota
	loneDash      // -
	option        // -x, --, --name
)

func parse(in source, spec Spec) (Parsed, error) {
	var p Parsed
	var ok bool
	var err error
	if p.Verb, ok, err = in.take(); err != nil || !ok {
		return Parsed{}, err
	}
	ended := false // the options, by --
	if !spec.NoSession {
		if p.Args, ended, err = options(in, spec, nil); err != nil {
			return Parsed{}, err
		}
		if p.Session, ok, err = in.take(); err != nil {
			return Parsed{}, err
		} else if !ok {
			return p, nil
		}
	}
	for {
		if !ended {
			if p.Args, ended, err = options(in, spec, p.Args); err != nil {
				return Parsed{}, err
			}
		}
		if len(p.Lead) == spec.Lead || in.dash() == loneDash {
			break
		}
		text, ok, err := in.take()
		if err != nil {
			return Parsed{}, err
		}
		if !ok {
			return p, nil
		}
		p.Lead = append(p.Lead, text)
	}
	words := in.rest()
	var literal bool
	p.Tail, literal, p.HasTail = in.tail()
	if !ended && !literal && !takesArgv(p.Args, spec.Options) {
		if err := refuseOptions(words, spec.Options); err != nil {
			return Parsed{}, err
		}
	}
	if p.Tail == "-" && !literal {
		p.Tail, p.Stdin = "", true
	}
	return p, nil
}

// refuseOptions fails if one of the words is an option of the verb.
func refuseOptions(words []word, known []Option) error {
	for _, w := range words {
		if isOne(w.text, known) {
			name, _, _ := strings.Cut(w.text, "=")
			return failAt(w.start, "option %s is after the text: put %s before the text, or `--` before text that starts with a dash or contains an option", name, name)
		}
	}
	return nil
}

// isOne says whether a word is one of the options: --name, --name=VALUE or -n.
func isOne(text string, known []Option) bool {
	name, long := strings.CutPrefix(text, "--")
	name, _, _ = strings.Cut(name, "=")
	for _, o := range known {
		if long && o.Name == name || o.Short != 0 && text == "-"+string(rune(o.Short)) {
			return true
		}
	}
	return false
}

// takesArgv says whether one of the given options takes a command line.
func takesArgv(args []string, known []Option) bool {
	for _, o := range known {
		if o.Argv && slices.Contains(args, "--"+o.Name) {
			return true
		}
	}
	return false
}

// options takes options up to the first word that isn't one. It returns true when -- ended
// them.
func options(in source, spec Spec, args []string) ([]string, bool, error) {
	for in.dash() == option {
		text, _, err := in.take()
		if err != nil {
			return nil, false, err
		}
		if text == "--" {
			return args, true, nil
		}
		args = append(args, text)
		at := in.position()
		needs, err := needsValue(text, spec.Options, at)
		if err != nil {
			return nil, false, err
		}
		if !needs {
			continue
		}
		value, ok, err := in.take()
		if err != nil {
			return nil, false, err
		}
		if !ok {
			return nil, false, failAt(at, "option %s needs a value", text)
		}
		args = append(args, value)
	}
	return args, false, nil
}

// needsValue says whether the value of an option is the next word.
func needsValue(text string, known []Option, at int) (bool, error) {
	unknown := func(name string) error {
		return failAt(at, "unknown option %s: put `--` before text that starts with a dash", name)
	}
	if name, long := strings.CutPrefix(text, "--"); long {
		name, _, has := strings.Cut(name, "=")
		for _, o := range known {
			if o.Name == name {
				return o.TakesValue && !has, nil
			}
		}
		return false, unknown("--" + name)
	}
	letters := text[1:]
	if letters == "" { // -"" is neither an option nor a lone dash
		return false, unknown(text)
	}
	for i := range len(letters) {
		found := false
		for _, o := range known {
			if o.Short == 0 || o.Short != letters[i] {
				continue
			}
			if o.TakesValue { // the rest is its value: -t5s
				return i == len(letters)-1, nil
			}
			found = true
		}
		if !found {
			if i > 0 && letters[i] == '=' { // -e=false
				return false, nil
			}
			return false, unknown(text)
		}
	}
	return false, nil
}

// raw yields the words of a line.
type raw struct {
	line string
	at   int
	last int
}

func (r *raw) dash() dash {
	rest := r.line[skip(r.line, r.at):]
	switch {
	case !strings.HasPrefix(rest, "-"):
		return noDash
	case len(rest) == 1 || strings.IndexByte(blanks, rest[1]) >= 0:
		return loneDash
	}
	return option
}

func (r *raw) take() (string, bool, error) {
	w, ok, err := next(r.line, r.at)
	r.last, r.at = w.start, max(r.at, w.end)
	return w.text, ok, err
}

func (r *raw) tail() (text string, literal, ok bool) {
	text = strings.Trim(r.line[r.at:], blanks)
	if inner, whole := unquote(text); whole {
		return inner, true, true
	}
	return text, false, text != ""
}

func (r *raw) rest() []word {
	var out []word
	for at := skip(r.line, r.at); at < len(r.line); at = skip(r.line, at) {
		end := at
		for end < len(r.line) && strings.IndexByte(blanks, r.line[end]) < 0 {
			end++
		}
		out = append(out, word{text: r.line[at:end], start: at, end: end})
		at = end
	}
	return out
}

func (r *raw) position() int { return r.last }

// unquote returns the content of a text that is one quoted word from end to end, as programs
// quote: '..' or "..", or such parts with only escaped characters between them ('it'\”s').
// Quoted words next to others, as people write them, don't count.
func unquote(text string) (string, bool) {
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", false
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		switch {
		case text[at] == '\'' || text[at] == '"':
			behind, err := quoted(&b, text, at)
			if err != nil {
				return "", false
			}
			at = behind
		case text[at] == '\\' && at+1 < len(text) && text[at+1] != '\n':
			b.WriteByte(text[at+1])
			at += 2
		default:
			return "", false
		}
	}
	return b.String(), true
}

// list yields words that are already separate.
type list struct {
	words []string
	at    int
}

func (l *list) dash() dash {
	switch {
	case l.at >= len(l.words) || !strings.HasPrefix(l.words[l.at], "-"):
		return noDash
	case l.words[l.at] == "-":
		return loneDash
	}
	return option
}

func (l *list) take() (string, bool, error) {
	if l.at >= len(l.words) {
		return "", false, nil
	}
	l.at++
	return l.words[l.at-1], true, nil
}

func (l *list) tail() (text string, literal, ok bool) {
	return strings.Join(l.words[l.at:], " "), false, l.at < len(l.words)
}

func (l *list) rest() []word {
	var out []word
	for _, text := range l.words[l.at:] {
		out = append(out, word{text: text, start: l.position()})
	}
	return out
}

func (l *list) position() int { return -1 }
