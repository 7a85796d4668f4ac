//go:build agents

package gemini

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

// begin has a session of the real program, with these flags of new.
func begin(t *testing.T, seed Seed, env map[string]string, flags ...string) *lab {
	t.Helper()
	l := prepare(t, seed)
	check(t, l.Host.Start())
	l.start("lab", env, flags...)
	return l
}

// files are the names in the user's own folder of Gemini's.
func (l *lab) files() (names []string) {
	l.T.Helper()
	entries, err := os.ReadDir(l.home.Files)
	check(l.T, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestIsolateFull: a home of the session's own, that shares what is needed to log
// in and nothing else.
func TestIsolateFull(t *testing.T) {
	l := begin(t, Ready(), nil, "--isolate", "full", "--trust")
	l.ReachesOut = true
	l.Is("idle")
	before := l.files()
	l.Confirmed("MOCK: text in its own home", "MOCK: text in its own home")
	l.asks("MOCK: shell touch one.txt", "permission")
	l.respond("accepted", "accept")
	l.Is("idle")
	if after := l.files(); !l.Made("one.txt") || !slices.Equal(before, after) {
		t.Errorf("made is %v; the user had %v and has %v", l.Made("one.txt"), before, after)
	}
}

// TestLogin chooses how to log in and types an API key into its dialog, in a home
// of the session's own: Gemini writes the key through our link into the user's
// file, and the next session finds it there.
func TestLogin(t *testing.T) {
	l := begin(t, Seed{}, map[string]string{"GEMINI_API_KEY": ""}, "--isolate", "full", "--trust")
	l.ReachesOut = true
	s := l.Is("prompt")
	if s.Prompt == nil || s.Prompt.Type != "setup" || s.Prompt.Subtype != "auth" {
		t.Fatalf("it asks %+v", s.Prompt)
	}
	l.refused(badRequest, "accept")
	// What it does then may take a busy machine longer than an answer is followed.
	if r, status := l.try("option 2"); status != 0 && status != 9 || r.Outcome != "answered" {
		t.Fatalf("status %d, %+v %+v", status, r, r.Error)
	}
	p := l.PromptUntil("for the key", func(p testbed.Shown) bool { return p.Subtype == "api_key" && p.Ready && p.OnScreen })
	l.refused(noDriver, "text "+l.home.Key, "--prompt", p.ID) // it would be written down
	// Gemini starts up while its dialog is open, and then empties the dialog once.
	for deadline := time.Now().Add(patient); !strings.Contains(l.History(l.Ctx), `"event":"SessionStart"`); {
		if time.Now().After(deadline) {
			t.Fatal("it does not start up")
		}
	}
	// A person pastes the key, checks that it is shown (Gemini draws the dialog before it reads keys), and presses
	// Enter.
	check(t, l.Paste(l.Ctx, l.home.Key))
	if _, err := l.Session.See(l.Ctx, 5*time.Second, l.home.Key); err != nil {
		check(t, l.Paste(l.Ctx, l.home.Key))
		l.See(l.home.Key)
	}
	time.Sleep(time.Second) // Enter knows of it later than it is drawn, and nothing shows when
	l.key("Enter")
	l.Is("idle")
	l.Confirmed("MOCK: text logged in", "MOCK: text logged in")
	if strings.Contains(l.History(l.Ctx), l.home.Key) {
		t.Error("an event has the key")
	}
	const name = "gemini-credentials.json"
	links, err := filepath.Glob(filepath.Join(filepath.Dir(l.home.Dir), "state", "sessions", "*", "gemini", ".gemini", name))
	check(t, err)
	if len(links) != 1 {
		t.Fatalf("the session has %v", links)
	}
	to, err := os.Readlink(links[0])
	if err != nil || to != filepath.Join(l.home.Files, name) {
		t.Errorf("the link to the user's file is %q now: %v", to, err)
	}
	if info, err := os.Stat(filepath.Join(l.home.Files, name)); err != nil || info.Size() == 0 {
		t.Errorf("the user's file: %+v, %v", info, err)
	}
}

// TestResume: a new session resumes the folder's last conversation.
func TestResume(t *testing.T) {
	l := prepare(t, Ready())
	check(t, os.Mkdir(filepath.Join(l.home.Files, "tmp"), 0o700)) // where Gemini has its chats, and sessions share them
	check(t, l.Host.Start())
	l.start("lab", nil)
	l.Is("idle")
	l.Confirmed("MOCK: text the last words", "MOCK: text the last words")
	_, err := l.Host.Call(l.Ctx, nil, "kill", l.Name)
	check(t, err)
	l.start("again", nil, "--resume", "latest")
	l.Is("idle")
	l.Confirmed("MOCK: text and now", "MOCK: text and now")
	l.ModelGot("MOCK: text and now", "the last words")
}

// TestRefusalIsRest measures how long after the key of a refusal it is idle.
func TestRefusalIsRest(t *testing.T) {
	l := begin(t, Ready(), nil)
	l.Is("idle")
	for range 3 * host.Soak() {
		l.asks("MOCK: shell touch one.txt", "permission")
		l.listens()
		l.key("3")
		pressed := time.Now()
		l.Is("idle")
		took := time.Since(pressed).Round(time.Millisecond)
		if t.Logf("idle %s after the key", took); took > 500*time.Millisecond && quiet() {
			t.Errorf("idle only %s after the key", took)
		}
	}
}

// quiet says whether the machine has no more to do than it can: what is measured
// there is not what others take.
func quiet() bool {
	var one float64
	load, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return true
	}
	_, err = fmt.Sscan(string(load), &one)
	return err != nil || one < float64(runtime.NumCPU())
}
