package codex

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"berth/agent"
)

// workdir is the field of a tool's input that names the folder it runs in. Codex's own tool has that
// name for it, and takes it out of the input that hooks get.
const workdir = "workdir"

// inFolder is a tool's input with the folder that it runs in, which a hook reports beside the input.
// With it two calls that differ in the folder alone are two prompts.
func inFolder(input json.RawMessage, dir string) json.RawMessage {
	fields, err := agent.ReadInput(input)
	if err != nil || dir == "" || fields[workdir] != nil {
		return input
	}
	if fields[workdir], err = json.Marshal(dir); err != nil { // a string has an encoding
		return input
	}
	out, err := json.Marshal(fields)
	if err != nil {
		return input
	}
	return out
}

// located is a tool's input with the whole path of the folder that it runs in. The session log leaves out the session's folder, or
// has a path within it, and the call's hook has a whole path.
func located(input json.RawMessage, dir string) json.RawMessage {
	fields, err := agent.ReadInput(input)
	if err != nil {
		return input
	}
	folder, err := fields.Text(workdir)
	if err != nil {
		return input
	}
	delete(fields, workdir)
	rest, err := json.Marshal(fields)
	if err != nil {
		return input
	}
	return inFolder(rest, wholePath(agent.Value(folder), dir))
}

// Undrawn is the folder, if it isn't the session's, and how a command's call chose to run it. Of a tool whose dialog isn't a
// command's or an edit's it is the fields that the dialog doesn't draw as they are: it has one blank for all blanks and line breaks,
// and none at the ends. It may leave out control, direction and zero-width characters. It draws a text as it draws a number.
func (Driver) Undrawn(tool string, input json.RawMessage, dir string) string {
	fields, err := agent.ReadInput(input)
	if err != nil {
		return ""
	}
	var lines []string
	elsewhere := titles[tool] == "" && tool != toolQuestion
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text := agent.Compact(fields[name])
		if elsewhere && name != workdir && (!plain(name) || !plain(text) || alters(fields[name])) {
			lines = append(lines, strconv.Quote(name)+": "+escaped(text))
		}
	}
	if folder, err := fields.Text(workdir); err == nil && agent.Value(folder) != "" {
		if in := wholePath(*folder, dir); in != path.Clean(dir) {
			lines = append(lines, workdir+": "+strconv.Quote(in))
		}
	}
	if tool == toolCommand {
		lines = append(lines, chosenLines(fields)...)
	}
	return strings.Join(lines, "\n")
}

// wholePath is the path of a folder. The model may name one that is relative to the session's, which hooks report whole.
func wholePath(folder, dir string) string {
	if dir == "" || path.IsAbs(folder) {
		return path.Clean(folder)
	}
	return path.Join(dir, folder)
}

// alters reports whether a value isn't drawn as it is.
func alters(value json.RawMessage) bool {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return true
	}
	text, is := v.(string)
	return is && (json.Valid([]byte(text)) || text != strings.TrimSpace(text)) || !plain(fmt.Sprint(v))
}

// escaped is JSON with escapes in place of its characters that aren't plain.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r == ' ' || plain(string(r)) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, "\\u%04x", unit)
		}
	}
	return b.String()
}

// plain reports whether Codex draws each character of a text, and each blank as itself.
func plain(text string) bool {
	return !strings.Contains(text, "  ") && !strings.ContainsFunc(text, func(r rune) bool {
		return r != ' ' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
	})
}
