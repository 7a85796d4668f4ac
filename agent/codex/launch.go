package codex

import (
	"path/filepath"
	"slices"
	"strings"

	"berth/agent"
	"berth/agent/forks"
	"berth/agent/userfiles"
)

// ChoosesConversations: Codex has no option for a conversation's id.
func (Driver) ChoosesConversations() {}

// unset are variables that tell Codex which terminal or agent's session it runs in. They are wrong
// here if the server was started from such a place.
var unset = []string{
	"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINAL_EMULATOR", "LC_TERMINAL", "LC_TERMINAL_VERSION", "TMUX", "TMUX_PANE", "STY", "ZELLIJ*",
	"WT_SESSION", "WT_PROFILE_ID", "KITTY_*", "ITERM_*", "ConEmu*", "VSCODE_*", "GHOSTTY_*", "WEZTERM_*", "ALACRITTY_*", "KONSOLE_*", "VTE_VERSION",
	"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES",
	"CODEX_CI", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_PERMISSION_PROFILE", "CODEX_SANDBOX*", "CODEX_MANAGED_*",
}

// homeName is the folder of the session's own home, in the session's folder.
const homeName = "codex"

// noDaemon keeps all of Codex in one process. Otherwise its first terminal starts a daemon that
// continues the turn after the session's end, and runs the hooks of all sessions with the
// environment of the first one.
const noDaemon = "--no-daemon"

// Command is the default command.
func (Driver) Command() []string { return []string{"codex"} }

// Launch starts Codex as one process in a home of the session's own. The home has links to the
// user's files, and copies of the files that Codex writes settings and trust into; the copies have
// Berth's hooks. Codex chooses the conversation's id itself.
func (Driver) Launch(s agent.Start) (agent.Launch, error) {
	l := agent.Launch{Argv: slices.Clone(s.Argv)}
	if c := command(s.Argv); c == "exec" || c == "e" { // it prints its answer and exits
		l.Headless, l.Stream = true, slices.Contains(s.Argv, "--json")
	}
	if s.Isolate == agent.IsolateNone || isSubcommand(s.Argv) {
		return l, nil
	}
	if s.Groom != agent.GroomPristine {
		l.Unset = unset
	}
	home := userHome(s.Env)
	own := filepath.Join(s.Folder, homeName)
	l.LogFiles = own + logPattern
	more, err := ownHome(&l, s, home, own)
	if err != nil {
		return l, err
	}
	words, err := profile(&l, s, own)
	if err != nil {
		return l, err
	}
	if !more {
		words = append(words, notWidening...)
	}
	if !slices.Contains(s.Argv, noDaemon) {
		words = append(words, noDaemon)
	}
	if c := command(s.Argv); c == "resume" || c == "fork" { // the command itself names the conversation
		l.Argv = slices.Insert(l.Argv, 1, words...)
		return l, nil
	}
	return l, conversations(&l, s, home, own).Choose(&l, s, words...)
}

// userHome is the folder where Codex keeps its files.
func userHome(env map[string]string) string { return userfiles.Home(env, "CODEX_HOME", ".codex") }

// subcommands show no conversation on a terminal, so Berth runs them unchanged. resume does show
// one, so it isn't in the list.
var subcommands = []string{
	"exec", "e", "review", "login", "logout", "mcp", "mcp-server", "app-server", "app", "completion", "sandbox", "debug", "apply", "a",
	"queue", "cloud", "features", "help", "execpolicy", "agents", "plugin", "remote-control", "update", "doctor", "archive", "delete", "unarchive",
	"migrate-rollouts", "migrate-nfs-db", "exec-server",
}

// valued are options whose value is the next word.
var valued = []string{
	"-c", "--config", "-m", "--model", "-p", "--profile", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd", "-i", "--image",
	"--add-dir", "--enable", "--disable", "--remote", "--local-provider",
}

// command is the first word that isn't an option or an option's value.
func command(argv []string) string {
	for i := 1; i < len(argv); i++ {
		switch word := argv[i]; {
		case word == "--":
			return ""
		case slices.Contains(valued, word):
			i++
		case !strings.HasPrefix(word, "-"):
			return word
		}
	}
	return ""
}

func isSubcommand(argv []string) bool {
	return slices.Contains(subcommands, command(argv)) || slices.ContainsFunc(argv, func(word string) bool {
		return word == "--version" || word == "-V" || word == "--help" || word == "-h"
	})
}

// conversations are those with a log, in the user's home or in the session's own.
func conversations(l *agent.Launch, s agent.Start, home, own string) forks.Chosen {
	users := func(id string) bool { return spoken(s.Disk, home, id) }
	return forks.Chosen{
		Name: "codex", Resume: "resume", Latest: []string{"resume", "--last"}, Known: users,
		Has:  func(id string) bool { return spoken(s.Disk, own, id) || users(id) },
		Fork: func(string) []string { return forkOf(l, s, home, own) },
	}
}
