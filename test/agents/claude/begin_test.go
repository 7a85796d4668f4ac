//go:build agents

package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// knows reports whether the model's request for a message contains a text.
func (l *lab) knows(message, text string) bool {
	l.T.Helper()
	return strings.Contains(string(l.Asked(message, 0).Body), text)
}

// TestStartContext: the model gets the context of each source, and no other.
func TestStartContext(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	// SessionStart comes after the first title.
	l.Poll(func() bool { return l.hookEvents("SessionStart") > 0 }, func() string { return "no conversation has begun" })
	for _, source := range []string{"startup", "resume", "clear", "compact"} {
		l.Text("start-context", l.Name, source, "The lab's word for "+source+" is <"+source+"-word> & \"quoted\".")
	}
	word := func(source string) string { return "<" + source + `-word>` }
	says := func(text, source string) { // in JSON, as requests are
		t.Helper()
		l.send("MOCK: text " + text)
		l.See("● " + text)
		l.Is("idle")
		body := string(l.Asked("MOCK: text "+text, 0).Body)
		for _, s := range []string{"startup", "resume", "clear", "compact"} {
			escaped := strings.NewReplacer("<", `\u003c`, ">", `\u003e`).Replace(word(s))
			told := strings.Contains(body, word(s)) || strings.Contains(body, escaped)
			if told != (s == source) {
				t.Errorf("%s: the model gets the context of %s: %v", text, s, told)
			}
		}
	}
	l.Text("restart", l.Name) // nothing was said yet: a startup
	l.Is("idle")
	says("one", "startup")
	l.Text("restart", l.Name)
	l.Is("idle")
	body := func(text string) string { return string(l.Asked("MOCK: text "+text, 0).Body) }
	l.send("MOCK: text two")
	l.See("● two")
	l.Is("idle")
	if !strings.Contains(body("two"), "resume-word") {
		t.Error("the model gets no context after a resume")
	}
	l.send("/clear")
	l.ready()
	l.Is("idle")
	says("three", "clear")
	l.send("MOCK: text four")
	l.See("● four")
	l.Is("idle")
	l.send("/compact")
	l.See("Conversation compacted")
	l.Is("idle")
	l.send("MOCK: text five")
	l.See("● five")
	l.Is("idle")
	if !strings.Contains(body("five"), "compact-word") {
		t.Error("the model gets no context after a compaction")
	}
	story := ""
	for _, e := range l.Events("start_context") {
		if e.Kind != "set" {
			story += e.Kind + ":" + e.Source + " "
		}
	}
	if story != "given:startup given:resume given:clear given:compact " {
		t.Errorf("the events are %s", story)
	}
}

// TestStartContextRun: the model gets the output of a command that runs in the session's folder and environment. The
// output is data; nothing executes it.
func TestStartContextRun(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	script := filepath.Join(l.home.Dir, "context.sh")
	check(t, os.WriteFile(script, []byte("#!/bin/sh\necho \"here is $(pwd) for $BERTH_START_SOURCE with $LANG\"\necho '$(touch pwned) MOCK: never'\n"), 0o700))
	l.Text("start-context", l.Name, "any", "--run", script)
	l.send("/clear")
	l.ready()
	l.Is("idle")
	l.send("MOCK: text after")
	l.See("● after")
	if want := "here is " + l.home.Workspace + " for clear with C.UTF-8"; !l.knows("MOCK: text after", want) {
		t.Errorf("the model doesn't get %q", want)
	}
	if l.Made("pwned") {
		t.Error("what the command printed was run")
	}
	// After a failure the agent starts without a context.
	for name, c := range map[string]struct{ script, wrong string }{
		"status":  {"exit 7", "status 7"},
		"nothing": {"true", "printed nothing"},
		"slow":    {"sleep 60", "longer than it may"},
		"gone":    {"", "not an executable file"},
	} {
		check(t, os.WriteFile(script, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700))
		if c.script == "" {
			check(t, os.Remove(script))
		}
		before := len(l.Events("start_context"))
		began := time.Now()
		l.send("/clear")
		l.Poll(func() bool { return len(l.Events("start_context")) > before }, func() string { return "no event reports the failure" })
		l.Is("idle")
		l.ready()
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("%s: the agent was held up for %s", name, took)
		}
		all := l.Events("start_context")
		last := all[len(all)-1]
		if last.Kind != "failed" || !strings.Contains(last.Error, c.wrong) {
			t.Errorf("%s: %+v, want %q", name, last, c.wrong)
		}
		l.send("MOCK: text still here after " + name)
		l.See("● still here after " + name)
		l.Is("idle")
	}
}

// TestStartContextLong: up to 10,000 characters reach the model whole. For a longer context Claude Code makes a file,
// and the model gets its beginning and its path.
func TestStartContextLong(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	for _, size := range []int{9_900, 10_100, 64 << 10} {
		first, last := fmt.Sprintf("first-of-%d ", size), fmt.Sprintf(" last-of-%d", size)
		text := first + strings.Repeat("x", size-len(first)-len(last)) + last
		_, err := l.Host.Call(l.Ctx, []byte(text), "start-context", l.Name, "clear", "-")
		check(t, err)
		l.send("/clear")
		l.ready()
		l.Is("idle")
		message := fmt.Sprintf("MOCK: text after %d", size)
		l.send(message)
		l.See(fmt.Sprintf("● after %d", size))
		l.Is("idle")
		body := string(l.Asked(message, 0).Body)
		if !strings.Contains(body, first) {
			t.Errorf("%d bytes: the model doesn't get their beginning", size)
		}
		if whole := strings.Contains(body, last); whole != (size <= 10_000) {
			t.Errorf("%d bytes: the model gets their end: %v", size, whole)
		}
		if size <= 10_000 {
			continue
		}
		m := regexp.MustCompile(`Full output saved to: ([^\\"]+)\\n`).FindStringSubmatch(body)
		if m == nil {
			t.Fatalf("%d bytes: the model gets no path of a file", size)
		}
		kept, err := os.ReadFile(m[1])
		check(t, err)
		if string(kept) != text {
			t.Errorf("%d bytes: the file has %d others", size, len(kept))
		}
	}
}

// TestStartContextServerRestarted stops the server while it waits for a command's output.
// The agent still gets the output.
func TestStartContextServerRestarted(t *testing.T) {
	l := newStateLab(t, Ready())
	l.Is("idle")
	script := filepath.Join(l.home.Dir, "context.sh")
	check(t, os.WriteFile(script, []byte("#!/bin/sh\necho ran >> "+script+".log\nsleep 2\necho here-after-all\n"), 0o700))
	l.Text("start-context", l.Name, "clear", "--run", script)
	l.send("/clear")
	l.untilFile(script+".log", "ran")
	check(t, l.Host.Kill())
	check(t, l.Host.Start())
	l.Is("idle")
	l.ready()
	l.send("MOCK: text after")
	l.See("● after")
	if !l.knows("MOCK: text after", "here-after-all") {
		t.Error("the model doesn't get the context")
	}
	given := 0
	for _, e := range l.Events("start_context") {
		if e.Kind == "given" {
			given++
		}
	}
	if given != 1 {
		t.Errorf("given %d times", given)
	}
}
