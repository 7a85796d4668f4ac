//go:build agents

package gemini

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sort"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

// rounds is how many messages are given around the appearance of a confirmation,
// and messages how many of any size: 200 and 100 with BERTH_SOAK=20.
func rounds() int   { return 10 * host.Soak() }
func messages() int { return 5 * host.Soak() }

// TestNudgeAgainstAConfirmation gives messages while a person sends one that leads
// to a confirmation: from before that is typed to after the dialog is there. None
// of them answers it.
func TestNudgeAgainstAConfirmation(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	const from, to = -200 * time.Millisecond, 1800 * time.Millisecond // of the nudge, against the person's paste
	counts := map[string]int{}
	for i := range rounds() {
		l.Is("idle")
		if screen, err := l.Session.See(l.Ctx, 5*time.Second, empty); err != nil { // a stopped message may be left in the composer
			t.Logf("the composer holds something:\n%s", screen)
			l.key("Ctrl-u")
			l.See(empty)
		}
		// Every 10 ms once in a long run, in no order that the machine's load could follow.
		offset := from + (to-from)*time.Duration(i*73%rounds())/time.Duration(rounds())
		ran, message := fmt.Sprintf("ran-%d.txt", i), fmt.Sprintf("MOCK: text message %d", i)
		late := make(chan testbed.Nudged, 1)
		go func() {
			time.Sleep(offset - from)
			late <- l.Nudge(message)
		}()
		time.Sleep(-from)
		l.person("MOCK: shell touch " + ran)
		got := <-late
		counts[fate(got)]++
		l.PromptUntil("the confirmation", func(p testbed.Shown) bool {
			return p.Type == "permission" && p.Ready && p.OnScreen && strings.Contains(p.Input, ran)
		})
		if l.Made(ran) {
			t.Fatalf("offset %s: the message allowed the command: %s %+v %+v", offset, fate(got), got, got.Error)
		}
		l.respond("denied", "deny")
		l.Is("idle")
		if l.Made(ran) {
			t.Fatalf("offset %s: the command ran: %s %+v %+v", offset, fate(got), got, got.Error)
		}
		if n := l.came(got, message); n != "" {
			t.Fatalf("offset %s: %s %+v %+v, %s", offset, fate(got), got, got.Error, n)
		}
		if (i+1)%20 == 0 {
			t.Logf("%d: %s", i+1, told(counts))
		}
	}
	t.Logf("%d messages around a confirmation: %s; 0 answered it", rounds(), told(counts))
}

// came says what is wrong about where a message is: one that was confirmed reached
// the model once, or was kept by Gemini for the end of the turn, which puts it
// into the composer when that is refused; any other did not.
func (l *lab) came(got testbed.Nudged, message string) string {
	l.T.Helper()
	kept := got.Evidence == "screen:queue"
	if got.Confirmed {
		_, err := l.Until(l.Ctx, patient, "", func(screen string) bool {
			return l.API.Arrivals(message) > 0 || kept && regexp.MustCompile("(?m)^ > "+regexp.QuoteMeta(message)).MatchString(screen)
		})
		if err != nil {
			return "and it did not come: " + err.Error()
		}
		l.Is("idle")
	}
	if n := l.API.Arrivals(message); n > 1 || n > 0 && !got.Confirmed && fate(got) != "unconfirmed" {
		return fmt.Sprintf("and it came %d times", n)
	}
	return ""
}

// person sends a message at the terminal: pastes it, sees it there, and presses
// Enter.
func (l *lab) person(message string) {
	l.T.Helper()
	draft := "^ > " + regexp.QuoteMeta(message)
	l.types("\x1b[200~" + message + "\x1b[201~")
	l.See(draft)
	time.Sleep(300 * time.Millisecond) // an Enter right after a paste is a line break
	l.types("\r")
	// On a busy machine Gemini takes a later Enter for a line break too. Then the draft has an empty second line,
	// and a person presses Enter again.
	broken := regexp.MustCompile("(?m)" + draft + ` *\n *\n▀`)
	// A sent message is drawn like a draft. The composer is empty then, or a dialog is in its place.
	_, err := l.Until(l.Ctx, patient, "still has the draft", func(screen string) bool {
		if broken.MatchString(screen) {
			broken = never
			l.types("\r")
		}
		return sent.MatchString(screen)
	})
	check(l.T, err)
}

var never = regexp.MustCompile(`[^\s\S]`)

var sent = regexp.MustCompile("(?m)" + empty + "|" + asksShell)

// types types at the terminal, as soon as a delivery lets it.
func (l *lab) types(text string) {
	l.T.Helper()
	for {
		err := l.Type(l.Ctx, text)
		var refused *host.Failure
		if err == nil {
			return
		}
		if !errors.As(err, &refused) || refused.Status != 7 {
			l.T.Fatal(err)
		}
	}
}

// fate says what became of a message.
func fate(n testbed.Nudged) string {
	if n.Error == nil {
		return "delivered"
	}
	typed, _ := n.Error.Details["typed"].(bool)
	switch {
	case n.Error.Code == "UNCONFIRMED":
		return "unconfirmed"
	case !typed:
		return "refused before the paste"
	}
	return "stopped after the paste"
}

func told(counts map[string]int) string {
	var words []string
	for what, n := range counts {
		words = append(words, fmt.Sprintf("%d %s", n, what))
	}
	sort.Strings(words)
	return strings.Join(words, ", ")
}

// TestNudgeSizes gives messages of 1 byte to 10 KB, of all kinds of characters.
func TestNudgeSizes(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range messages() {
		message := message(random, i)
		l.Confirmed(message, message)
		if t.Failed() {
			return
		}
	}
}

// message is the i-th message, of 1 byte to 10 KB.
func message(random *rand.Rand, i int) string {
	pieces := []string{"word ", "漢字", "👨‍👩‍👧 ", "line\n", "/path ", "! ", "? ", "0123456789", "é", "日本語。\n", "{\"a\": 1} "}
	size := 1 << random.IntN(14)
	var text strings.Builder
	fmt.Fprintf(&text, "%d", i)
	for text.Len() < min(size, 10_000) {
		text.WriteString(pieces[random.IntN(len(pieces))])
	}
	return strings.TrimSpace(text.String())
}
