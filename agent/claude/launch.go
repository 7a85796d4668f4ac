package claude

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"berth/agent"
	"berth/agent/userfiles"
)

// unset are variables that tell Claude which terminal or agent's session it runs in. They change
// what it draws and which keys it asks for, and are wrong here if the server was started from such
// a place.
var unset = []string{
	"TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TERMINAL_EMULATOR", "LC_TERMINAL", "LC_TERMINAL_VERSION", "TMUX", "TMUX_PANE", "STY", "ZELLIJ*",
	"WT_SESSION", "WT_PROFILE_ID", "KITTY_*", "ITERM_*", "ConEmu*", "VSCODE_*", "GHOSTTY_*", "WEZTERM_*", "ALACRITTY_*", "KONSOLE_*", "VTE_VERSION",
	"NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES",
	"CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_NO_FLICKER",
	"CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_EFFORT", "AI_AGENT",
}

// defaults are variables that Claude gets unless the session itself sets them. Its agents view is
// one key away from an empty composer, and moves the conversation to another process, so they turn
// it off. The gate's own cap says how often it may hold a turn's end back; Claude would let the ninth go.
func defaults() map[string]string {
	return map[string]string{"CLAUDE_CODE_FORCE_SYNC_OUTPUT": "1", "CLAUDE_CODE_DISABLE_AGENT_VIEW": "1", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}
}

// Berth's own files in the session's folder.
const (
	settingsName = "claude-settings.json"
	mcpName      = "claude-mcp.json"
	homeName     = "claude" // for a session with a home of its own
)

// Command is the default command.
func (Driver) Command() []string { return []string{"claude"} }

// Launch adds to the command what makes Claude report to Berth: settings with Berth's hooks, which
// Claude merges with the user's own, and the conversation's id. It keeps and merges the command's
// own options; each option appears once.
func (Driver) Launch(s agent.Start) (agent.Launch, error) {
	l := agent.Launch{Argv: slices.Clone(s.Argv), Files: map[string][]byte{}}
	config := configDir(s.Env)
	if s.Isolate == agent.IsolateFull {
		config = filepath.Join(s.Folder, homeName)
	}
	l.StateFile = filepath.Join(config, "sessions", "%d.json")
	l.LogFiles = filepath.Join(config, "projects", "*", "%s.jsonl")
	if isSubcommand(s.Argv) {
		return l, nil // it has no conversation
	}
	if s.Groom != agent.GroomPristine {
		l.Unset, l.Default = unset, defaults()
		l.Vouched = vouched(s.Own)
	}
	if s.Isolate == agent.IsolateFull {
		if err := ownHome(&l, s, config); err != nil {
			return l, err
		}
	}
	options := parseOptions(s.Argv)
	l.Stream, l.Headless = options.prints()
	settings, err := addSettings(&l, s, options)
	if err != nil {
		return l, err
	}
	mcp, err := addMCP(&l, s)
	if err != nil {
		return l, err
	}
	conversation, err := addConversation(&l, s, options, config)
	if err != nil {
		return l, err
	}
	l.Argv = slices.Insert(options.rest(), 1, slices.Concat(settings, mcp, conversation)...)
	return l, nil
}

// configDir is the folder where Claude keeps its files.
func configDir(env map[string]string) string {
	if dir := env["CLAUDE_CONFIG_DIR"]; dir != "" {
		return dir
	}
	return filepath.Join(env["HOME"], ".claude")
}

// addSettings writes the settings: those of the command, the session's merged over them, and
// Berth's hooks after the caller's.
func addSettings(l *agent.Launch, s agent.Start, options *options) ([]string, error) {
	if s.Hook == "" && len(s.Settings) == 0 {
		return nil, nil // the command's own settings stay in the command
	}
	given, err := options.settings(s)
	if err != nil {
		return nil, err
	}
	all := userfiles.Merge(given, s.Settings)
	if s.Hook != "" {
		if all["disableAllHooks"] == true {
			return nil, fmt.Errorf("%w: the settings have disableAllHooks, so Claude would report nothing to Berth; remove it, or write isolate: none", agent.ErrStart)
		}
		if all["tui"] == nil {
			all["tui"] = "default" // otherwise Claude may choose another renderer
		}
		if all["hooks"], err = withOurs(all["hooks"], s, options.has("--print")); err != nil {
			return nil, err
		}
		all = userfiles.Merge(all, map[string]any{"permissions": map[string]any{"allow": reports(s)}})
	}
	file := filepath.Join(s.Folder, settingsName)
	if l.Files[file], err = encode(all); err != nil {
		return nil, err
	}
	options.drop("--settings")
	return []string{"--settings", file}, nil
}

// addMCP writes the session's MCP servers into a file that Claude reads besides all others that it
// is given. Written with =, the option takes no word after it.
func addMCP(l *agent.Launch, s agent.Start) ([]string, error) {
	if len(s.MCP) == 0 {
		return nil, nil
	}
	config := s.MCP
	if _, whole := config["mcpServers"]; !whole {
		config = map[string]any{"mcpServers": s.MCP}
	}
	servers, ok := config["mcpServers"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%w: mcp has no servers; write mcp: {NAME: {command: PROGRAM, args: [...]}}", agent.ErrStart)
	}
	for name, server := range servers {
		fields, ok := server.(map[string]any)
		if !ok || fields["command"] == nil && fields["url"] == nil {
			return nil, fmt.Errorf("%w: the server %q of mcp has neither command nor url", agent.ErrStart, name)
		}
	}
	data, err := encode(config)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.Folder, mcpName)
	l.Files[file] = data
	return []string{"--mcp-config=" + file}, nil
}

func encode(v any) ([]byte, error) {
	out, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode what Claude is started with: %w", err)
	}
	return append(out, '\n'), nil
}
