// Package forks holds what the drivers of Gemini CLI, Qwen Code, Copilot CLI and opencode share. Qwen Code is a fork of
// Gemini CLI: both read the same signs in a message, draw the same characters and the same composer, and have the same
// tools and numbered dialogs. The others share the reading of tools' inputs and of hook events, the pages of questions,
// the keys of dialogs with options, and Copilot CLI the options for a conversation. Codex shares with opencode how
// conversations are resumed whose ids the agent chooses. All functions are pure.
package forks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"berth/agent"
	"berth/agent/pattern"
)

// Shield is a word joiner, which has no width. Before a message's first character it keeps the agent
// from reading a command, and after an @ from finding a file of that name. The agents remove most
// other characters without a width from typed text, also the zero-width space.
const Shield = "\u2060"

// Dropped matches the start of a text that the agent may take for files dropped on its terminal: when
// a paste is the path of a file, or of several, with or without quotes, it puts an @ before each.
// Only the agent knows which files exist.
var Dropped = pattern.New(`^(["'\\ ]*([/~.]|[a-zA-Z]:)|\\\\)`)

// ShieldFiles keeps the text after an @ from being read as the name of a file, an agent or a
// resource. The agents search for one inside words too, as in an address, and Gemini CLI takes any
// file below the folder whose name contains that text: Berth can't know what it would find.
func ShieldFiles(text string) string {
	var b strings.Builder
	before := ' '
	for i, r := range text {
		b.WriteRune(r)
		if r == '@' && before != '\\' && named.MatchString(text[i+1:]) {
			b.WriteString(Shield)
		}
		before = r
	}
	return b.String()
}

// named matches the start of a name after an @: anything but blanks and these marks, and a full
// stop only within it.
var named = pattern.New(`^([^ \t\n\r,;!?()\[\]{}.]|\.[^ \t\n\r])`)

// UndrawnOfCommand is what the dialog of a command doesn't show: the folder that it runs in, and that
// it continues in the background. A command's description isn't part of what it does.
func UndrawnOfCommand(in agent.Input) string {
	maps.DeleteFunc(in, func(name string, raw json.RawMessage) bool {
		value := agent.Compact(raw)
		return name == "command" || name == "description" || value == "false" || value == "null"
	})
	return in.Lines()
}

// Fields are the fields of a tool's input, one a line, for a dialog that draws none of them. It leaves fields out that say nothing. What has
// a character that the agents don't draw is in ASCII.
func Fields(in agent.Input, without ...string) string {
	visible := func(text, quoted string) string {
		if strings.ContainsFunc(quoted, undrawn) {
			return strconv.QuoteToASCII(text)
		}
		return quoted
	}
	var lines []string
	for _, name := range in.Names() {
		value := agent.Compact(in[name])
		if text, err := in.Text(name); err == nil {
			value = visible(agent.Value(text), value)
		}
		if !slices.Contains(without, name) && value != "false" && value != "null" {
			lines = append(lines, visible(name, name)+": "+visible(value, value))
		}
	}
	return strings.Join(lines, "\n")
}

// UndrawnOfEdit are the lines of a change of a file with characters that the agents don't draw, or
// draw as nothing, after the fields that no dialog draws.
func UndrawnOfEdit(in agent.Input, never ...string) string {
	var lines []string
	for _, name := range in.Names() {
		value, err := in.Text(name)
		if slices.Contains(never, name) && agent.Compact(in[name]) != "null" {
			lines = append(lines, Fields(agent.Input{name: in[name]}))
			continue
		}
		if err != nil {
			continue // a switch or a number
		}
		for line := range strings.SplitSeq(agent.Value(value), "\n") {
			if line = strings.TrimSuffix(line, "\r"); strings.ContainsFunc(line, undrawn) {
				lines = append(lines, name+": "+Quoted(line))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// UndrawnInSome is the whole input if a name or a value in it has a character that the agents don't draw.
func UndrawnInSome(input json.RawMessage) string {
	var v any
	if json.Unmarshal(input, &v) == nil && !strings.ContainsFunc(fmt.Sprint(v), undrawn) {
		return ""
	}
	return "input: " + strconv.QuoteToASCII(agent.Compact(input))
}

// Hides reports whether a name or a value in the input has a character that the agents don't draw, other than the end of a line.
func Hides(input json.RawMessage) bool {
	var v any
	return json.Unmarshal(input, &v) != nil || strings.ContainsFunc(strings.ReplaceAll(fmt.Sprint(v), "\n", " "), undrawn)
}

// Escaped is JSON with the characters as escapes that aren't drawn, or are drawn like others.
func Escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if undrawn(r) || !strconv.IsPrint(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// undrawn reports whether the agents may leave the character of a file out.
func undrawn(r rune) bool {
	return r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Spins reports whether the text starts with a frame of the spinner.
func Spins(text string) bool {
	r, size := utf8.DecodeRuneInString(text)
	return r >= '⠀' && r <= '⣿' && strings.HasPrefix(text[size:], " ")
}
