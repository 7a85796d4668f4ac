package gemini

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/forks"
)

// A notification about a change of a file has the path that Gemini changes and the change itself, and its call has the path that the model
// wrote. Gemini takes NUL and a leading @ out of that path, decodes it, follows links, and finds the file to edit in other folders.

// Likeness is how likely a notification is about a call that Names takes it for.
func (Driver) Likeness(asked, call *agent.Fact) int {
	return likeness(asked.Request, call.Tool, call.Input)
}

// OnlyByCall: what the dialog of a change, or of a server's or found tool, leaves out, or of a page to fetch, is only in its call.
func (d Driver) OnlyByCall(asked *agent.Request) bool {
	tool := agent.Value(asked.Tool)
	return asked.Type == agent.PromptPermission && len(asked.Raw) == 0 && (tooling.Changes(tool) || d.Unnamed(tool))
}

// likeness is 0 for a call that the change isn't one of. Two calls may have one path, so the change counts more.
func likeness(r *agent.Request, tool string, input json.RawMessage) (n int) {
	in, err := agent.ReadInput(input)
	if !tooling.Changes(tool) || err != nil || in.Words(tooling.File) == "" {
		return 0
	}
	if slices.ContainsFunc(spelled(in.Words(tooling.File)), func(file string) bool { return sameFile(file, agent.Value(r.Input)) }) {
		n++
	}
	adds := forks.Added(r.FullInput)
	wrote := tool == toolWrite && (hasAll(adds, in.Words(tooling.Text)) || hasAll(adds, unescaped(in.Words(tooling.Text))))
	if len(adds) > 0 && (wrote || tool == toolEdit && edited(adds, in.Words(tooling.New))) {
		n += 2
	}
	return n
}

// sameFile: the call's path may be relative to its own folder.
func sameFile(named, full string) bool {
	return named == full || strings.HasSuffix(full, "/"+strings.TrimPrefix(named, "./"))
}

// spelled are the paths that Gemini may take the call's one for, without links.
func spelled(file string) []string {
	clean := strings.ReplaceAll(file, "\x00", "")
	all := []string{clean}
	if rest, ok := strings.CutPrefix(clean, "@"); ok {
		all = append(all, strings.TrimLeft(rest, `/\`))
	}
	for _, one := range slices.Clone(all) {
		if decoded, err := url.PathUnescape(strings.TrimPrefix(one, "file://")); err == nil {
			all = append(all, decoded)
		}
	}
	for i, one := range all {
		all[i] = path.Clean(one)
	}
	return all
}

// edited reports whether an edit to that text may add these lines. It may indent them, and the first and the last one may be parts of a line.
func edited(adds []string, text string) bool {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	known := map[string]bool{"": true}
	for _, line := range lines {
		known[strings.TrimLeft(line, " \t")] = true
	}
	part := func(line, of string) bool { return of != "" && strings.Contains(line, of) }
	first, last := strings.TrimSpace(lines[0]), strings.TrimSpace(lines[len(lines)-1])
	return !slices.ContainsFunc(adds, func(line string) bool {
		return !known[strings.TrimLeft(line, " \t")] && !part(line, first) && !part(line, last)
	})
}

// asResolved is a call's input with the path of the file that Gemini changes.
func asResolved(input json.RawMessage, file string) json.RawMessage {
	in, err := agent.ReadInput(input)
	if err != nil || file == "" || in.Words(tooling.File) == file {
		return input
	}
	in[tooling.File] = agent.Encoded(file)
	return agent.Encoded(in)
}
