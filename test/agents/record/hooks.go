package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

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

// hookSettings writes a settings file that makes claude call this program for every event. With allows it
// permits what claude asks, after this time.
func hookSettings(dir, socket, allows string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	hooks := map[string]any{}
	for _, e := range events {
		command := fmt.Sprintf("exec '%s' hook '%s'", self, socket)
		if e == "PermissionRequest" && allows != "" {
			command += " '" + allows + "'"
		}
		hooks[e] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}
	}
	data, err := json.Marshal(map[string]any{"hooks": hooks})
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "hook-settings.json")
	return file, os.WriteFile(file, data, 0o600)
}

// hook is what claude runs: it hands the payload on. With a time it then waits that long, and allows.
func hook(socket string, allows []string, payload io.Reader, answer io.Writer) int {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return 0 // the recording is over
	}
	_, err = io.Copy(conn, payload)
	if err := errors.Join(err, conn.Close()); err != nil {
		return 1
	}
	if len(allows) == 0 {
		return 0
	}
	after, err := time.ParseDuration(allows[0])
	if err != nil {
		return 1
	}
	time.Sleep(after)
	if _, err := io.WriteString(answer, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`); err != nil {
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
		case "account": // no key is in the environment
		default:
			return seed, fmt.Errorf("a home is not prepared for %q: onboarding, key, trust, bypass, account", word)
		}
	}
	return seed, nil
}
