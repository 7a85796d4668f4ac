package commands

import (
	"context"
	"errors"
	"regexp"
	"regexp/syntax"
	"runtime"
	"strings"
	"testing"
	"time"

	"berth/api"
	"berth/keys"
)

// What costs more than bounded time is refused before it is matched or even compiled.
func TestPatternsAreBounded(t *testing.T) {
	d := newDesk(t)
	d.call(admin, "new alpha -- cat")
	for pattern, want := range map[string]string{
		"(":                               "USAGE",
		"x{0,1001}":                       "USAGE",
		strings.Repeat("a", maxPattern+1): "LIMIT",
		"[" + strings.Repeat("a-z", maxPattern/3) + "]": "LIMIT", // one step for each character
		strings.Repeat("[a-z]{0,990}", 5):               "LIMIT",
		strings.Repeat("[a-z]{0,990}", 80):              "LIMIT",
		strings.Repeat("[a-z]{0,990}", 600):             "LIMIT",
		strings.Repeat(`(\pL?){9}`, 90):                 "LIMIT",
		`^\$ *(ok|[0-9]+ (passed|failed))`:              "TIMEOUT",
		strings.Repeat("[a-z]?", 150) + "Z":             "TIMEOUT",
	} {
		begun, timeout := time.Now(), "1m" // a refusal doesn't wait
		if want == "TIMEOUT" {
			timeout = "50ms"
		}
		a := d.call(viewer, "wait alpha --timeout "+timeout+" --text '"+pattern+"'")
		if a.code() != want {
			t.Errorf("%.30s (%d bytes): %s, want %s", pattern, len(pattern), a.code(), want)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%.30s: took %v", pattern, took)
		}
	}
}

// TestRepeatsAreCounted: an expression's repeats are counted before it is compiled, because
// compiling could take up to 90 MB for each of a caller's calls.
func TestRepeatsAreCounted(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := compilePattern("--text", strings.Repeat("x{0,999}", maxPattern/8))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; api.AsError(err).Code != api.CodeLimit || n > 1<<20 {
		t.Errorf("%v, for %d bytes", err, n)
	}
	for _, pattern := range []string{
		"", "a", "abc", "(?i)abc", "(a)", "a|b|c", "[a-z]{0,900}", "x{3}", "x{3,}", "a{0}", "(ab?){2,5}", "(x{3}){4}", "((a|b)+?){2,}",
		"(a*)*", "(?:a*)*", `\bx\B$`, `^\$ *(ok|[0-9]+ (passed|failed))`, "(?:){0,9}", `[^\x00-\x{10FFFF}]{0,5}`,
	} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		least := atLeast(tree)
		program, err := syntax.Compile(tree.Simplify())
		if err != nil || least > len(program.Inst) {
			t.Errorf("%s: %d steps at least, and %d, %v", pattern, least, len(program.Inst), err)
		}
	}
}

// TestRestOutlivesTheCall: a caller's rest outlives its calls, so a caller in a loop gets no
// more of the processor than a caller of one call.
func TestRestOutlivesTheCall(t *testing.T) {
	var all matchers
	m, leave, err := all.enter(viewer, searches)
	if err != nil {
		t.Fatal(err)
	}
	m.next = time.Now().Add(time.Hour)
	leave()
	again, leave, err := all.enter(viewer, searches)
	if err != nil || again != m {
		t.Errorf("%v, forgotten: %v", err, again != m)
	}
	leave()
	m.next = time.Now()
	if _, leave, err = all.enter(admin, searches); err != nil {
		t.Fatal(err)
	}
	leave()
	if len(all.of) != 0 {
		t.Errorf("%d callers are kept", len(all.of))
	}
}

// A caller has so many matchers and no more; another's are not among them.
func TestMatchersOfOneCaller(t *testing.T) {
	var all matchers
	var leave []func()
	for range matchersMost {
		_, l, err := all.enter(viewer, searches)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	if _, _, err := all.enter(viewer, searches); err == nil || !strings.Contains(err.Error(), "search for a text") {
		t.Errorf("one too many: %v", err)
	}
	if _, l, err := all.enter(viewer, shapes); err != nil {
		t.Errorf("a call of the other kind is refused: %v", err)
	} else {
		l()
	}
	if _, l, err := all.enter(keys.Identity{Kind: keys.KindKey, Name: "other"}, searches); err != nil {
		t.Errorf("another caller: %v", err)
	} else {
		l()
	}
	for _, l := range leave {
		l()
	}
	if len(all.of) != 0 {
		t.Errorf("%d callers are kept", len(all.of))
	}
}

// Looks of one caller come one after the other, rest as their time asks, and end with
// their call: in the turn, at rest, and between two lines.
func TestLooksEndWithTheirCall(t *testing.T) {
	var all matchers
	m, leave, err := all.enter(viewer, searches)
	if err != nil {
		t.Fatal(err)
	}
	defer leave()
	re, lines := regexp.MustCompile("x"), []string{"a", "x"}
	if met, err := m.look(t.Context(), re, lines); !met || err != nil {
		t.Errorf("%v %v", met, err)
	}
	if m.next.IsZero() {
		t.Error("a look is followed by no rest")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 64 { // whether the turn or the end is seen first is chance
		m.next = time.Time{}
		if _, err := m.look(ended, re, lines); !errors.Is(err, context.Canceled) {
			t.Fatalf("at the first line: %v", err)
		}
	}
	m.next = time.Now().Add(time.Hour)
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := m.look(soon, re, lines); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("at rest: %v", err)
	}
	m.turn <- struct{}{}
	if _, err := m.look(ended, re, lines); !errors.Is(err, context.Canceled) {
		t.Errorf("in the turn: %v", err)
	}
	at := time.Unix(100, 0)
	if rest := restUntil(at, at.Add(time.Second)); rest != at.Add(4*time.Second) {
		t.Errorf("a look of 1 s is followed by the next at %v", rest.Sub(at))
	}
}
