package codex

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"berth/agent"
	"berth/agent/hooks"
)

// profileName is the profile with a session's settings. Codex merges it over config.toml, and
// writes its own changes into it.
const profileName = "berth"

// profile adds the session's settings and MCP servers to the launch. It writes them into a file,
// because other users can read a command line. It returns the words that select the profile.
func profile(l *agent.Launch, s agent.Start, own string) ([]string, error) {
	settings := maps.Clone(s.Settings)
	delete(settings, "hooks") // they have a file of their own
	if len(s.MCP) > 0 {
		servers, err := toolServers(s.MCP)
		if err != nil {
			return nil, err
		}
		if settings == nil {
			settings = map[string]any{}
		}
		all := map[string]any{}
		if given, ok := settings["mcp_servers"].(map[string]any); ok {
			maps.Copy(all, given)
		}
		maps.Copy(all, servers)
		settings["mcp_servers"] = all
	}
	if len(settings) == 0 {
		return nil, nil
	}
	for _, word := range s.Argv[1:] {
		if word == "-p" || word == "--profile" || strings.HasPrefix(word, "--profile=") {
			return nil, fmt.Errorf("%w: codex takes one profile, and settings and mcp of a session are one; leave %s out, or write them into that profile", agent.ErrStart, word)
		}
	}
	text, err := toml(settings)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(text))
	first := "# " + hex.EncodeToString(sum[:8]) + "\n"
	file := filepath.Join(own, profileName+".config.toml")
	before, err := read(s.Disk, file)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(before), first) { // Codex's own additions after it are kept
		l.Files[file] = []byte(first + text)
	}
	return []string{"--profile", profileName}, nil
}

// toolServers are the MCP servers by name, in config.toml's format. There a server's transport
// follows from its fields.
func toolServers(mcp map[string]any) (map[string]any, error) {
	if whole, ok := mcp["mcpServers"].(map[string]any); ok {
		mcp = whole
	}
	servers := map[string]any{}
	for name, server := range mcp {
		fields, ok := server.(map[string]any)
		if !ok || fields["command"] == nil && fields["url"] == nil {
			return nil, fmt.Errorf("%w: the server %q of mcp has neither command nor url", agent.ErrStart, name)
		}
		fields = maps.Clone(fields)
		delete(fields, "type")
		if headers, ok := fields["headers"]; ok {
			delete(fields, "headers")
			fields["http_headers"] = headers
		}
		servers[name] = fields
	}
	return servers, nil
}

// callersHooks adds the groups of hooks from the session's settings, and the trust in each: a
// caller who may start the session may run commands.
func callersHooks(settings map[string]any, add func(event string, group json.RawMessage, trust func(key string) ([]trusted, error)) error) error {
	all, _ := settings["hooks"].(map[string]any) // checked when it was read
	for _, name := range slices.Sorted(maps.Keys(all)) {
		groups, ok := all[name].([]any)
		if !ok || !slices.Contains(events, name) {
			return fmt.Errorf("%w: settings.hooks.%s: codex has no such event; it has %s", agent.ErrStart, name, strings.Join(events, " "))
		}
		for _, g := range groups {
			group, err := hooks.Encode(g)
			if err != nil {
				return err
			}
			if err := add(name, group, func(key string) ([]trusted, error) { return trustGroup(name, key, group) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// trustGroup is the trust in each hook of a group. It refuses a hook with other fields, because it
// isn't known whether Codex's hash covers them.
func trustGroup(event, key string, group json.RawMessage) ([]trusted, error) {
	var g struct {
		Matcher *string           `json:"matcher"`
		Hooks   []json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(group, &g); err != nil || len(g.Hooks) == 0 {
		return nil, fmt.Errorf("%w: settings.hooks.%s: a group has hooks: [{type: command, command: ...}] and perhaps a matcher", agent.ErrStart, event)
	}
	var list []trusted
	for i, raw := range g.Hooks {
		var h map[string]any
		_ = json.Unmarshal(raw, &h) // any other value has no command
		command, _ := h["command"].(string)
		timeout := hookTimeout(event)
		for name, value := range h {
			n, number := value.(float64)
			switch {
			case name == "type" && value == "command", name == "command" && command != "":
			case name == "timeout" && number && n > 0:
				timeout = int(n)
			default:
				return nil, fmt.Errorf("%w: settings.hooks.%s: a hook has type: command, command and perhaps timeout; leave %s out", agent.ErrStart, event, name)
			}
		}
		hash, err := trustHash(event, command, timeout, g.Matcher)
		if err != nil {
			return nil, err
		}
		list = append(list, trusted{key + ":" + strconv.Itoa(i), hash})
	}
	return list, nil
}
