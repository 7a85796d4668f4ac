//go:build agents

package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServers: servers of tools of the session, of its command and of the
// user's home are all there.
func TestServers(t *testing.T) {
	server, err := mcpExe()
	check(t, err)
	l := newStartLab(t, Ready(), func(l *lab) string {
		return fmt.Sprintf("profiles:\n  tools:\n    agent: claude\n    cwd: %s\n    size: %s\n    command: [%s, --mcp-config, own.json]\n    mcp: {one: {command: %s}}\n",
			l.home.Workspace, size, programs.Agent, server)
	})
	own := filepath.Join(l.home.Workspace, "own.json")
	check(t, os.WriteFile(own, fmt.Appendf(nil, `{"mcpServers":{"two":{"command":%q}}}`, server), 0o600))
	user := filepath.Join(l.home.Config, ".claude.json")
	data, err := os.ReadFile(user)
	check(t, err)
	check(t, os.WriteFile(user, []byte(strings.Replace(string(data), "{", fmt.Sprintf(`{"mcpServers":{"three":{"command":%q}},`, server), 1)), 0o600))
	l.start("tools", nil, []string{"--profile", "tools"})
	l.Is("idle")
	l.send("/mcp")
	l.See(`✔ one\b|\bone\b.*connected`, `✔ two\b|\btwo\b.*connected`, `✔ three\b|\bthree\b.*connected`)
	l.key("Escape")
	l.See("MCP dialog dismissed")
	l.ready()
	l.send("MOCK: text with tools")
	l.See("● with tools")
	l.Is("idle")
	body := string(l.Asked("MOCK: text with tools", 0).Body)
	for _, name := range []string{"one", "two", "three"} {
		if !strings.Contains(body, "mcp__"+name+"__ask") {
			t.Errorf("the request to the model lacks the tool of %s", name)
		}
	}
	if i := l.info(); len(i.MCP) != 1 || i.MCP[0] != "one" {
		t.Errorf("info lists %q", i.MCP)
	}
}
