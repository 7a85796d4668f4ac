//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// notice has the fields of a notification that the test checks.
type notice struct {
	ID, Rule, Kind, Text, Session, State string
	Prompt                               *struct{ ID, Type, Tool, Input string }
	Failure                              *struct{ Class string }
	Report                               *struct{ Kind, Message string }
	Respond                              []string
	Attach                               string
}

// notices reads what the rule's command was given.
func notices(t *testing.T, file string) []notice {
	t.Helper()
	data, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	check(t, err)
	var all []notice
	for line := range strings.Lines(string(data)) {
		var n notice
		check(t, json.Unmarshal([]byte(line), &n))
		all = append(all, n)
	}
	return all
}

// TestNotify: a command and a URL get one notification each for a permission prompt of the real Claude Code. The
// command line in the notification answers the prompt.
func TestNotify(t *testing.T) {
	var mu sync.Mutex
	var posted []notice
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var n notice
		if err == nil {
			err = json.Unmarshal(body, &n)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		posted = append(posted, n)
	}))
	t.Cleanup(hook.Close)
	file := ""
	l := newStartLab(t, Ready(), func(l *lab) string {
		file = filepath.Join(l.home.Dir, "notices")
		return fmt.Sprintf("notify:\n  - {name: run, on: [prompt, error, exited, report:escalate], run: [sh, -c, 'cat >> %s']}\n  - {name: hook, on: [prompt], url: %s/x?token=hush-hush}\n", file, hook.URL)
	})
	l.start("lab", map[string]string{"DEPLOY_TOKEN": "very-secret-value"}, nil)
	l.Is("idle")
	till := func(n int) []notice {
		t.Helper()
		var all []notice
		l.Poll(func() bool { all = notices(t, file); return len(all) >= n }, func() string {
			return fmt.Sprintf("%d notices, want %d; events %+v", len(all), n, l.Events("notify"))
		})
		return all
	}

	// A prompt that is answered within 3 s makes no notification.
	l.send("MOCK: bash touch quick.txt")
	l.Is("prompt")
	l.Respond("hook", "accepted", "accept")
	l.Is("idle")

	asked := time.Now()
	l.send("MOCK: bash touch notified.txt # very-secret-value")
	s := l.Is("prompt")
	one := till(1)[0]
	if took := time.Since(asked); took < 3*time.Second {
		t.Errorf("notified after %s", took)
	}
	if one.Kind != "prompt" || one.Prompt == nil || one.Prompt.ID != s.Prompt.ID || one.Prompt.Tool != "Bash" || len(one.Respond) == 0 || one.Session != "lab" {
		t.Fatalf("notified: %+v", one)
	}
	if raw, err := os.ReadFile(file); err != nil || strings.Contains(string(raw), "very-secret-value") || !strings.Contains(one.Prompt.Input, "***") {
		t.Errorf("the notification has a secret: %s, %v", raw, err)
	}
	// A restarted server doesn't notify again, once the events of both notices are written.
	l.Poll(func() bool { return len(l.Events("notify")) == 2 }, func() string { return fmt.Sprintf("events %+v", l.Events("notify")) })
	check(t, l.Host.Kill())
	check(t, l.Host.Start())
	l.Is("prompt")
	time.Sleep(5 * time.Second) // a second notification would come by now
	if all := notices(t, file); len(all) != 1 {
		t.Errorf("after a restart there are %d notifications: %+v", len(all), all)
	}
	// It hides a part of the command, so its lines lead to the prompt, or deny.
	if len(one.Respond) != 2 || !strings.Contains(one.Respond[0], " prompt lab") || !strings.Contains(one.Respond[1], " deny") {
		t.Errorf("the lines of a prompt that is shown in part: %q", one.Respond)
	}
	l.runs(strings.Replace(one.Respond[0], "-p "+portOf(one.Respond[0]), "-p "+l.port(), 1))
	l.Respond("hook", "accepted", "accept")
	l.Is("idle")
	mu.Lock()
	if len(posted) != 1 || posted[0].Prompt == nil || posted[0].Prompt.ID != one.Prompt.ID || posted[0].Respond[0] != one.Respond[0] {
		t.Errorf("posted: %+v", posted)
	}
	mu.Unlock()

	// The next server notifies of a prompt that opens while no server runs.
	l.send("MOCK: slow 20 100")
	l.See("line 003")
	check(t, l.Paste(l.Ctx, "MOCK: bash touch away.txt"))
	l.See(prompt + "MOCK: bash touch away")
	l.key("Enter")
	check(t, l.Host.Kill())
	time.Sleep(6 * time.Second) // the time that the server is away
	check(t, l.Host.Start())
	two := till(2)[1]
	if two.Kind != "prompt" || two.Prompt == nil || two.Prompt.Input != "touch away.txt" || len(two.Respond) != 2 {
		t.Fatalf("notified: %+v; %+v\n%s", two, l.Said().Prompt, l.story())
	}
	l.runs(strings.Replace(two.Respond[0], "-p "+portOf(two.Respond[0]), "-p "+l.port(), 1))
	l.Is("idle")
	if !l.Made("away.txt") {
		t.Error("the line was run, and the command did not")
	}

	l.send("MOCK: error 403")
	l.Is("error")
	if three := till(3)[2]; three.Kind != "error" || three.Failure == nil || three.Failure.Class != "unauthorized" {
		t.Errorf("notified: %+v", three)
	}
	for _, e := range l.Events("notify") {
		if e.OK == nil || !*e.OK || e.Error != "" {
			t.Errorf("event: %+v", e)
		}
	}
	if n := len(l.Events("notify")); n != 5 {
		t.Errorf("%d events, want 5", n)
	}
}

// port is where the server listens now.
func (l *lab) port() string {
	l.T.Helper()
	var h struct{ Edge struct{ Listen string } }
	check(l.T, json.Unmarshal([]byte(l.Text("health")), &h))
	_, port, _ := strings.Cut(h.Edge.Listen, ":")
	return port
}

func portOf(line string) string {
	words := strings.Fields(line)
	for i, w := range words {
		if w == "-p" {
			return words[i+1]
		}
	}
	return "22"
}

// runs runs a line as a person pastes it, in a shell whose ssh knows the lab's
// key.
func (l *lab) runs(line string) {
	l.T.Helper()
	dir := filepath.Dir(l.home.Dir)
	bin := filepath.Join(dir, "bin")
	check(l.T, os.MkdirAll(bin, 0o700))
	ssh, err := exec.LookPath("ssh")
	check(l.T, err)
	wrapper := fmt.Sprintf("#!/bin/sh\nexec %s -i %s/key -o IdentitiesOnly=yes -o IdentityAgent=none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \"$@\"\n", ssh, dir)
	check(l.T, os.WriteFile(filepath.Join(bin, "ssh"), []byte(wrapper), 0o700))
	ctx, cancel := context.WithTimeout(l.Ctx, patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		l.T.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// story is all events about the session's prompts.
func (l *lab) story() string {
	out, _ := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", l.Name+":0", "--type", "prompt,prompt_resolved,state_change,notify", "--timeout", "300ms")
	return string(out)
}
