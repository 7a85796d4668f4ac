package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"berth/test/agents/claude"
)

// events are all hooks of the pinned version but WorktreeCreate, which would
// replace what it reports, and FileChanged, which wants names of files.
var events = []string{
	"PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "Notification", "UserPromptSubmit", "UserPromptExpansion", "SessionStart",
	"SessionEnd", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "PermissionRequest", "PermissionDenied", "Setup",
	"TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation", "ElicitationResult", "ConfigChange", "WorktreeRemove", "InstructionsLoaded",
	"CwdChanged", "MessageDisplay",
}

// hookSettings writes a settings file that makes claude call this program for every event.
func hookSettings(dir, socket string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	hooks := map[string]any{}
	for _, e := range events {
		hooks[e] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": fmt.Sprintf("exec '%s' hook '%s'", self, socket)}}}}
	}
	data, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "hook-settings.json")
	return file, os.WriteFile(file, data, 0o600)
}

// hook is what claude runs: it hands the payload on and says nothing.
func hook(socket string, payload io.Reader) int {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return 0 // the recording is over
	}
	defer conn.Close()
	if _, err := io.Copy(conn, payload); err != nil {
		return 1
	}
	return 0
}

// listen notes payloads until the function it gives.
func (r *recording) listen(socket string) (stop func(), err error) {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	var calls sync.WaitGroup
	calls.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // closed
			}
			calls.Go(func() {
				defer conn.Close()
				if data, err := io.ReadAll(conn); err == nil && json.Valid(data) {
					r.hook(data)
				}
			})
		}
	})
	return func() {
		_ = listener.Close() // its loop ends
		calls.Wait()
	}, nil
}

func seedWithout(list string) (claude.Seed, error) {
	seed := claude.Ready()
	for word := range strings.SplitSeq(list, ",") {
		switch word {
		case "":
		case "onboarding":
			seed.Onboarded = false
		case "key":
			seed.KeyApproved = false
		case "trust":
			seed.Trusted = false
		case "bypass":
			seed.BypassAccepted = false
		default:
			return seed, fmt.Errorf("a home is not prepared for %q: onboarding, key, trust, bypass", word)
		}
	}
	return seed, nil
}
