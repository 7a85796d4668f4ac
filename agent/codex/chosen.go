package codex

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
)

// chosen are the fields of a command's call that say how it runs: in another shell, not as a login shell, in a terminal of its
// own. One command can do different things in two shells. No hook reports these fields, and no dialog draws them: only the
// session log has them.
var chosen = []string{"shell", "login", "tty"}

// anyShell is in the text of a subagent's command: its call is in a session log of its own.
const anyShell = "shell: chosen by the subagent, and not known here"

// noShell is in the text of any other command that no call in the session log has.
const noShell = "shell: not known here, because Berth has read no call of this command in a session log"

// noFolder follows these lines where only a dialog shows the command. Without it, no line about the folder would mean the session's.
const noFolder = "workdir: not known here, because no hook has reported this dialog"

// hookFolder follows them where a hook reports the command: no call in the session log confirms the hook's folder.
const hookFolder = "workdir: reported by a hook alone, which another process can have sent"

// usual are values that do the same as no field.
var usual = map[string]string{"login": "true", "tty": "false"}

// withChosen is a tool's input with the chosen fields of a call in place of its own.
func withChosen(input json.RawMessage, call agent.Input) json.RawMessage {
	fields, err := agent.ReadInput(input)
	if err != nil {
		return input
	}
	changed := false
	for _, name := range chosen {
		value := string(call[name])
		if fields[name] != nil {
			changed = true
			delete(fields, name)
		}
		if value != "" && value != "null" && value != usual[name] {
			changed, fields[name] = true, call[name]
		}
	}
	out, err := json.Marshal(fields)
	if err != nil || !changed {
		return input
	}
	return out
}

// chosenLines are these fields for a person.
func chosenLines(fields agent.Input) (lines []string) {
	for _, name := range chosen {
		if fields[name] == nil {
			continue
		}
		value := escaped(agent.Compact(fields[name]))
		if text, err := fields.Text(name); err == nil && text != nil {
			value = strconv.QuoteToASCII(*text)
		}
		lines = append(lines, name+": "+value)
	}
	return lines
}

// WithLogged is the input of a hook's command with how this call chose to run it. The hook names no call, so each call with that
// command may be its call.
func (Driver) WithLogged(asked, logged *agent.Request) json.RawMessage {
	command, _, err := readInput(asked.Raw)
	fields, unread := agent.ReadInput(logged.Raw)
	of, none := fields.Text("command")
	if err != nil || unread != nil || none != nil || agent.Value(asked.Tool) != toolCommand || agent.Value(logged.Tool) != toolCommand || agent.Value(of) != command {
		return nil
	}
	return withChosen(asked.Raw, fields)
}

// Uncompleted says that the shell isn't known, and what is known of the folder.
func (Driver) Uncompleted(asked *agent.Request) string {
	if agent.Value(asked.Tool) != toolCommand || ofSubagent(asked) {
		return ""
	}
	return noShell + "\n" + folderOf(asked)
}

// folderOf says how the folder is known of a command that no call in the session log has.
func folderOf(p *agent.Request) string {
	if len(p.Raw) == 0 {
		return noFolder
	}
	return hookFolder
}

// ofSubagent reports whether the prompt's text says that a subagent chose the shell.
func ofSubagent(p *agent.Request) bool {
	return slices.Contains(strings.Split(agent.Value(p.Text), "\n"), anyShell)
}
