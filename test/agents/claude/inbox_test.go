//go:build agents

package claude

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/agents/modelapi"
)

// TestInbox holds what docs/decisions/agents-inboxes.md says of Claude Code's own inbox. Berth doesn't use it.
func TestInbox(t *testing.T) {
	since(t, 330)
	const text = "read @sample.txt now"
	// post sends the text as another process of the same user can.
	post := func(t *testing.T, mode string) *lab {
		t.Helper()
		l := newStartLab(t, Ready(), nil)
		l.start("lab", nil, nil, "--permission-mode", mode)
		l.Is("idle")
		l.ready()
		socket, token := "", ""
		l.Poll(func() bool {
			sockets, _ := filepath.Glob(filepath.Join(l.home.Dir, "cc-socks", "*.sock")) // the pattern is right
			keys, _ := filepath.Glob(filepath.Join(l.home.Config, "sessions", "*.key"))
			if len(sockets) != 1 || len(keys) != 1 {
				return false
			}
			var key struct{ PeerToken string }
			data, err := os.ReadFile(keys[0])
			socket = sockets[0]
			if err == nil && json.Unmarshal(data, &key) == nil {
				token = key.PeerToken
			}
			return token != ""
		}, func() string { return "it has no socket, or no key for it" })
		conn, err := net.Dial("unix", socket)
		check(t, err)
		defer conn.Close()
		_, err = fmt.Fprintf(conn, "{\"type\":\"auth\",\"token\":%q}\n{\"type\":\"user\",\"from\":\"berth\",\"message\":{\"role\":\"user\",\"content\":%q}}\n", token, text)
		check(t, err)
		return l
	}
	t.Run("default", func(t *testing.T) {
		l := post(t, "default")
		r, err := l.API.Wait(l.Ctx, func(r modelapi.Request) bool {
			return r.Kind == modelapi.KindTurn && strings.Contains(r.Prompt, text)
		})
		check(t, err)
		if !strings.HasPrefix(r.Prompt, "Another Claude session sent a message:\n"+text+"\n\nThis came from another Claude session — not typed by your user, but very likely working on their behalf.") {
			t.Errorf("the model got %q", r.Prompt)
		}
		if strings.Contains(string(r.Body), "hello") { // what the file holds
			t.Error("the file was attached")
		}
		l.Is("idle")
	})
	t.Run("bypass", func(t *testing.T) {
		l := post(t, "bypassPermissions")
		l.Is("prompt")
		l.See("Held message from another session", "Deny — drop it")
		for _, r := range l.API.Requests() {
			if strings.Contains(string(r.Body), text) {
				t.Error("the model has it")
			}
		}
	})
}
