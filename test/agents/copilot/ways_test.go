//go:build agents

package copilot

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/agents/host"
	"berth/test/agents/testbed"
)

// cell is a way to answer a dialog and what comes of it: an outcome, or the code of the refusal, after
// which the dialog is as it was.
type cell struct {
	way, want string
	tells     string // what the model gets of it
}

// ways has each dialog with each way to answer it. An option that allows all that is alike comes last.
var ways = []struct {
	name, kind, message string // %d is the cell
	file                string // made if and only if it is accepted
	cells               []cell
}{
	{"command", "permission", "MOCK: bash touch made%d.txt", "made%d.txt", []cell{
		{"text hello", "BAD_REQUEST", ""}, {"cancel", "BAD_REQUEST", ""}, {"option 9", "BAD_REQUEST", ""}, {"answer 1=1", "BAD_REQUEST", ""},
		{"accept", "accepted", ""}, {"deny", "denied", ""}, {"deny use make, 'please'", "denied", "use make, 'please'"}, {"deny 漢字", "denied", "漢字"}, {"deny 1 is wrong", "denied", "1 is wrong"},
		{"option 1", "accepted", ""}, {"option 3", "denied", ""}, {"option 2", "answered", ""},
	}},
	{"create", "permission", "MOCK: create new%d.txt", "new%d.txt", []cell{
		{"option 9", "BAD_REQUEST", ""}, {"accept", "accepted", ""}, {"deny", "denied", ""}, {"deny not there", "denied", "not there"},
		{"option 1", "accepted", ""}, {"option 3", "denied", ""}, {"option 2", "answered", ""},
	}},
	{"edit", "permission", "MOCK: edit sample.txt %d", "", []cell{{"deny", "denied", ""}, {"deny another file", "denied", "another file"}, {"accept", "accepted", ""}}},
	{"question", "question", "MOCK: ask %d", "", []cell{
		{"accept", "BAD_REQUEST", ""}, {"option 5", "BAD_REQUEST", ""}, {"text violet", "NO_DRIVER", ""},
		{"option 1", "answered", "Red"}, {"option 3", "answered", "Blue"}, {"answer 1=2", "answered", "Green"}, {"deny", "denied", "not available"}, {"cancel", "cancelled", ""},
	}},
	{"form", "notice", "MOCK: form %d", "", []cell{{"accept", "NO_DRIVER", ""}, {"deny", "denied", "not available"}, {"cancel", "cancelled", ""}}},
}

// TestWays answers each dialog in each way.
func TestWays(t *testing.T) {
	for _, d := range ways {
		t.Run(d.name, func(t *testing.T) {
			l := newLab(t, Ready())
			l.Is("idle")
			open, message, file := false, "", ""
			for i, c := range d.cells {
				if !open {
					l.See(rests)
					message, file = fmt.Sprintf(d.message, i), strings.ReplaceAll(d.file, "%d", fmt.Sprint(i))
					l.Takes(message)
					l.PromptUntil("a "+d.kind, func(p testbed.Shown) bool { return p.Type == d.kind && p.Ready && p.OnScreen })
				}
				if open = strings.ToUpper(c.want) == c.want; open {
					l.Refuses(c.want, strings.Fields(c.way)...)
					continue
				}
				verb, text, _ := strings.Cut(c.way, " ")
				words := []string{"--takeover", verb}
				if text != "" {
					words = append(words, text)
				}
				l.Respond("keys", c.want, words...)
				l.Is("idle")
				if c.tells != "" {
					l.ModelGot(message, c.tells)
				}
				if made := c.want == "accepted" || c.want == "answered"; file != "" && l.Made(file) != made {
					t.Fatalf("%s: %s: made is %v", message, c.way, !made)
				}
			}
		})
	}
}

// TestTrust: the question about the folder is answered by the session's setting, or by a person.
func TestTrust(t *testing.T) {
	t.Run("by setting", func(t *testing.T) {
		l := newLab(t, Seed{}, "--trust")
		l.Is("idle")
		l.Confirmed("MOCK: text hello", "MOCK: text hello")
	})
	t.Run("by answer", func(t *testing.T) {
		l := newLab(t, Seed{})
		if s := l.Is("prompt"); s.Prompt == nil || s.Prompt.Subtype != "trust" {
			t.Fatalf("it asks %+v", s.Prompt)
		}
		l.Respond("keys", "accepted", "accept")
		l.Is("idle")
		l.Confirmed("MOCK: text hello", "MOCK: text hello")
	})
}

// TestResume: a new session resumes the folder's last conversation, and no file of the user's changes but
// Copilot's own.
func TestResume(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	settings := filepath.Join(l.home.Files, "settings.json")
	before, err := os.ReadFile(settings)
	check(t, err)
	l.Confirmed("MOCK: text the last words", "MOCK: text the last words")
	l.Call("kill", l.Name)
	l.start("again", "--resume", "latest")
	l.Is("idle")
	l.Confirmed("MOCK: text and now", "MOCK: text and now")
	l.ModelGot("MOCK: text and now", "the last words")
	after, err := os.ReadFile(settings)
	check(t, err)
	if hooks, err := filepath.Glob(filepath.Join(l.home.Files, "hooks", "*")); err != nil || len(hooks) > 0 || string(after) != string(before) {
		t.Errorf("the user's hooks are %v (%v), the settings were %s and are %s", hooks, err, before, after)
	}
}

// TestIsolateFull: a home of the session's own.
func TestIsolateFull(t *testing.T) {
	l := newLab(t, Ready(), "--isolate", "full", "--trust")
	l.Is("idle")
	l.Confirmed("MOCK: text in its own home", "MOCK: text in its own home")
	if found, err := filepath.Glob(filepath.Join(l.home.Files, "session-state", "*")); err != nil || len(found) > 0 {
		t.Errorf("the user's home has %v: %v", found, err)
	}
}

// TestNudges sends a hundred messages of 1 byte to 10 KB: each arrives once, exactly.
func TestNudges(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	const letters = "abcdefghij klmno 漢字 äöü .,;\n"
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 * host.Soak() {
		size := 1 + i*i // up to 9802
		runes := []rune(letters)
		var b strings.Builder
		fmt.Fprintf(&b, "%d", i)
		for b.Len() < size {
			b.WriteRune(runes[random.IntN(len(runes))])
		}
		text := strings.TrimSpace(b.String())
		l.Confirmed(text, text)
		if t.Failed() {
			return
		}
	}
}

// TestOffsets sends a message at many moments around the time when a dialog opens: none answers it.
func TestOffsets(t *testing.T) {
	l := newLab(t, Ready())
	l.Is("idle")
	const last = time.Second
	tries := 20 * host.Soak()
	taken, refused := 0, 0
	for i := range tries {
		l.See(rests)
		file := fmt.Sprintf("offset%d.txt", i)
		l.Takes("MOCK: bash touch " + file)
		offset := last * time.Duration(i*73%tries) / time.Duration(tries)
		time.Sleep(offset) // the moment is what is tested
		if n := l.Nudge(fmt.Sprintf("1 is the answer %d", i)); n.Confirmed {
			taken++
		} else {
			refused++
		}
		l.PromptUntil("the command's", func(p testbed.Shown) bool { return p.Input == "touch "+file && p.Ready && p.OnScreen })
		if l.Made(file) {
			t.Fatalf("a message answered the dialog, %s after the turn's start", offset)
		}
		l.Respond("keys", "denied", "--takeover", "deny")
		l.Is("idle")
		if l.Made(file) {
			t.Fatalf("%s was made", file)
		}
	}
	t.Logf("%d moments: %d messages were refused, %d taken", tries, refused, taken)
}
