package forks

import (
	"strings"

	"berth/agent"
	"berth/agent/pattern"
)

// toolMonitor is Qwen Code's tool that runs a command for as long as it is watched.
const toolMonitor = "monitor"

// linesJoined is in the text of such a command.
const linesJoined = "Lines of the command may run as one: before and after what a shell gets with -c, Qwen Code puts a blank in place of each line's end."

// shell matches the name of a shell as the last part of a word, with or without quotes, that another word follows.
var shell = pattern.New(`(?i)(?:^|[\s\v\pZ\x{feff}"'/\\])(?:sh|bash|zsh|cmd|powershell|pwsh)(?:\.exe)?["']?[\s\v\pZ\x{feff}]`)

// linesJoined says so of a command that has a blank which isn't one for a shell that reads words, and may start a shell.
func (t Tools) linesJoined(tool string, in agent.Input) string {
	command := Trimmed(in.Words("command"))
	odd := func(r rune) bool { return trims(r) && r != ' ' && r != '\t' }
	if tool != toolMonitor || !strings.ContainsFunc(command, odd) || !shell.MatchString(command) {
		return ""
	}
	return linesJoined
}

// A command of sed that changes a file in place, and does nothing else, may be drawn as an edit by Qwen Code, which makes it then.
var (
	sedInPlace = pattern.New(`(?s)^sed[\s\v\pZ\x{feff}].*-\S*i`)
	sedInShell = pattern.New(`(?s)["'\s\v\pZ\x{feff}]sed[\s\v\pZ\x{feff}].*-\S*i`)
)

// madeItself is in the text of such a command.
const madeItself = "Qwen Code may draw this as an edit and make it itself: with JavaScript's patterns, and without what else the command has."

// editBySed says so, after the command: the edit's dialog draws it in the row of the tool, without its blanks.
func (t Tools) editBySed(command string) string {
	words := Trimmed(command)
	if !t.Sed || !sedInPlace.MatchString(words) && !(shell.MatchString(words) && sedInShell.MatchString(words)) {
		return ""
	}
	return Shown("command", command, []string{"command: " + Quoted(command)}, "the command") + "\n" + madeItself
}

// pathFields are the fields that Qwen Code takes escapes out of, whatever tool of its own has them.
var pathFields = []string{"file_path", "filePath", "notebook_path", "path"}

// ofServer is how the name of a server's tool begins: it gets its input as it is.
const ofServer = "mcp__"

// UndrawnOfOther is the whole input of a tool whose dialog may draw none of it, and what the agent changes in it before it runs.
func (t Tools) UndrawnOfOther(tool string, in agent.Input, input []byte) string {
	parts := []string{agent.Compact(input)}
	for _, name := range pathFields {
		if path := in.Words(name); t.Used(path) != path && !strings.HasPrefix(tool, ofServer) {
			parts = append(parts, name+": "+Quoted(t.Used(path)))
		}
	}
	return Joined(append(parts, t.linesJoined(tool, in))...)
}
