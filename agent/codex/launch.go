package codex

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"berth/agent"
)

// ChoosesConversations: no option gives a conversation its id.
func (Driver) ChoosesConversations() {}

// unset are variables by which Codex believes to be in some other terminal, or
// inside a session of an agent: a server that was started from there must not
// pass that on.
var unset = []string{
	"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINAL_EMULATOR", "LC_TERMINAL", "LC_TERMINAL_VERSION", "TMUX", "TMUX_PANE", "STY", "ZELLIJ*",
	"WT_SESSION", "WT_PROFILE_ID", "KITTY_*", "ITERM_*", "ConEmu*", "VSCODE_*", "GHOSTTY_*", "WEZTERM_*", "ALACRITTY_*", "KONSOLE_*", "VTE_VERSION",
	"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES",
	"CODEX_CI", "CODEX_THREAD_ID", "CODEX_SESSION_ID", "CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_PERMISSION_PROFILE", "CODEX_SANDBOX*", "CODEX_MANAGED_*",
}

// homeName is the folder, in the session's, of the session's own home.
const homeName = "codex"

// noDaemon keeps all of Codex in one process. Else its first terminal starts a
// daemon that goes on with the turn when the session is over, and runs the hooks
// of all sessions with the environment of the first.
const noDaemon = "--no-daemon"

// Command is what is run when nobody says otherwise.
func (Driver) Command() []string { return []string{"codex"} }

// Launch makes Codex one process in a home of the session's own: the user's
// files by links, but for those that Codex writes settings and trust into,
// which are copies with our hooks in them. Codex chooses the conversation's id
// itself.
func (Driver) Launch(s agent.Start) (agent.Launch, error) {
	l := agent.Launch{Argv: slices.Clone(s.Argv)}
	if c := command(s.Argv); c == "exec" || c == "e" { // it prints its answer and ends
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
	talk, conversation, err := takeUp(&l, s, home, own)
	if err != nil {
		return l, err
	}
	l.Conversation = conversation
	l.Argv = slices.Insert(l.Argv, 1, append(words, talk...)...)
	return l, nil
}

// userHome is where Codex keeps its files.
func userHome(env map[string]string) string {
	if dir := env["CODEX_HOME"]; dir != "" {
		return filepath.Clean(dir)
	}
	return filepath.Join(env["HOME"], ".codex")
}

// subcommands are those that show no conversation on a terminal: they are run
// as they are. resume does, and is not among them.
var subcommands = []string{
	"exec", "e", "review", "login", "logout", "mcp", "mcp-server", "app-server", "app", "completion", "sandbox", "debug", "apply", "a",
	"queue", "cloud", "features", "help", "execpolicy", "agents", "plugin", "remote-control", "update", "doctor", "archive", "delete", "unarchive",
	"migrate-rollouts", "migrate-nfs-db", "exec-server",
}

// valued are options whose value is the word behind them.
var valued = []string{
	"-c", "--config", "-m", "--model", "-p", "--profile", "-s", "--sandbox", "-a", "--ask-for-approval", "-C", "--cd", "-i", "--image",
	"--add-dir", "--enable", "--disable", "--remote", "--local-provider",
}

// command is the first word that is neither an option nor an option's value.
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

// takeUp is how to go on with a conversation. One of which no log is there was
// never spoken in: nothing is lost by beginning it anew.
func takeUp(l *agent.Launch, s agent.Start, home, own string) (words []string, conversation string, err error) {
	if c := command(s.Argv); c == "resume" || c == "fork" {
		return nil, "", nil // the command itself says which
	}
	switch {
	case s.Fork != "":
		return forkOf(l, s, home, own)
	case s.Resume && s.Conversation != "" && (spoken(s.Disk, own, s.Conversation) || spoken(s.Disk, home, s.Conversation)):
		return []string{"resume", s.Conversation}, s.Conversation, nil
	case s.Resume || s.TakeUp == "":
		return nil, "", nil
	case s.TakeUp == agent.Latest:
		return []string{"resume", "--last"}, "", nil
	case !spoken(s.Disk, home, s.TakeUp):
		return nil, "", fmt.Errorf("%w: codex has none with the id %s in %s", agent.ErrNoConversation, s.TakeUp, filepath.Join(home, "sessions"))
	}
	return []string{"resume", s.TakeUp}, s.TakeUp, nil
}
