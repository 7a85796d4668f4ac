//go:build agents

package claude

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"berth/test/agents/host"
	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// since skips a test if the Claude Code under test is older than that patch of 2.1.
func since(t *testing.T, patch int) {
	t.Helper()
	if !newer(patch) {
		t.Skipf("SKIPPED: the Claude Code under test is %s, and 2.1.%d or newer does this", Version, patch)
	}
}

// newer says whether the Claude Code under test is that patch of 2.1 or newer.
func newer(patch int) bool {
	var major, minor, have int
	if _, err := fmt.Sscanf(Version, "%d.%d.%d", &major, &minor, &have); err != nil {
		panic(fmt.Sprintf("the version under test is %q: %v", Version, err))
	}
	return major > 2 || minor > 1 || have >= patch
}

// option is the number of the option that begins so, as the dialog on the screen has
// it: newer versions offer auto mode before No.
func (l *lab) option(word string) string {
	l.T.Helper()
	var number string
	l.Poll(func() bool {
		screen, err := l.Screen(l.Ctx)
		check(l.T, err)
		m := regexp.MustCompile(`(?m)^[ ❯]*(\d)\. ` + word + `\b`).FindStringSubmatch(screen)
		if m != nil {
			number = m[1]
		}
		return m != nil
	}, func() string { return "no option is " + word })
	return number
}

// goesTo moves the mark of the dialog on the screen down to the option that begins so.
func (l *lab) goesTo(word string) {
	l.T.Helper()
	for at := 2; fmt.Sprint(at) <= l.option(word); at++ {
		l.key("Down")
		l.See(fmt.Sprintf(`❯ %d\.`, at))
	}
}

// resized gives the session's terminal another size.
func (l *lab) resized(size string) {
	l.T.Helper()
	_, err := l.Host.Call(l.Ctx, nil, "resize", l.Name, size)
	check(l.T, err)
}

// TestAutoModeWithoutCheck: with an API that drops the safety check, auto mode asks
// whether to stay. After that it asks for permission with No and Yes, without numbers.
func TestAutoModeWithoutCheck(t *testing.T) {
	since(t, 330)
	t.Parallel()
	l := newLabAs(t, "claude", Ready(), nil, "--permission-mode", "auto")
	l.Is("idle")
	const message = "MOCK: bash eval 'touch evaluated.txt'"
	s := l.asks(message) // the live file says first that there is a dialog, and no more
	l.Poll(func() bool { s = l.Said(); return s.Prompt != nil && s.Prompt.Subtype == "auto_mode" }, func() string { return fmt.Sprintf("the prompt is %+v", s.Prompt) })
	if s.Prompt.Type != "setup" || len(s.Prompt.Options) != 2 {
		t.Fatalf("the prompt is %+v", s.Prompt)
	}
	l.Respond("keys", "accepted", "--prompt", s.Prompt.ID, "accept")
	l.See("❯ No")
	l.Poll(func() bool { s = l.Said(); return s.Prompt != nil && s.Prompt.Type == "permission" }, func() string { return fmt.Sprintf("the prompt is %+v", s.Prompt) })
	if s.Prompt.Tool != "Bash" || s.Prompt.Input != "eval 'touch evaluated.txt'" || strings.Join(s.Prompt.Options, "|") != "No|Yes" {
		t.Fatalf("the prompt is %+v", s.Prompt)
	}
	l.Respond("keys", "accepted", "--prompt", s.Prompt.ID, "accept")
	l.Is("idle")
	if !l.Made("evaluated.txt") {
		t.Error("accepted, and it did not run")
	}
	again := "MOCK: bash eval 'touch again.txt'"
	l.asks(again)
	l.Respond("keys", "denied", "deny", "do it otherwise")
	if r := l.Asked(again, 1); !strings.Contains(string(r.Body), "do it otherwise") {
		t.Error("the reason did not reach the model")
	}
	l.Is("idle")
	l.asks("MOCK: bash eval 'touch again.txt'")
	l.Respond("keys", "denied", "deny")
	l.Is("idle")
	if l.Made("again.txt") {
		t.Error("refused, and it ran")
	}
}

// TestAutoModeAsDefault: with the older mode in the user's settings Claude asks, after a
// turn, whether auto mode is to be the default. The session isn't idle at that dialog.
func TestAutoModeAsDefault(t *testing.T) {
	since(t, 330)
	l := newStartLab(t, Ready(), nil)
	check(t, host.WriteJSON(filepath.Join(l.home.Config, "settings.json"), map[string]any{"tui": "default", "permissions": map[string]any{"defaultMode": "default"}}))
	l.start("one", nil, nil, "MOCK: text one")
	p := l.promptShown("setup")
	if s := l.Said(); s.Prompt == nil || s.Prompt.Subtype != "auto_mode_default" || len(p.Options) != 2 {
		t.Fatalf("the prompt is %+v, %+v", s.Prompt, p)
	}
	l.key("Up") // from the one to the other
	l.Respond("keys", "denied", "--prompt", p.ID, "deny")
	l.Is("idle")
	l.See(prompt, "manual mode on")
	if settings, err := os.ReadFile(filepath.Join(l.home.Config, "settings.json")); err != nil || !strings.Contains(string(settings), `"defaultMode": "default"`) {
		t.Errorf("refused, and the settings are %s, %v", settings, err)
	}
}

// TestHiddenSubagent: a prompt of a background subagent has no dialog while its hook waits.
// The hook answers it. If a client that may write is attached, it is answered at the
// dialog.
func TestHiddenSubagent(t *testing.T) {
	since(t, 330)
	t.Parallel()
	l := newLabAs(t, "claude", Ready(), nil, "--permission-mode", "default")
	l.Is("idle")
	l.send("MOCK: agent-bg MOCK: bash touch by-hook.txt")
	l.Is("prompt")
	l.Respond("hook", "accepted", "accept")
	l.Is("idle")
	if !l.Made("by-hook.txt") {
		t.Error("accepted, and it did not run")
	}
	l.send("MOCK: agent-bg MOCK: bash touch by-keys.txt")
	s := l.Is("prompt")
	v, err := l.Host.Attach(l.Ctx, l.Name)
	check(t, err)
	t.Cleanup(v.Close)
	l.See("from the general-purpose agent", "touch by-keys.txt", cancel)
	now := l.PromptUntil("one that keys answer", func(p testbed.Shown) bool { return p.OnScreen && p.Channel == "keys" })
	if now.ID == s.Prompt.ID || !strings.Contains(now.Text, "Only a hook says what the dialog leaves out") {
		t.Fatalf("the prompt was %+v and is %+v", s.Prompt, now)
	}
	l.Respond("keys", "accepted", "--prompt", now.ID, "accept")
	l.Is("idle")
	if !l.Made("by-keys.txt") {
		t.Error("accepted, and it did not run")
	}
}

// TestStrayLeft: the left arrow on an empty composer leaves the conversation where it
// is.
func TestStrayLeft(t *testing.T) {
	since(t, 330)
	l := newStartLab(t, Ready(), nil)
	l.start("one", nil, nil)
	l.Is("idle")
	l.send("MOCK: text one")
	l.See("● one")
	l.Is("idle")
	id := l.info().Conversation
	l.key("Left")
	l.pause(1500) // the view takes a second to come
	l.See(prompt)
	l.send("MOCK: text two")
	l.See("● two")
	l.Is("idle")
	if now := l.info().Conversation; now != id {
		t.Errorf("the conversation was %s and is %s", id, now)
	}
}

// choose answers a list by its label: by its number, or with arrows where newer versions show none.
func (l *lab) choose(label string) {
	l.T.Helper()
	row := regexp.MustCompile(`(?m)^ *(❯ )? *(?:(\d)\. |✔ )?` + regexp.QuoteMeta(label))
	for range 9 { // rows of the longest list
		var m []string
		l.Poll(func() bool {
			screen, err := l.Screen(l.Ctx)
			check(l.T, err)
			m = row.FindStringSubmatch(screen)
			return m != nil
		}, func() string { return "no option is " + label })
		switch {
		case m[2] != "":
			l.key(m[2])
			return
		case m[1] != "":
			l.key("Enter")
			return
		}
		before, err := l.Screen(l.Ctx)
		check(l.T, err)
		l.key("Down")
		_, err = l.Until(l.Ctx, patient, "does not move in its list", func(s string) bool { return s != before })
		check(l.T, err)
	}
	l.T.Fatalf("the list does not come to %q", label)
}

// pasted waits for a turn whose message is this text, marked as pasted: so newer versions send what a
// person pastes.
func (l *lab) pasted(text string) {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(l.Ctx, patient)
	defer cancel()
	_, err := l.API.Wait(ctx, func(r modelapi.Request) bool {
		return r.Kind == modelapi.KindTurn && strings.Contains(r.Prompt, "<pasted_content ") && strings.Contains(r.Prompt, text)
	})
	check(l.T, err)
}
