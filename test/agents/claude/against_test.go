//go:build agents

package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"testing"
	"time"

	"berth/test/agents/modelapi"
	"berth/test/agents/testbed"
)

// TestNudgeAgainstADialog sends messages to an idle agent that starts a turn by itself, at
// the end of a background command, and opens a dialog. The messages come at offsets from
// before the turn to after the dialog. No message answers the dialog. In every other try
// there is a draft, which is stashed for the message and restored afterwards.
func TestNudgeAgainstADialog(t *testing.T) {
	l := newDialogLab(t)
	l.Is("idle")
	l.ready()
	check(t, os.WriteFile(filepath.Join(l.home.Workspace, "wait.sh"), []byte("while [ ! -e go-$1 ]; do sleep 0.01; done\n"), 0o600))
	counts := map[string]int{}
	rounds := dialogs()
	const from, to = -400 * time.Millisecond, 1600 * time.Millisecond // of the nudge's call, against the command's end
	for i := range rounds {
		l.Is("idle")
		ran := fmt.Sprintf("ran-%d.txt", i)
		if n := l.Nudge(fmt.Sprintf("MOCK: shell sh wait.sh %d", i), "--wait", "--timeout", patient.String()); n.Status != 0 {
			t.Fatalf("%d: %+v %+v", i, n, n.Error)
		}
		l.API.Queue(modelapi.Scenario{Steps: []modelapi.Step{
			modelapi.Say(modelapi.Tool("Bash", map[string]any{"command": "touch " + ran, "description": "Run the lab's command"})),
			modelapi.Say(modelapi.Text("The command finished.")),
		}})
		// Every 10 ms once in a long run, in no order that the machine's load could follow.
		offset := from + (to-from)*time.Duration(i*73%rounds)/time.Duration(rounds)
		message, flags, draft := fmt.Sprintf("MOCK: text message %d", i), []string{}, ""
		if i%2 == 1 {
			draft, flags = fmt.Sprintf("draft %d", i), []string{"--stash"}
			check(t, l.Type(l.Ctx, draft))
			l.See(prompt + draft + "$")
		}
		late := make(chan testbed.Nudged, 1)
		go func() {
			l.pause(int((offset - from).Milliseconds()))
			late <- l.Nudge(message, flags...)
		}()
		l.pause(int(-from.Milliseconds()))
		check(t, os.WriteFile(filepath.Join(l.home.Workspace, fmt.Sprintf("go-%d", i)), nil, 0o600))
		got := <-late
		what := fate(got)
		if draft != "" {
			what += " (with a draft)"
		}
		counts[what]++
		l.Is("prompt")
		l.See(proceed)
		if l.Made(ran) {
			t.Fatalf("offset %s: the message allowed the command: %s %+v %+v", offset, what, got, got.Error)
		}
		l.key("Escape")
		if got.Confirmed {
			l.arrived(message, 1)
		}
		l.Is("idle")
		if l.Made(ran) {
			t.Fatalf("offset %s: the message allowed the command: %s %+v %+v", offset, what, got, got.Error)
		}
		if draft != "" {
			l.See(prompt + draft + "$")
			l.key("Ctrl-u")
			l.ready()
		}
		want := 0
		if got.Confirmed {
			want = 1
		}
		// An unconfirmed message may have arrived or not: no source said so in time.
		if n := l.API.Arrivals(message); n > 1 || n != want && fate(got) != "unconfirmed" {
			t.Fatalf("offset %s: %s %+v %+v, and it arrived %d times", offset, what, got, got.Error, n)
		}
		if i%20 == 19 {
			t.Logf("%d: %s", i+1, told(counts))
		}
	}
	t.Logf("%d messages around a dialog: %s; 0 answered it", rounds, told(counts))
}

// newDialogLab allows the background command without a dialog.
func newDialogLab(t *testing.T) *lab {
	t.Helper()
	t.Parallel()
	return newLabAs(t, "claude", Ready(), nil, "--allowedTools", "Bash(sh wait.sh:*)")
}

// fate says what became of a message.
func fate(n testbed.Nudged) string {
	if n.Error == nil {
		return "delivered"
	}
	typed, _ := n.Error.Details["typed"].(bool)
	left, _ := n.Error.Details["left_in_composer"].(bool)
	switch {
	case n.Error.Code == "UNCONFIRMED":
		return "unconfirmed"
	case !typed:
		return "refused before the paste"
	case left:
		return "stopped after the paste, left in the composer"
	}
	return "stopped after the paste, taken back"
}

func told(counts map[string]int) string {
	var words []string
	for what, n := range counts {
		words = append(words, fmt.Sprintf("%d %s", n, what))
	}
	sort.Strings(words)
	return fmt.Sprint(words)
}
