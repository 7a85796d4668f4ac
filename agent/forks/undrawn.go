package forks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"berth/agent"
	"berth/agent/pattern"
)

// undrawnOfChange is what the dialog of a change of a file leaves out: characters that no agent draws, the folders of a
// long path, and changes of blanks. dir is the session's folder.
func (t Tools) undrawnOfChange(tool string, in agent.Input, dir string) string {
	parts := []string{t.LongPath(in.Words(t.File), dir)}
	if t.Blanks {
		file, text := t.Used(in.Words(t.File)), in.Words(t.Text)+in.Words(t.New)
		parts = append(parts, LinesEnd(file, text), encoded(file, text), t.lineTaken(in))
	}
	if text := t.Text; t.Blanks && tool == t.Write {
		parts = append(parts, blanks(text, "", in.Words(text)))
		delete(in, text)
	} else if t.Blanks {
		parts = append(parts, blanks(t.New, in.Words(t.Old), in.Words(t.New)))
	}
	return Joined(append(parts, UndrawnOfEdit(in))...)
}

// Joined are the texts that aren't empty, one below the other.
func Joined(texts ...string) string {
	var all strings.Builder
	for _, text := range texts {
		if text != "" {
			all.WriteString("\n" + text)
		}
	}
	return strings.TrimPrefix(all.String(), "\n")
}

// escape matches a character of a path that Qwen Code takes the escape from.
var escape = pattern.New("\\\\([ \t()[\\]{};|*?$`'\"#&<>!~,])")

// trims reports whether JavaScript's trim takes the character away.
func trims(r rune) bool { return r == '\ufeff' || unicode.IsSpace(r) && r != '\u0085' }

// Trimmed is the text as JavaScript's trim leaves it.
func Trimmed(text string) string { return strings.TrimFunc(text, trims) }

// Used is the path of the file that a call with that path changes.
func (t Tools) Used(file string) string {
	if !t.Escaped {
		return file
	}
	return escape.ReplaceAllString(Trimmed(file), "$1")
}

// LongPath is the line with the file's whole path, if the call has another one, or if the dialog leaves out folders of it: it is
// longer than the agent draws it, which is relative to the session's folder if the file is below that.
func (t Tools) LongPath(called, dir string) string {
	file := t.Used(called)
	if file != called {
		return t.File + ": " + Quoted(file)
	}
	shown := file
	if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsAbs(file) && filepath.IsLocal(rel) {
		shown = rel
	}
	if t.PathLimit == 0 || len(shown) <= t.PathLimit {
		return ""
	}
	return t.File + ": " + Quoted(file)
}

// Quoted is the text in quotes, without a character that isn't drawn.
func Quoted(text string) string {
	if strings.ContainsFunc(text, undrawn) {
		return strconv.QuoteToASCII(text)
	}
	return strconv.Quote(text)
}

// blanksShown is how many characters of lines a prompt's text shows, as far as only their blanks may differ.
const blanksShown = 2000

// blanks are the lines of a new text that may differ from the old ones by their blanks alone, quoted and with their numbers. Of an
// edit these are lines that it has in several forms. The old text of a file that is written isn't known, so it may be any line.
func blanks(field, old, text string) string {
	lines := strings.Split(text, "\n")
	if old == "" && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	forms := map[string]string{}
	several := map[string]bool{}
	for _, line := range append(strings.Split(old, "\n"), lines...) {
		key := strings.Map(solid, line)
		form, seen := forms[key]
		several[key] = several[key] || seen && form != line
		forms[key] = line
	}
	var shown []string
	for i, line := range lines {
		if old == "" || several[strings.Map(solid, line)] {
			shown = append(shown, fmt.Sprintf("%s, line %d: %s", field, i+1, Quoted(line)))
		}
	}
	return Shown(field, text, shown, "changes of blanks")
}

// Shown are lines about what a dialog leaves out of a text, one below the other, or the text's digest if they are too long.
func Shown(field, text string, lines []string, out string) string {
	if all := strings.Join(lines, "\n"); len([]rune(all)) <= blanksShown {
		return all
	}
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%s: %d bytes, SHA-256 %s…: the dialog leaves out %s, and %s", field, len(text), hex.EncodeToString(sum[:8]), out, agent.InFull)
}

// solid drops the characters that a comparison without blanks may leave out.
func solid(r rune) rune {
	if unicode.IsSpace(r) || undrawn(r) {
		return -1
	}
	return r
}

// DrawsPath reports whether a text, which is a path as an agent draws it, may be that of the file. Agents draw it from any folder on, leave
// out folders or the middle of a folder's name as "...", and break rows anywhere. A name with characters that may not be drawn can be any.
func DrawsPath(text, file string) bool {
	names := strings.Split(path.Clean(file), "/")
	last := len(names) - 1
	if hides(names[last]) {
		return true
	}
	folders, ok := strings.CutSuffix(squeezed(text), squeezed(names[last]))
	return ok && within(folders, names[:last])
}

// within reports whether the text before a file's name may be these folders. A relative path begins in a folder that isn't known.
func within(text string, folders []string) bool {
	for i := len(folders) - 1; i >= 0 && text != ""; i-- {
		rest, more := strings.CutSuffix(text, "/")
		switch {
		case !more:
			return false
		case odd(folders[i]) || strings.Contains(rest[strings.LastIndex(rest, "/")+1:], ".."):
			return true
		}
		if text, more = strings.CutSuffix(rest, squeezed(folders[i])); !more {
			return false
		}
	}
	relative := len(folders) == 0 || folders[0] != ""
	return text == "" || relative && strings.HasSuffix(text, "/")
}

func hides(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return undrawn(r) || unicode.IsMark(r) })
}

func odd(name string) bool { return strings.Contains(name, "..") || hides(name) }

// headFile matches the row of a tool that changes a file, as Qwen Code draws it: its name, and what it says of the file. Of an edit the texts
// follow, and the agent or another process chooses those.
var headFile = pattern.New(`(?s)^\S+\s+(?:(?:Writing\s+to|Create|No\s+file\s+changes\s+to)\s+)?(.*?)(?::\s.*)?$`)

// HeadFile is the path in such a row, as it is drawn.
func HeadFile(head string) string { return headFile.Group(head) }

// asksOfFile matches the question of a dialog about a change of a file, as Copilot CLI draws it. Its rows may be broken.
var asksOfFile = pattern.New(`(?s)^Do you want to (create|edit|update|delete|move and update) (.+)\?$`)

// AskedFile is the path in such a question, as it is drawn.
func AskedFile(question string) string {
	if m := asksOfFile.FindStringSubmatch(question); m != nil {
		return m[2]
	}
	return ""
}

func squeezed(text string) string { return strings.Map(solid, text) }
