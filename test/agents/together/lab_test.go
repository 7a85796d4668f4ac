//go:build agents

package together

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/agents/claude"
	"berth/test/agents/codex"
	"berth/test/agents/gemini"
	"berth/test/agents/modelapi"
	"berth/test/agents/modelapi/generate"
	"berth/test/agents/modelapi/responses"
	"berth/test/agents/testbed"
)

// The programs under test, installed once.
var (
	programs testbed.Programs
	agents   = map[string]string{} // paths by name
	acpxExe  string
)

func TestMain(m *testing.M) {
	os.Exit(testbed.Main(m, "agents and acpx", install, &programs, nil))
}

func install(ctx context.Context) (exe string, err error) {
	for name, install := range map[string]func(context.Context) (string, error){"claude": claude.Install, "codex": codex.Install, "gemini": gemini.Install} {
		if agents[name], err = install(ctx); err != nil {
			return "", err
		}
	}
	acpxExe, err = ACPX.Install(ctx)
	return acpxExe, err
}

var check = testbed.Check

const patient = time.Minute // for what must happen; only a busy machine needs it

// home is a real agent's home with its model.
type home struct {
	agent, workspace string
	api              *modelapi.Server
	env              map[string]string
	command          []string
}

// newHome makes the home of an agent below the lab's folder. The agent asks api.
func newHome(l *testbed.Lab, agent, name string, api *modelapi.Server) home {
	l.T.Helper()
	dir := filepath.Join(l.Dir, name)
	check(l.T, os.Mkdir(dir, 0o700))
	h := home{agent: agent, api: api, command: []string{agents[agent]}}
	switch agent {
	case "claude":
		made, err := claude.NewHome(dir, claude.Ready())
		check(l.T, err)
		h.workspace, h.env = made.Workspace, made.Env(api.URL())
		h.command = append(h.command, "--permission-mode", "default")
	case "codex":
		made, err := codex.NewHome(dir, api.URL(), codex.Ready())
		check(l.T, err)
		h.workspace, h.env = made.Workspace, made.Env(api.URL())
	case "gemini":
		made, err := gemini.NewHome(dir, gemini.Ready())
		check(l.T, err)
		h.workspace, h.env = made.Workspace, made.Env(api.URL())
	}
	return h
}

// apis start the models of the agents.
var apis = map[string]func(context.Context) (*modelapi.Server, error){"claude": modelapi.Start, "codex": responses.Start, "gemini": generate.Start}

// refused are hosts that an agent tries at its start whatever its settings say.
var refused = map[string][]string{"codex": {"raw.githubusercontent.com:443"}}

// profile is a home as a profile in berth.yaml, with more fields, each a line.
func (h home) profile(more ...string) string {
	words, _ := json.Marshal(h.command) // strings
	env, _ := json.Marshal(h.env)
	text := fmt.Sprintf("    agent: %s\n    cwd: %s\n    command: %s\n    env: %s\n    size: 120x40\n", h.agent, h.workspace, words, env)
	for _, line := range more {
		text += "    " + line + "\n"
	}
	return text
}

// file is the text of a file, empty if there is none.
func file(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
