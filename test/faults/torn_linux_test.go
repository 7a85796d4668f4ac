package faults

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTornFiles damages files of some sessions while no server runs. The next server starts, the other
// sessions work, and the server reports the damage.
func TestTornFiles(t *testing.T) {
	h := newHost(t, checked)
	h.start()
	names := []string{"fine", "checkpoint", "control", "spec", "empty"}
	dirs, pids := map[string]string{}, map[string]int{}
	for _, name := range names {
		dirs[name] = h.create(name, "--", "cat")
		h.run("input", name, "--enter", "hello")
		pids[name] = h.info(name).PID
	}
	greeted := func(name string) bool {
		return slices.Equal(trimmed(answer[screen](h, "screen", name).Lines), []string{"hello", "hello"})
	}
	for _, name := range names {
		waitFor(t, name+" to echo", func() bool { return greeted(name) })
	}
	h.signal(2) // an orderly end, which writes checkpoints
	before := len(h.eventFiles())

	cut(t, filepath.Join(dirs["checkpoint"], "checkpoint"), 0.6)
	cut(t, last(t, filepath.Join(dirs["control"], "control", "*.jsonl")), 0.97)
	must(t, os.Remove(filepath.Join(dirs["control"], "checkpoint"))) // so that the torn line is read
	must(t, os.WriteFile(filepath.Join(dirs["spec"], "session.json"), []byte("{\"id\": 7, torn"), 0o600))
	must(t, os.Truncate(filepath.Join(dirs["empty"], "checkpoint"), 0))
	events := h.eventFiles()
	cut(t, events[len(events)-1], 0.9)
	must(t, os.Mkdir(filepath.Join(h.state, "sessions", "not-a-session"), 0o700))

	h.start()
	for _, name := range []string{"fine", "checkpoint", "control", "empty"} {
		if got := h.info(name); got.PID != pids[name] || got.State == "exited" {
			t.Errorf("%s is %+v, its program was %d", name, got, pids[name])
		}
		waitFor(t, name+" to show its screen", func() bool { return greeted(name) })
		h.run("input", name, "again")
		waitFor(t, name+" to go on", func() bool {
			return strings.Contains(strings.Join(answer[screen](h, "screen", name).Lines, "\n"), "again")
		})
	}
	if !alive(pids["spec"]) {
		t.Error("the program of the session with the unreadable spec has ended")
	}
	if _, err := os.Stat(dirs["spec"]); err != nil {
		t.Errorf("the folder with the unreadable spec: %v", err)
	}
	log, err := os.ReadFile(h.log())
	must(t, err)
	for _, said := range []string{filepath.Base(dirs["spec"]), "checkpoint"} {
		if !strings.Contains(string(log), said) {
			t.Errorf("the log doesn't mention %s", said)
		}
	}
	if problems := h.health().Problems; !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, filepath.Base(dirs["spec"])) }) {
		t.Errorf("health doesn't report the unreadable session: %q", problems)
	} else {
		t.Logf("health: %q", problems)
	}
	judgeOrder(t, h.events())
	h.run("new", "fresh", "--", "cat") // the log and its numbers continue
	judgeOrder(t, h.events())
	if len(h.eventFiles()) < before {
		t.Error("event files were deleted")
	}
}

func (h *host) eventFiles() []string {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.state, "events", "*.jsonl"))
	must(h.t, err)
	if len(files) == 0 {
		h.t.Fatal("there are no event files")
	}
	return files
}

func last(t *testing.T, pattern string) string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	must(t, err)
	if len(files) == 0 {
		t.Fatalf("there is no %s", pattern)
	}
	return files[len(files)-1]
}

// cut leaves a part of a file, ending in the middle of a line.
func cut(t *testing.T, name string, part float64) {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	n := int(float64(len(data)) * part)
	for n > 0 && data[n-1] == '\n' {
		n--
	}
	must(t, os.Truncate(name, int64(n)))
}
