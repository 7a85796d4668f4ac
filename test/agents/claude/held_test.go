//go:build agents

package claude

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// terminal opens the session's terminal, as any process of its user can.
func (l *lab) terminal() (fd int) {
	l.T.Helper()
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", l.info().PID), os.O_RDWR|syscall.O_NOCTTY, 0)
	check(l.T, err)
	l.T.Cleanup(func() { f.Close() })
	return int(f.Fd())
}

// TestHeldKey: a process of the session has the terminal keep the key of an answer, until the dialog was
// answered in another way and the next one is there. The key never reaches that one.
func TestHeldKey(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for i, hold := range []func(*unix.Termios){
		func(mode *unix.Termios) { mode.Lflag |= unix.ICANON },
		func(mode *unix.Termios) { mode.Cc[unix.VMIN] = 200 },
	} {
		for _, before := range []bool{true, false} { // the answer; else between the check and the key
			first, second := fmt.Sprintf("held%d%v1.txt", i, before), fmt.Sprintf("held%d%v2.txt", i, before)
			l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
				modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": "touch " + first, "description": "Makes a file"})),
				modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": "touch " + second, "description": "Makes a file"})),
				modelapi.Say(modelapi.Text("Both are done.")),
			}})
			l.send("please make " + first)
			one := l.hookWaits()
			l.promptShown("permission")
			tty := l.terminal()
			raw, err := unix.IoctlGetTermios(tty, unix.TCGETS)
			check(t, err)
			held := *raw
			hold(&held)
			check(t, unix.IoctlSetTermios(tty, unix.TCSETS, &held))
			if before {
				l.Refuses("NOT_READY", "--prompt", one.ID, "option", "2")
			} else {
				l.key("1")
			}
			l.Refuses("NOT_READY", "--prompt", one.ID, "accept")
			if l.Made(first) || l.Made(second) {
				t.Fatal("something was allowed")
			}
			check(t, unix.IoctlSetTermios(tty, unix.TCSETS, raw))
			if before {
				l.Respond("hook", "accepted", "--prompt", one.ID, "accept")
			}
			two := l.PromptUntil("the second", func(p testbed.Shown) bool { return p.Input == "touch "+second && p.Channel == "hook" && p.OnScreen })
			if !l.Made(first) || l.Made(second) {
				t.Fatalf("the first was made: %v; the second: %v", l.Made(first), l.Made(second))
			}
			l.Respond("hook", "accepted", "--prompt", two.ID, "accept")
			l.Is("idle")
		}
	}
}

// TestHeldOutput: a process of the session stops the terminal's output, so that the screen goes on showing a
// dialog that was answered. No key goes to the next one.
func TestHeldOutput(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.send("MOCK: parallel")
	one := l.hookWaits()
	l.promptShown("permission")
	tty := l.terminal()
	check(t, unix.IoctlSetInt(tty, unix.TCXONC, unix.TCOOFF))
	for _, pid := range l.hooksWaiting() {
		check(t, syscall.Kill(pid, syscall.SIGKILL))
	}
	l.Refuses("NOT_READY", "--prompt", one.ID, "accept")
	check(t, unix.IoctlSetInt(tty, unix.TCXONC, unix.TCOON))
	l.Respond("keys", "accepted", "accept")
	two := l.hookWaits()
	if !l.Made("p1.txt") || l.Made("p2.txt") || two.ID == one.ID {
		t.Fatalf("first %v, second %v after one answer; prompts %s and %s", l.Made("p1.txt"), l.Made("p2.txt"), one.ID, two.ID)
	}
	l.Respond("hook", "denied", "deny")
	l.Is("idle")
}
