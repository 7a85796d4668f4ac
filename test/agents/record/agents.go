package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"berth/test/agents/claude"
	"berth/test/agents/codex"
	"berth/test/agents/gemini"
	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/generate"
	"berth/test/agents/modelapi/responses"
)

// prepared is an agent with a home of its own and its model API.
type prepared struct {
	exe       string
	args      []string // before the script's
	workspace string
	env       map[string]string
	api       *modelapi.Server
	socket    string // where hooks report to
	live      string // folder of the live state files
	logs      string // folder of the session logs' folders
}

// prepare makes the script's agent ready to start. Its files are in dir.
func prepare(ctx context.Context, dir string, s script) (*prepared, error) {
	a := &prepared{socket: filepath.Join(dir, "hooks.sock"), live: filepath.Join(dir, "none"), logs: filepath.Join(dir, "none")}
	begin, install := modelapi.StartChecked, claude.Install
	switch s.agent {
	case "claude":
	case "codex":
		begin, install = responses.Start, codex.Install
	case "gemini":
		begin, install = generate.Start, gemini.Install
	default:
		return nil, fmt.Errorf("%q isn't an agent that this records", s.agent)
	}
	var err error
	if a.exe, err = install(ctx); err != nil {
		return nil, err
	}
	if a.api, err = begin(ctx); err != nil {
		return nil, err
	}
	if err := a.home(ctx, dir, s); err != nil {
		a.api.Close()
		return nil, err
	}
	return a, nil
}

// home makes the agent's home.
func (a *prepared) home(ctx context.Context, dir string, s script) error {
	switch s.agent {
	case "codex":
		seed := codex.Ready()
		switch s.without {
		case "trust":
			seed.Trusted, seed.Git = false, true // Codex asks about repositories alone
		case "login":
			seed.Login = true
		}
		seed.Features = "default_mode_request_user_input = true\n" // the model may ask in any mode
		h, err := codex.NewHome(dir, a.api.URL(), seed)
		if err != nil {
			return err
		}
		a.workspace, a.env = h.Workspace, h.Env(a.api.URL())
		return nil
	case "gemini":
		seed := gemini.Ready()
		seed.Trusted, seed.Authenticated = s.without != "trust", s.without != "auth"
		if strings.Contains(string(s.play), "MOCK: mcp") {
			server := filepath.Join(dir, "mcpserver")
			if out, err := exec.CommandContext(ctx, "go", "build", "-o", server, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
				return fmt.Errorf("build the server of tools: %w: %s", err, out)
			}
			seed.Settings = map[string]any{"mcpServers": map[string]any{"lab": map[string]any{"command": server}}}
		}
		h, err := gemini.NewHome(dir, seed)
		if err != nil {
			return err
		}
		a.workspace, a.env = h.Workspace, h.Env(a.api.URL())
		return nil
	}
	seed, err := seedWithout(s.without)
	if err != nil {
		return err
	}
	h, err := claude.NewHome(dir, seed)
	if err != nil {
		return err
	}
	settings, err := hookSettings(dir, a.socket, s.allows)
	if err != nil {
		return err
	}
	a.workspace, a.env, a.args = h.Workspace, h.Env(a.api.URL()), []string{"--settings", settings}
	if strings.Contains(s.without, "account") {
		delete(a.env, "ANTHROPIC_API_KEY")
	}
	if s.form {
		config, err := serverConfig(ctx, dir)
		if err != nil {
			return err
		}
		a.args = append(a.args, "--mcp-config="+config)
	}
	a.live, a.logs = filepath.Join(h.Config, "sessions"), filepath.Join(h.Config, "projects")
	return nil
}

// serverConfig builds the MCP server whose tools ask, and writes the file that names it.
func serverConfig(ctx context.Context, dir string) (file string, err error) {
	exe := filepath.Join(dir, "mcpserver")
	if out, err := exec.CommandContext(ctx, "go", "build", "-o", exe, "berth/test/agents/mcpserver").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the MCP server: %w\n%s", err, out)
	}
	file = filepath.Join(dir, "mcp.json")
	servers := map[string]any{"lab": map[string]any{"command": exe, "args": []string{filepath.Join(dir, "listed")}}}
	return file, host.WriteJSON(file, map[string]any{"mcpServers": servers})
}
