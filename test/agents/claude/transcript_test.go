//go:build agents

package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/test/agents/modelapi"
)

// listed is a part as transcript lists it.
type listed struct {
	N, Lines             int
	Bytes                int64
	Reason, Conversation string
	Live                 bool
}

func (l *lab) parts() []listed {
	l.T.Helper()
	var list []listed
	check(l.T, json.Unmarshal([]byte(l.Text("transcript", l.Name)), &list))
	return list
}

// entry is a line of a transcript.
type entry struct {
	N, Line int
	Entry   json.RawMessage
}

func (l *lab) entries(words ...string) []entry {
	l.T.Helper()
	var all []entry
	for line := range strings.Lines(l.Text(append([]string{"transcript", l.Name}, words...)...)) {
		var e entry
		check(l.T, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// says sends a message and waits for its answer's end.
func (l *lab) says(words ...string) {
	l.T.Helper()
	for _, word := range words {
		l.send("MOCK: text " + word)
		l.See("● " + word)
		l.Is("idle")
	}
}

// TestTranscripts clears and compacts, and holds the parts against the log's
// files and against what the model was asked: each message is in one part, in
// order, and no byte of a file is missing or there twice.
func TestTranscripts(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	if n := len(l.parts()); n > 1 {
		t.Errorf("%d parts before anything was said", n)
	}
	l.says("one", "two")
	l.send("/compact")
	l.See("Conversation compacted")
	l.Is("idle")
	l.ready()
	l.says("three")
	l.send("/clear")
	l.ready()
	l.Is("idle")
	l.says("four", "five")
	check(t, l.Host.Kill())
	check(t, l.Host.Start())
	l.Is("idle")
	l.send("/compact")
	l.See("Conversation compacted")
	l.Is("idle")
	l.ready()
	l.says("six")

	parts := l.parts()
	var story []string
	for _, p := range parts {
		word := p.Reason
		if p.Live {
			word = "live"
		}
		story = append(story, word)
	}
	if got := strings.Join(story, " "); got != "compact clear compact live" {
		t.Fatalf("parts: %s", got)
	}
	var told []string
	for _, e := range l.Events("transcript_saved") {
		told = append(told, e.Reason)
		if p := parts[e.N-1]; p.Lines != e.Lines || p.Conversation != e.Conversation {
			t.Errorf("emitted %+v, listed %+v", e, p)
		}
	}
	if got := strings.Join(told, " "); got != "compact clear compact" {
		t.Errorf("emitted: %s", got)
	}
	l.holdsFiles(parts)

	// Each message in its part, once.
	where := map[string]int{}
	for _, e := range l.entries("--since", "1:0") {
		for _, word := range []string{"one", "two", "three", "four", "five", "six"} {
			var user struct {
				Type    string
				Message struct{ Content json.RawMessage }
			}
			if json.Unmarshal(e.Entry, &user) == nil && user.Type == "user" && string(user.Message.Content) == `"MOCK: text `+word+`"` {
				if where[word] != 0 {
					t.Errorf("%s is in parts %d and %d", word, where[word], e.N)
				}
				where[word] = e.N
			}
		}
	}
	for word, n := range map[string]int{"one": 1, "two": 1, "three": 2, "four": 3, "five": 3, "six": 4} {
		if where[word] != n {
			t.Errorf("%s is in part %d, want %d", word, where[word], n)
		}
		if l.API.Arrivals("MOCK: text "+word) != 1 {
			t.Errorf("the model had %s %d times", word, l.API.Arrivals("MOCK: text "+word))
		}
	}
	asked := 0
	for _, r := range l.API.Requests() {
		if r.Kind == modelapi.KindTurn && !r.Subagent {
			asked++
		}
	}
	if asked != len(where) {
		t.Errorf("the model was asked for %d turns, and the parts have %d messages", asked, len(where))
	}

	// --since with any entry gives the entries after it.
	all := l.entries("--since", "1:0")
	for _, i := range []int{0, len(all) / 3, len(all) / 2, len(all) - 1} {
		at := all[i]
		rest := l.entries("--since", jsonWord(at.N)+":"+jsonWord(at.Line))
		if len(rest) < len(all)-i-1 || len(rest) > 0 && i+1 < len(all) && (rest[0].N != all[i+1].N || rest[0].Line != all[i+1].Line) {
			t.Errorf("after %d:%d there are %d entries, want %d", at.N, at.Line, len(rest), len(all)-i-1)
		}
	}
}

func jsonWord(n int) string {
	data, _ := json.Marshal(n)
	return string(data)
}

// holdsFiles compares the parts of each conversation, put together, with its
// log as Claude Code has it.
func (l *lab) holdsFiles(parts []listed) {
	l.T.Helper()
	kept := map[string]string{}
	for _, p := range parts {
		kept[p.Conversation] += l.Text("transcript", l.Name, jsonWord(p.N), "--raw")
	}
	files, err := filepath.Glob(filepath.Join(l.home.Config, "projects", "*", "*.jsonl"))
	check(l.T, err)
	if len(files) != len(kept) {
		l.T.Errorf("%d logs, and parts of %d conversations", len(files), len(kept))
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		check(l.T, err)
		got := kept[strings.TrimSuffix(filepath.Base(f), ".jsonl")]
		if !strings.HasPrefix(string(data), got) || len(data)-len(got) > 4096 { // it may have grown since
			l.T.Errorf("%s has %d bytes, and its parts %d", filepath.Base(f), len(data), len(got))
		}
	}
}

// TestTranscriptServerAway compacts and clears while no server is there: all of
// it is in parts afterwards, and Claude was held up for no longer than the grace.
func TestTranscriptServerAway(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.says("one", "two")
	l.send("MOCK: slow 30 100") // the keys below are typed while it works, and read then
	l.See("line 003")
	check(t, l.Type(l.Ctx, "\x1b[200~/compact\x1b[201~"))
	l.See(prompt + "/compact")
	l.key("Enter")
	check(t, l.Host.Kill())
	l.logHolds("compact_boundary", 1) // the turn has ended, the hook has waited out its grace, the summary is made
	l.claudeSays("idle")
	check(t, l.Host.Start())
	l.Is("idle")
	l.ready()
	l.says("three")
	for _, h := range l.hookTimes() {
		if took := h.over.Sub(h.at); h.name == "PreCompact" {
			t.Logf("the compaction waited %s", took.Round(time.Millisecond))
			if took > 5500*time.Millisecond {
				t.Errorf("the compaction waited %s", took)
			}
		}
	}
	parts := l.parts()
	l.holdsFiles(parts)
	if len(parts) != 2 || parts[0].Reason != "compact" {
		t.Errorf("parts: %+v", parts)
	}
}
