//go:build agents

package qwen

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

// rounds is how many messages are given around the appearance of a dialog, and messages how many of any size: 200
// and 100 with BERTH_SOAK=20.
func rounds() int   { return 10 * host.Soak() }
func messages() int { return 5 * host.Soak() }

// TestNudges: messages of 1 byte to 10 KB arrive once and exactly.
func TestNudges(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	words := "fix the bug, and then 修复登录错误 (see below)\nrun the tests 100 % don't `code` a/b/c "
	n := messages()
	for i := range n {
		size := 1 + i*i*(10<<10)/(n*n)
		text := fmt.Sprintf("%d", i)
		if size > len(text) {
			text += " " + strings.ToValidUTF8(strings.Repeat(words, size/len(words)+1)[:size-len(text)-1], "")
		}
		text = strings.TrimRight(text, " \n")
		l.Confirmed(text, text)
	}
	t.Logf("%d messages arrived", n)
}

// TestNudgeAgainstADialog gives messages while a person sends one that leads to a dialog: from before that is typed
// to after the dialog is there. None of them answers it.
func TestNudgeAgainstADialog(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	person := l.Attach()
	const from, to = -200 * time.Millisecond, 2500 * time.Millisecond // of the nudge, against the person's Enter
	codes := map[string]int{}
	for i := range rounds() {
		l.Is("idle")
		l.See(empty)
		offset := from + (to-from)*time.Duration(i*73%rounds())/time.Duration(rounds())
		ran, message := fmt.Sprintf("ran-%d.txt", i), fmt.Sprintf("MOCK: text message %d", i)
		check(t, person.Type("\x1b[200~MOCK: shell touch "+ran+"\x1b[201~"))
		l.See("^> MOCK: shell touch " + ran)
		late := make(chan testbed.Nudged, 1)
		go func() {
			pause := time.NewTimer(offset - from)
			defer pause.Stop()
			<-pause.C
			late <- l.Nudge(message, "--takeover")
		}()
		pause := time.NewTimer(-from)
		<-pause.C
		check(t, person.Type("\r"))
		got := <-late
		code := "confirmed"
		if got.Error != nil {
			code = got.Error.Code
		}
		codes[code]++
		p := l.PromptUntil("the dialog", func(p testbed.Shown) bool {
			return p.Type == "permission" && p.Ready && p.OnScreen && strings.Contains(p.Input, ran)
		})
		if l.Made(ran) {
			t.Fatalf("offset %s: the message allowed the command: %+v %+v", offset, got, got.Error)
		}
		l.Respond("keys", "denied", "--takeover", "--prompt", p.ID, "deny")
		l.Is("idle")
		if l.Made(ran) || !got.Confirmed && l.API.Arrivals(message) > 0 {
			t.Fatalf("offset %s: made %t, arrived %d times: %+v %+v", offset, l.Made(ran), l.API.Arrivals(message), got, got.Error)
		}
	}
	t.Logf("%d messages around a dialog: %v; none answered it", rounds(), codes)
}
