package agent

import (
	"path"
	"slices"
	"strings"
)

// Running is how an agent that a person has started in a shell can be followed.
type Running struct {
	StateFile, LogFiles string // as in Launch; empty for none
}

// interpreters run the script that their command line names. Shells with the option -c run a command instead.
var (
	interpreters = append([]string{"node", "nodejs", "bun", "deno", "python", "python3"}, shells...)
	shells       = []string{"sh", "bash", "dash", "zsh", "ksh", "fish"}
)

// scriptEndings are cut off a script's name.
var scriptEndings = []string{".js", ".mjs", ".cjs", ".ts"}

// packageEndings may follow the agent's name in the name of its package.
var packageEndings = []string{"", "-code", "-cli", "-ai"}

// NameOf is the agent that a running program is by its command line: one of the names that known accepts,
// or empty. args are its arguments. Any program can show any command line, so it is only a claim.
func NameOf(argv []string, exe string, known func(name string) bool) (name string, args []string) {
	if len(argv) == 0 {
		return "", nil
	}
	program := path.Base(strings.TrimPrefix(argv[0], "-"))
	if !slices.Contains(interpreters, program) && !slices.Contains(interpreters, path.Base(exe)) || known(program) {
		for _, name := range []string{strings.TrimSuffix(program, ".exe"), strings.TrimSuffix(path.Base(exe), ".exe")} {
			if known(name) {
				return name, argv[1:]
			}
		}
		return "", nil
	}
	for i, word := range argv[1:] {
		if strings.HasPrefix(word, "-") {
			if slices.Contains(shells, program) && !strings.HasPrefix(word, "--") && strings.Contains(word, "c") {
				return "", nil
			}
			continue
		}
		return scriptOf(word, known), argv[i+2:]
	}
	return "", nil
}

// scriptOf is the agent that a script is, by its own name or by its package's.
func scriptOf(script string, known func(string) bool) string {
	name := path.Base(script)
	for _, ending := range scriptEndings {
		name = strings.TrimSuffix(name, ending)
	}
	if known(name) {
		return name
	}
	at := strings.LastIndex(script, "/node_modules/")
	if at < 0 {
		return ""
	}
	for part := range strings.SplitSeq(script[at+len("/node_modules/"):], "/") {
		for _, ending := range packageEndings {
			if name, ok := strings.CutSuffix(part, ending); ok && known(name) {
				return name
			}
		}
		if !strings.HasPrefix(part, "@") {
			break // what is below the package's own folder has any name
		}
	}
	return ""
}
