package claude

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"berth/agent"
	"berth/agent/pattern"
)

// Claude writes something else than the call of an edit says, depending on what is in the file. Hooks have the call as it was made. A driver
// reads no files, so the prompt's text says what depends on the file, where the call's texts leave that open. It changes commands too.

const (
	linesEnd    = "Claude ends each line of the file as most of its lines end: each may get a CR."
	linesJoin   = "Where a line ends with the removed text, Claude removes the line's end too: the next line joins this one."
	allEndsJoin = "If a line ends with the removed text, Claude removes it only there, and the line's end with it: the next line joins this one."
	unescapes   = `If the file has the old text only without its escapes (\uXXXX), Claude writes the new one without them too: `
	curls       = "If the file has curly quotes where the old text has straight ones, Claude writes the new text's quotes as curly ones."
)

const nulled = `Claude runs the command with "/dev/null" in place of each "nul" after a ">", also within quotes.`

// nul matches what Claude takes for the null device of Windows.
var nul = pattern.New(`\d?&?>+[ \t]*[Nn][Uu][Ll](?:[\s\v\p{Z}\x{feff}|&;)]|$)`)

// nullsOut says that of a command.
func nullsOut(command string) string {
	if strings.ContainsAny(command, "<$`") || !nul.MatchString(command) {
		return ""
	}
	return nulled
}

// rewrites says what Claude may write beyond an edit's call.
func rewrites(input json.RawMessage) string {
	in, ok := readInput("Edit", input)
	if !ok || in.Old == nil || in.New == nil {
		return ""
	}
	var lines []string
	say := func(line string, applies bool) {
		if applies {
			lines = append(lines, line)
		}
	}
	before, after := *in.Old, *in.New
	say(linesEnd, agent.ReturnMatters(in.Path, after))
	joins := after == "" && before != "" && !strings.HasSuffix(before, "\n")
	say(linesJoin, joins && !in.ReplaceAll)
	say(allEndsJoin, joins && in.ReplaceAll)
	plain := unescaped(after)
	say(unescapes+strconv.QuoteToASCII(plain), plain != after && unescaped(before) != before)
	say(curls, mayCurl(unescaped(before), after) && curlMatters(in.Path, after))
	return strings.Join(lines, "\n")
}

// escape matches what Claude decodes, and two backslashes, which it leaves as they are.
var escape = pattern.New(`\\\\|(?:\\u[0-9a-fA-F]{4})+`)

// unescaped is a text as Claude decodes it.
func unescaped(text string) string {
	return escape.ReplaceAllStringFunc(text, func(found string) string {
		if found == `\\` {
			return found
		}
		var units []uint16
		for code := range strings.SplitSeq(found[2:], `\u`) {
			unit, _ := strconv.ParseUint(code, 16, 16) // the pattern has matched its digits
			units = append(units, uint16(unit))
		}
		return string(utf16.Decode(units))
	})
}

// curly are the quotes that Claude takes for equal to a straight one.
var curly = map[string]string{`'`: "'\u2018\u2019", `"`: "\"\u201c\u201d"}

// mayCurl reports whether Claude may write a quote of the new text as a curly one.
func mayCurl(before, after string) bool {
	for straight, alike := range curly {
		if strings.Contains(after, straight) && strings.ContainsAny(before, alike) {
			return true
		}
	}
	return false
}

// prose are kinds of files that people read. They read either quote as the same.
var prose = []string{".md", ".mdx", ".txt", ".rst", ".adoc", ".tex"}

// strict are kinds of files where a curly quote outside of a string is an error.
var strict = []string{
	".go", ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".java", ".kt", ".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".cs", ".swift", ".css", ".json",
}

// curlMatters reports whether a curly quote in the place of a straight one may change what such a file does. In a strict one that is a quote
// within others.
func curlMatters(file, text string) bool {
	kind := path.Ext(file)
	nested := strings.Contains(text, "`") || strings.Contains(text, `"`) && strings.Contains(text, `'`)
	return !slices.Contains(prose, kind) && (nested || !slices.Contains(strict, kind))
}

// straighten is a text with straight quotes alone.
var straighten = strings.NewReplacer("\u2018", `'`, "\u2019", `'`, "\u201c", `"`, "\u201d", `"`)

// edited compares an edit with the rows of its dialog, which draws what Claude will write. The prompt's text says how that may differ.
func (r *drawnRows) edited(in toolInput) agent.Match {
	before, after := *in.Old, *in.New
	if m := r.edit(before, after); m != agent.NoMatch {
		return m
	}
	decoded := unescaped(before)
	switch {
	case mayCurl(decoded, after) && (curlMatters(in.Path, after) || slices.Contains(prose, path.Ext(in.Path))):
		straight := *r
		straight.framed = slices.Clone(r.framed)
		for i := range straight.framed {
			straight.framed[i].Text = straighten.Replace(straight.framed[i].Text)
		}
		r, before, after = &straight, straighten.Replace(before), straighten.Replace(after)
	case decoded != before && unescaped(after) != after:
		before, after = decoded, unescaped(after)
	}
	return both(r.edit(before, after), agent.PartMatch)
}
