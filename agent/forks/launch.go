package forks

import (
	"io/fs"
	"slices"
	"strings"

	"berth/agent"
)

// terminals are variables that name the terminal or the multiplexer that an agent runs in. In some,
// Copilot CLI draws its composer in another way.
var terminals = []string{
	"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINAL_EMULATOR", "TMUX", "TMUX_PANE", "STY", "ZELLIJ*", "WT_SESSION", "KITTY_*", "ITERM_*",
	"VSCODE_*", "GHOSTTY_*", "WEZTERM_*", "ALACRITTY_*", "KONSOLE_*", "VTE_VERSION", "HERDR_*", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES",
}

// Begin is the launch of an agent without anything of Berth's. own are variables of the agent's sessions, which
// name another one. follows is false if Berth follows no conversation: with isolate none, and for a subcommand.
func Begin(s agent.Start, subcommands, own []string) (l agent.Launch, follows bool) {
	l = agent.Launch{Argv: slices.Clone(s.Argv), Headless: Prints(s.Argv)}
	if s.Isolate == agent.IsolateNone || Subcommand(s.Argv, subcommands) {
		return l, false
	}
	if s.Groom != agent.GroomPristine {
		l.Unset = slices.Concat(terminals, own)
	}
	return l, true
}

// Subcommand reports whether the command is one of the agent's that have no conversation.
func Subcommand(argv, subcommands []string) bool {
	return len(argv) > 1 && slices.Contains(subcommands, argv[1])
}

// Prints reports whether the command prints one answer and exits: -p, --prompt.
func Prints(argv []string) bool {
	for _, word := range argv[min(1, len(argv)):] {
		if word == "--" {
			return false
		}
		if word == "--prompt" || strings.HasPrefix(word, "--prompt=") || strings.HasPrefix(word, "-p") {
			return true
		}
	}
	return false
}

// Newest is the conversation in the file that was written last. id is the conversation of a file; empty for a
// file that doesn't count.
func Newest(disk fs.FS, files []string, id func(file string) string) (newest string) {
	at := int64(0)
	for _, file := range files {
		info, err := fs.Stat(disk, file)
		if err != nil || info.ModTime().UnixNano() <= at {
			continue
		}
		if one := id(file); one != "" {
			newest, at = one, info.ModTime().UnixNano()
		}
	}
	return newest
}
