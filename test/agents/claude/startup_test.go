//go:build agents

package claude

import (
	"os"
	"path/filepath"
	"testing"

	"berth/test/agents/testbed"
)

// exits checks that the program ends with this code.
func (l *lab) exits(code int) {
	l.T.Helper()
	got, err := l.Exited(l.Ctx, patient)
	check(l.T, err)
	if got != code {
		l.T.Errorf("it exited with %d, not %d", got, code)
	}
}

// TestFirstRun goes through all that an empty home asks.
func TestFirstRun(t *testing.T) {
	l := newLab(t, Seed{KeyApproved: true})
	l.See("Choose the text style that looks best", `^ *❯? *(1\. |✔ )Auto`, `❯ *2\. Dark mode ✔|❯ ✔ Auto`, `Light mode \(ANSI colors only\)`)
	l.choose("Dark mode")
	l.See("Security notes", "Press Enter to continue")
	l.key("Enter")
	l.See("Quick safety check", `❯ 1\. Yes, I trust this folder|❯ No, exit`, "Enter to confirm · Esc to cancel")
	l.choose("Yes, I trust this folder")
	l.ready()
	l.send("MOCK: text after all dialogs")
	l.See("● after all dialogs")
}

// TestFirstRunByEnter takes every default.
func TestFirstRunByEnter(t *testing.T) {
	l := newLab(t, Seed{KeyApproved: true})
	l.See("Choose the text style", "Dark mode ✔|✔ Auto")
	l.key("Enter")
	l.See("Press Enter to continue")
	l.key("Enter")
	l.See("Quick safety check")
	l.key("Enter")
	if newer(330) { // whose default is No
		l.exits(1)
		return
	}
	l.ready()
}

// TestNoWayOut starts in an empty home on a machine without a network.
func TestNoWayOut(t *testing.T) {
	l := newLab(t, Seed{})
	l.ReachesOut = true
	l.See("Unable to connect to Anthropic services")
	l.exits(1)
}

func TestKeyAccepted(t *testing.T) {
	l := newLab(t, Seed{Onboarded: true, Trusted: true})
	l.See("Detected a custom API key", `❯ (2\. )?No \(recommended\)`)
	l.choose("Yes")
	l.ready()
	l.send("MOCK: text with the key")
	l.See("● with the key")
}

// login checks the footer of a Claude Code that has no credentials, and that its
// menu of ways to log in opens and closes.
func (l *lab) login() {
	l.T.Helper()
	l.See(prompt, `Not logged in · [Rr]un /login`)
	l.send("/login")
	l.See("Select login method", `❯ 1\. Claude account with subscription`, `2\. Anthropic Console account`, `3\. 3rd-party platform`)
	l.key("Escape")
	l.Gone("Select login method")
}

// TestKeyRefused presses Enter, which chooses the default, No.
func TestKeyRefused(t *testing.T) {
	l := newLab(t, Seed{Onboarded: true, Trusted: true})
	l.See("Detected a custom API key", `❯ (2\. )?No`)
	l.key("Enter")
	l.login()
}

func TestNoKey(t *testing.T) {
	t.Parallel()
	newLabWith(t, Seed{Onboarded: true, Trusted: true}, map[string]string{"ANTHROPIC_API_KEY": ""}).login()
}

func TestTrustRefused(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"No", "Escape"} {
		t.Run(way, func(t *testing.T) {
			l := newLab(t, Seed{Onboarded: true, KeyApproved: true})
			l.See("Quick safety check", `No, exit`)
			if way == "No" {
				l.choose("No, exit")
			} else {
				l.key(way)
			}
			if way == "Escape" && newer(330) {
				l.exits(0)
			} else {
				l.exits(1)
			}
		})
	}
}

func TestBypassAccepted(t *testing.T) {
	l := newLab(t, Seed{Onboarded: true, KeyApproved: true, Trusted: true}, "--dangerously-skip-permissions")
	l.See("WARNING: Claude Code running in Bypass Permissions mode", `❯ (1\. )?No, exit`, `(2\. )?Yes, I accept`)
	l.choose("Yes, I accept")
	l.See(prompt, "⏵⏵ bypass permissions on")
	l.send("MOCK: bash touch unasked.txt")
	l.See("● The command finished.")
	if _, err := os.Stat(filepath.Join(l.home.Workspace, "unasked.txt")); err != nil {
		t.Error(err)
	}
}

// TestBypassRefused presses Enter, which chooses the default, No.
func TestBypassRefused(t *testing.T) {
	l := newLab(t, Seed{Onboarded: true, KeyApproved: true, Trusted: true}, "--dangerously-skip-permissions")
	l.See(`❯ (1\. )?No, exit`)
	l.key("Enter")
	l.exits(1)
}

// TestSignedOut: an agent whose footer says that no one is signed in needs input, at each size. The menu
// that /login opens is the next prompt.
func TestSignedOut(t *testing.T) {
	l := newLabAs(t, "claude", Seed{Onboarded: true, Trusted: true}, map[string]string{"ANTHROPIC_API_KEY": ""})
	for _, size := range []string{"200x50", "80x24", "40x20", "120x40"} {
		l.Call("resize", l.Name, size)
		l.See("❯", "Not logged in")
		if s := l.Is("prompt"); s.Prompt == nil || s.Prompt.Type != "setup" || s.Prompt.Subtype != "login" {
			t.Fatalf("%s: it needs %+v", size, s.Prompt)
		}
	}
	for i, e := range l.Events("state_change") {
		if i == 0 && e.Next != "prompt" || e.Next == "idle" {
			t.Errorf("change %d is to %s", i, e.Next)
		}
	}
	if r, status := l.Try("", "accept"); status == 0 {
		t.Errorf("accept: %+v", r)
	}
	if n := l.Nudge("hello"); n.Status == 0 {
		t.Errorf("a message without a sign-in: %+v", n)
	}
	check(t, l.Type(l.Ctx, "/login"))
	l.key("Enter")
	l.PromptUntil("the menu", func(p testbed.Shown) bool { return p.Subtype == "login_method" })
}
