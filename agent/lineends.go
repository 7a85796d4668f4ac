package agent

import (
	"path"
	"slices"
	"strings"
)

// ReturnMatters reports whether a CR at the end of each line may change what a file's text does. A shell takes it for a part of a word,
// and a backslash before it continues no line.
func ReturnMatters(file, text string) bool {
	kind := path.Ext(strings.TrimPrefix(path.Base(file), "."))
	shell := strings.HasPrefix(text, "#!") || slices.Contains([]string{"", ".sh", ".bash", ".zsh", ".ksh", ".bats", ".mk"}, kind)
	return shell || strings.Contains(text, "\\\n") || strings.Contains(text, "<<")
}
