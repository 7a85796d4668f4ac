//go:build agents

package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	driver "berth/agent/claude"
	"berth/test/agents/modelapi"
)

// happening has the fields of an event that these tests check.
type happening struct {
	Type, Next, Cause, Event string
	Seq                      uint64
	At                       *struct {
		File    string
		Renewed uint64
		Offset  int64
	}
}

// happened is all of the session so far.
func (l *lab) happened() []happening {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "watch", l.Name, "--since", "e1", "--timeout", "1s")
	if err == nil {
		l.T.Fatal("watch ended before its timeout")
	}
	var all []happening
	for line := range strings.Lines(string(out)) {
		var e happening
		check(l.T, json.Unmarshal([]byte(line), &e))
		all = append(all, e)
	}
	return all
}

// states are the states in their order, and their causes.
func (l *lab) states() (order string, causes map[string]int) {
	l.T.Helper()
	var all []string
	causes = map[string]int{}
	places := map[string]bool{}
	for _, e := range l.happened() {
		if e.At != nil {
			data, _ := json.Marshal(e.At)
			if key := e.Type + string(data); places[key] {
				l.T.Errorf("two events %s of one entry: %s", e.Type, data)
			} else {
				places[key] = true
			}
		}
		if e.Type == "state_change" {
			all = append(all, e.Next)
			source, _, _ := strings.Cut(e.Cause, ":")
			causes[source]++
		}
	}
	return strings.Join(all, " "), causes
}

// TestWithoutHooks follows a Claude Code whose user has turned hooks off: live file, log,
// title and screen are enough.
func TestWithoutHooks(t *testing.T) {
	seed := Ready()
	seed.NoHooks = true
	l := newStateLab(t, seed)
	l.Is("idle")
	l.send("MOCK: slow 20 100")
	l.Is("working")
	l.Is("idle")
	l.send("MOCK: bash touch one.txt")
	s := l.Is("prompt") // from the screen or Claude's live state file; the log names the tool
	l.Poll(func() bool {
		s = l.Said()
		return s.Prompt != nil && s.Prompt.Type == "permission" && s.Prompt.Tool == "Bash"
	}, func() string {
		return fmt.Sprintf("the prompt is %+v", s.Prompt)
	})
	l.See(proceed)
	l.key("1")
	l.Is("idle")
	if !l.Made("one.txt") {
		t.Error("allowed, and it did not run")
	}
	l.send("MOCK: slow 50 200")
	l.Is("working")
	l.See("line 002")
	l.key("Escape")
	l.Is("idle")
	l.send("MOCK: error 403")
	if s := l.Is("error"); s.Failure == nil || s.Failure.Class != "unauthorized" {
		t.Errorf("the failure is %+v", s.Failure)
	}
	n := l.Nudge("MOCK: text better now", "--wait", "--timeout", patient.String())
	if n.Status != 0 || !n.Confirmed || n.Evidence != "log:user" || n.LastMessage == nil || *n.LastMessage != "better now" {
		t.Errorf("%+v %+v", n, n.Error)
	}
	order, causes := l.states()
	if want := "idle working idle working prompt working idle working idle working error working idle"; order != want {
		t.Errorf("states %s, want %s", order, want)
	}
	if causes["hook"] > 0 || causes["log"] == 0 {
		t.Errorf("caused by %v", causes)
	}
	t.Logf("caused by %v", causes)
}

// noticed waits until a request to the model reports the end of that many background
// commands.
func (l *lab) noticed(commands int) {
	l.T.Helper()
	ctx, cancel := context.WithTimeout(l.Ctx, patient)
	defer cancel()
	_, err := l.API.Wait(ctx, func(r modelapi.Request) bool {
		notices := 0
		for _, text := range r.Texts {
			if strings.Contains(text, "<task-notification>") {
				notices++
			}
		}
		return notices >= commands
	})
	check(l.T, err)
}

// TestQueuedNudge sends messages around the moment when a background command ends and
// Claude starts a turn by itself. Claude queues a message that was typed just too late until
// the end of that turn. The log says so at once, and the message's answer is that of its
// own turn.
func TestQueuedNudge(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	l.ready()
	counts := map[string]int{}
	for i := range 8 {
		slow, err := modelapi.Named("slow", "8 100", modelapi.Scene{}) // the answer to the command's end
		check(t, err)
		l.API.Queue(slow)
		if n := l.Nudge("MOCK: shell sleep 2; echo shell-done", "--wait", "--timeout", patient.String()); n.Status != 0 {
			t.Fatalf("%+v %+v", n, n.Error)
		}
		word := "answer " + string(rune('a'+i))
		message := "MOCK: text " + word
		timer := time.NewTimer(1020*time.Millisecond + time.Duration(i)*20*time.Millisecond)
		<-timer.C
		got := l.Nudge(message, "--wait", "--timeout", patient.String())
		evidence := got.Evidence
		if got.Error != nil {
			evidence = got.Error.Code
		}
		counts[evidence]++
		want := 0
		if got.Confirmed {
			want = 1
		}
		if want == 1 && (got.LastMessage == nil || *got.LastMessage != word) {
			t.Errorf("%d, by %s: the last message is %v, want %q", i, evidence, got.LastMessage, word)
		}
		l.noticed(i + 1)
		l.Is("idle")
		if n := l.API.Arrivals(message); n != want {
			t.Errorf("%d, by %s: it arrived %d times, want %d", i, evidence, n, want)
		}
	}
	t.Log(counts)
	if counts["UNCONFIRMED"] > 0 {
		t.Error("a message that Claude kept was not confirmed")
	}
}

// used is what a turn took, as the verbs say.
type used struct {
	Input         int64  `json:"input_tokens"`
	Output        int64  `json:"output_tokens"`
	CacheRead     int64  `json:"cache_read_input_tokens"`
	CacheCreation int64  `json:"cache_creation_input_tokens"`
	Requests      int    `json:"requests"`
	Model         string `json:"model"`
}

// served is what the API says that the requests of a turn took.
func (l *lab) served(prompt string) used {
	l.T.Helper()
	var u used
	for _, r := range l.API.Requests() {
		if r.Kind != modelapi.KindTurn || r.Subagent || r.Prompt != prompt || r.Usage == nil {
			continue
		}
		u.Input += int64(r.Usage["input_tokens"])
		u.Output += int64(r.Usage["output_tokens"])
		u.CacheRead += int64(r.Usage["cache_read_input_tokens"])
		u.CacheCreation += int64(r.Usage["cache_creation_input_tokens"])
		u.Requests++
		u.Model = r.Model
	}
	return u
}

func (l *lab) last() (last struct {
	Text  string
	Usage *used
}) {
	l.T.Helper()
	out, err := l.Host.Call(l.Ctx, nil, "last", l.Name, "--json")
	check(l.T, err)
	check(l.T, json.Unmarshal(out, &last))
	return last
}

// TestUsage compares what a turn took by the log with what the API served.
func TestUsage(t *testing.T) {
	l := newStateLab(t, Ready())
	l.ready()
	l.Is("idle")
	known := 0
	for _, message := range []string{"MOCK: text short", "MOCK: thinking", "MOCK: edit", "MOCK: long 200"} {
		out, err := l.Host.Call(l.Ctx, []byte(message), "nudge", "--wait", "--timeout", patient.String(), l.Name, "-")
		if strings.HasPrefix(message, "MOCK: edit") { // it asks, and goes on
			l.See(`Do you want to make this edit`)
			l.key("1")
			l.Is("idle")
		} else {
			check(t, err)
			var n struct{ Usage *used }
			check(t, json.Unmarshal(out, &n))
			if n.Usage != nil { // on a machine with much to do the log may lag for longer than is waited
				known++
				if *n.Usage != l.served(message) {
					t.Errorf("%s took %+v, served was %+v", message, n.Usage, l.served(message))
				}
			}
		}
		last := l.last()
		l.Poll(func() bool { last = l.last(); return last.Usage != nil }, func() string { return message + ": last has no usage" })
		if *last.Usage != l.served(message) {
			t.Errorf("%s took %+v by last, served was %+v", message, last.Usage, l.served(message))
		}
	}
	t.Logf("%d of 3 were known at the turn's end", known)
}

// TestPrinting runs Claude Code without a composer: its output, its hooks and its exit
// give the states.
func TestPrinting(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		prompt string
		states string
		last   string
		code   int
	}{
		"lines":                        {[]string{"-p", "--verbose", "--output-format", "stream-json"}, "MOCK: slow 10 100", "working exited", "line 001\nline 002\nline 003\nline 004\nline 005\nline 006\nline 007\nline 008\nline 009\nline 010\nslow end", 0},
		"a tool":                       {[]string{"--print", "--verbose", "--output-format=stream-json", "--allowedTools", "Bash(echo:*)"}, "MOCK: bash echo hello", "working exited", "The command finished.", 0},
		"an error":                     {[]string{"-p", "--verbose", "--output-format", "stream-json"}, "MOCK: error 400", "working error exited", "", 1},
		"text":                         {[]string{"-p"}, "MOCK: text plain", "working exited", "plain", 0},
		"an error, in text":            {[]string{"-p"}, "MOCK: error 400", "working error exited", "", 1},
		"lines, and no log of its own": {[]string{"-p", "--verbose", "--output-format", "stream-json", "--no-session-persistence"}, "MOCK: text kept nowhere", "working exited", "kept nowhere", 0},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			l := newLabAs(t, "claude", Ready(), nil, append(c.args, "--", c.prompt)...)
			code, err := l.Exited(l.Ctx, patient)
			check(t, err)
			if code != c.code {
				t.Errorf("it ended with %d", code)
			}
			if order, causes := l.states(); order != c.states {
				t.Errorf("states %s (%v), want %s", order, causes, c.states)
			} else {
				t.Logf("%s by %v", order, causes)
			}
			if c.last == "" {
				return
			}
			last := l.last()
			if last.Text != c.last {
				t.Errorf("the last message is %q", last.Text)
			}
			if served := l.served(c.prompt); last.Usage == nil || *last.Usage != served {
				t.Errorf("it took %+v, served was %+v", last.Usage, served)
			}
		})
	}
}

// logHolds waits until the session logs hold that many entries of a subtype.
func (l *lab) logHolds(subtype string, entries int) {
	l.T.Helper()
	n := 0
	l.Poll(func() bool {
		files, err := filepath.Glob(filepath.Join(l.home.Config, "projects", "*", "*.jsonl"))
		check(l.T, err)
		n = 0
		for _, file := range files {
			data, err := os.ReadFile(file)
			check(l.T, err)
			n += strings.Count(string(data), `"subtype":"`+subtype+`"`)
		}
		return n >= entries
	}, func() string { return fmt.Sprintf("%d entries %s are logged, not %d", n, subtype, entries) })
}

// TestKilledAmidTurns kills the server again and again while a Claude Code without hooks
// works. The server reads the log on from where it was, each entry makes one event, and
// the states are as if the server had not been killed.
func TestKilledAmidTurns(t *testing.T) {
	seed := Ready()
	seed.NoHooks = true
	l := newStateLab(t, seed)
	l.ready()
	l.Is("idle")
	for i := range 3 {
		message := "MOCK: slow 60 10" + string(rune('0'+i))
		l.send(message)
		l.Is("working")
		for range 2 {
			check(t, l.Host.Kill())
			check(t, l.Host.Start())
			l.Is("working")
		}
		check(t, l.Host.Kill())
		l.logHolds("turn_duration", i+1) // the turn ends while no server is there
		check(t, l.Host.Start())
		l.Is("idle")
		if last := l.last(); !strings.HasSuffix(last.Text, "slow end") || last.Usage == nil || *last.Usage != l.served(message) {
			t.Errorf("the last message is %.20q, it took %+v, served was %+v", last.Text, last.Usage, l.served(message))
		}
	}
	order, causes := l.states()
	if want := "idle" + strings.Repeat(" working idle", 3); order != want {
		t.Errorf("states %s, want %s", order, want)
	}
	t.Logf("caused by %v", causes)
}

// TestVersion: info names the version that runs, and has a note if it was not measured.
func TestVersion(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	var info struct {
		Version *struct {
			Version  string
			Measured bool
			Note     *string
		} `json:"agent_version"`
	}
	var out []byte
	l.Poll(func() (known bool) {
		out = l.Call("info", l.Name)
		check(t, json.Unmarshal(out, &info))
		return info.Version != nil
	}, func() string { return fmt.Sprintf("no version in %s", out) })
	measured := slices.Contains(driver.Measured, Version)
	if v := info.Version; v.Version != Version || v.Measured != measured || (v.Note == nil) != measured {
		t.Errorf("%+v", v)
	}
}
