package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// before is the last commit with holders that are berth itself.
const before = "0b6ccea0d8f3d8b80d8497308069d35e871bd54a"

// releaseBefore builds the berth of that commit.
func releaseBefore(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	archive := exec.Command("git", "archive", "--format=tar", before)
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil || exec.Command("git", "cat-file", "-e", before).Run() != nil {
		t.Skipf("SKIPPED: no git history with %s: so the release before can't be built", before)
	}
	archive.Dir = strings.TrimSpace(string(top))
	source := filepath.Join(dir, "source")
	must(t, os.Mkdir(source, 0o700))
	unpack := exec.Command("tar", "-x", "-C", source)
	unpack.Stdin, err = archive.StdoutPipe()
	must(t, err)
	must(t, unpack.Start())
	must(t, archive.Run())
	must(t, unpack.Wait())
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "berth"), "./cmd/berth")
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the release before: %v\n%s", err, out)
	}
	return filepath.Join(dir, "berth")
}

// TestHoldersOfTheReleaseBefore: this server continues a session that an older one started: its screen,
// its input, its hooks, and its end.
func TestHoldersOfTheReleaseBefore(t *testing.T) {
	old := releaseBefore(t)
	h := newHost(t, old)
	h.start()
	dir := h.create("one", "--", "sh")
	h.run("input", "one", "--enter", "echo before-$((40+2))")
	waitFor(t, "the older server to show it", func() bool { return strings.Contains(string(h.run("screen", "one", "--text")), "before-42") })
	holder := holderPID(dir)
	h.kill()

	h.berth = fast
	check := exec.Command(fast, "upgrade-check", "--state-dir", h.state)
	check.Env = h.environ()
	if out, err := check.CombinedOutput(); err != nil || !strings.Contains(string(out), "takes up: 1; that it can't: 0.") {
		t.Errorf("upgrade-check: %v: %s", err, out)
	}
	h.start()
	if pid := holderPID(dir); pid != holder || !alive(pid) {
		t.Fatalf("holder %d, and %d before", pid, holder)
	}
	if !strings.Contains(string(h.run("screen", "one", "--text")), "before-42") {
		t.Error("the screen is lost")
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen:\n%s\nthe state: %s", h.run("screen", "one", "--text"), h.run("explain", "one"))
		}
	})
	// One job: between two the shell is in the foreground for a moment, and a program that then starts counts as work after the prompt.
	h.run("input", "one", "--enter", "sh -c '"+old+" hook state prompt from-an-older-hook; sleep 1000'")
	waitFor(t, "its hook to be heard", func() bool { return h.info("one").State == "prompt" })
	h.run("kill", "one")
	waitFor(t, "the holder to end", func() bool { return !alive(holder) })

	h.run("restart", "one")
	if words := cmdline(holderPID(dir)); !strings.Contains(words, "berth-hold") {
		t.Errorf("after a restart the holder is %q", words)
	}
}
