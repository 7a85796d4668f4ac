package gemini

import (
	"strings"

	"berth/agent/forks"
	"berth/agent/pattern"
)

// Gemini takes a shell that only runs a text off a command, with the text's first and last character if these are the same quotes. Its
// dialog draws the command from before. The text may have more quotes, so what runs can be another command.

// wrapper matches what Gemini takes for such a shell, in any letter case and with JavaScript's blanks.
var wrapper = func() *pattern.Pattern {
	const blank = `[\s\v\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]`
	const solid = `[^\s\v\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}]`
	posix := "(?:" + solid + "+/)?(?:" + cased("sh") + "|" + cased("bash") + "|" + cased("zsh") + ")" + blank + "+" + cased("-c")
	other := blank + "+(?:" + cased("-noprofile") + blank + "+)?" + cased("-command")
	windows := "(?:" + cased("powershell") + "|" + cased("pwsh") + ")(?:" + cased(".exe") + ")?" + other
	return pattern.New("^" + blank + "*(?:" + posix + "|" + cased("cmd.exe") + blank + "+/[cC]|" + windows + ")" + blank + "+")
}()

// cased is a pattern for the word in any letter case. A letter that only folds to one of ASCII isn't that one for Gemini.
func cased(word string) string {
	var b strings.Builder
	for _, r := range word {
		b.WriteString("[" + strings.ToUpper(string(r)) + string(r) + "]")
	}
	return strings.ReplaceAll(b.String(), "[--]", "-")
}

// runsAs is the line that says what Gemini runs in place of a command with such a shell; empty for another one.
func runsAs(command string) string {
	head := wrapper.FindString(command)
	if head == "" {
		return ""
	}
	text := forks.Trimmed(command[len(head):])
	inner, quote := between(text)
	switch {
	case quote == "":
		return "run without its shell, as: " + forks.Quoted(text)
	case quote == `"` && strings.HasSuffix(forks.Trimmed(head), "-c"):
		if read, ok := readQuoted(text); ok {
			inner = read
			break
		}
		return "run without its shell, and maybe with quotes, escapes and variables read by Gemini CLI itself, as: " + forks.Quoted(inner)
	}
	return "run without its shell, as: " + forks.Quoted(inner)
}

// between is the text within its first and last character, if these are the same quotes.
func between(text string) (inner, quote string) {
	for _, quote := range []string{`"`, "'"} {
		if len(text) >= 2 && strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) {
			return text[1 : len(text)-1], quote
		}
	}
	return text, ""
}

// readQuoted is a text in double quotes as Gemini reads it. ok is false for one with other quotes, escapes or variables, which it reads
// in ways of its own.
func readQuoted(text string) (read string, ok bool) {
	inner := text[1 : len(text)-1]
	return inner, !strings.ContainsAny(inner, "\"\\$")
}
