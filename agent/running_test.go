package agent

import (
	"slices"
	"strings"
	"testing"
)

func TestNameOf(t *testing.T) {
	known := func(name string) bool { return slices.Contains([]string{"claude", "codex", "gemini"}, name) }
	for line, want := range map[string]string{
		"claude --model x":                                               "claude",
		"/usr/local/bin/claude":                                          "claude",
		"-claude":                                                        "claude",
		"/opt/claude.exe":                                                "claude",
		"node /usr/local/bin/codex exec":                                 "codex",
		"node --no-warnings=x /usr/bin/gemini":                           "gemini",
		"node /x/node_modules/@openai/codex/bin/codex.js":                "codex",
		"node /x/node_modules/@anthropic-ai/claude-code/cli.js":          "claude",
		"/usr/bin/node /x/node_modules/@google/gemini-cli/dist/index.js": "gemini",
		"node /x/node_modules/other/claude-code/cli.js":                  "",
		"node server.js":                                                 "",
		"node":                                                           "",
		"vim claude":                                                     "",
		"sudo -u bob claude":                                             "",
		"bash /home/x/claude":                                            "claude",
		"/bin/sh -e /home/x/claude -p":                                   "claude",
		"bash -c claude":                                                 "",
		"bash -lc claude":                                                "",
		"bash":                                                           "",
		"less /x/node_modules/@openai/codex/README":                      "",
		"claude-monitor":                                                 "",
	} {
		if got, _ := NameOf(strings.Fields(line), "", known); got != want {
			t.Errorf("%s is %q, want %q", line, got, want)
		}
	}
	if got, args := NameOf([]string{"2.1.330", "-p"}, "/home/x/bin/claude", known); got != "claude" || len(args) != 1 {
		t.Errorf("by its file it is %q %q", got, args)
	}
	if got, args := NameOf([]string{"node", "--a", "/bin/codex", "exec", "b"}, "", known); got != "codex" || !slices.Equal(args, []string{"exec", "b"}) {
		t.Errorf("%q %q", got, args)
	}
}
