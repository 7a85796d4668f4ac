package claude_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect/replay"
)

// reference is the recordings, with what is true over each of them, read by
// eye.
func reference(t testing.TB) fs.FS {
	t.Helper()
	z, err := zip.OpenReader("testdata/reference.zip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = z.Close() })
	return z
}

// truth is one stretch of a recording. A right detector switches to it within
// its window.
type truth struct {
	T      float64
	Window [2]float64
	Until  float64
	State  string
	Prompt string
	Tool   string
	Error  string
}

func truths(t testing.TB, fsys fs.FS, name string) []truth {
	t.Helper()
	data, err := fs.ReadFile(fsys, "expected/"+name+".states.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []truth
	s := bufio.NewScanner(bytes.NewReader(data))
	for first := true; s.Scan(); first = false {
		var one truth
		if err := json.Unmarshal(s.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if !first {
			all = append(all, one)
		}
	}
	return all
}

// from and until bound the time in which the truth may be shown.
func span(all []truth, i int) (from, until float64) {
	from, until = all[i].Window[0], 1e9
	if all[i].State == "unjudged" {
		from = all[i].T
	}
	if i+1 < len(all) {
		until = all[i+1].Window[1]
		if all[i+1].State == "unjudged" {
			until = all[i+1].T + 0.6
		}
	}
	return from, until
}

// classes are what the agent's own words for an error may be sorted into.
var classes = map[string][]agent.Class{
	"authentication_failed": {agent.Unauthorized},
	"rate_limit":            {agent.RateLimited},
	"billing_error":         {agent.OutOfCredits},
	"server_error":          {agent.Overloaded, agent.Network},
	"invalid_request":       {agent.Invalid, agent.ContextFull},
	"unknown":               {agent.Invalid, agent.OtherFailure, agent.Network},
}

// agrees says whether what is believed is what is true.
func (w truth) agrees(s replay.Step) bool {
	if w.State == "unjudged" {
		return true
	}
	if string(s.Next) != w.State {
		return false
	}
	switch {
	case w.Prompt != "":
		kind := string(s.Request.Type)
		if s.Request.Subtype != nil && *s.Request.Subtype == agent.SubtypeTrust {
			kind = "setup" // the truth counts it among the start-up dialogs
		}
		tool := ""
		if s.Request.Tool != nil {
			tool = *s.Request.Tool
		}
		return kind == w.Prompt && (w.Tool == "" || tool == w.Tool)
	case w.Error != "":
		return slices.Contains(classes[w.Error], s.Failure.Class)
	}
	return true
}

// verdict is how a run compares with the truth.
type verdict struct {
	wrong   time.Duration // in all
	longest time.Duration
	prompts int      // asked, by the truth
	missed  int      // of them
	at      []string // where it was wrong
}

func judge(steps []replay.Step, all []truth, end float64) verdict {
	var v verdict
	v.stretches(steps, all, end)
	for i, w := range all {
		if w.Prompt == "" {
			continue
		}
		v.prompts++
		from, until := span(all, i)
		if !slices.ContainsFunc(steps, func(s replay.Step) bool {
			at := s.At.Seconds()
			return s.Next == agent.Prompt && w.agrees(s) && at <= until && lasts(steps, s) >= from
		}) {
			v.missed++
			v.at = append(v.at, fmt.Sprintf("%.3f missed %s %s", w.T, w.Prompt, w.Tool))
		}
	}
	return v
}

// lasts is when what the step says ends.
func lasts(steps []replay.Step, s replay.Step) float64 {
	for _, o := range steps {
		if o.At > s.At {
			return o.At.Seconds()
		}
	}
	return 1e9
}

// stretches adds up the time in which nothing that may be shown is shown.
func (v *verdict) stretches(steps []replay.Step, all []truth, end float64) {
	for k, s := range steps {
		from, until := s.At.Seconds(), end
		if k+1 < len(steps) {
			until = steps[k+1].At.Seconds()
		}
		var marks []float64
		for i := range all {
			a, b := span(all, i)
			marks = append(marks, a, b)
		}
		marks = append(marks, from, until)
		slices.Sort(marks)
		var run float64
		for m := 0; m+1 < len(marks); m++ {
			a, b := max(marks[m], from), min(marks[m+1], until)
			if b <= a {
				continue
			}
			mid := (a + b) / 2
			right := false
			for i, w := range all {
				lo, hi := span(all, i)
				right = right || mid >= lo && mid <= hi && w.agrees(s)
			}
			if right {
				run = 0
				continue
			}
			run += b - a
			v.wrong += time.Duration((b - a) * float64(time.Second))
			v.at = append(v.at, fmt.Sprintf("%.3f to %.3f is %s (%s)", a, b, s.Next, s.Cause))
			v.longest = max(v.longest, time.Duration(run*float64(time.Second)))
		}
	}
}

func names(t testing.TB, fsys fs.FS) []string {
	t.Helper()
	files, err := fs.Glob(fsys, "expected/*.states.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no expectations: %v", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".states.jsonl")
	}
	return files
}

// loaded are the recordings read so far: they do not change.
var loaded = map[string]*replay.Recording{}

func load(t testing.TB, fsys fs.FS, name string) *replay.Recording {
	t.Helper()
	if rec := loaded[name]; rec != nil {
		return rec
	}
	rec, err := replay.Load(fsys, "recordings/"+name+".cast")
	if err != nil {
		t.Fatal(err)
	}
	loaded[name] = rec
	return rec
}

// tolerance is far below the half second that detection may take: the truth is
// given in whole milliseconds, and one stretch (23_errors_retries1, a refusal
// by the model, left unjudged) begins 5 ms after the log has told of it.
const tolerance = 10 * time.Millisecond

// TestRecordings: every recording gives the right state, and every prompt.
func TestRecordings(t *testing.T) {
	fsys := reference(t)
	for _, name := range names(t, fsys) {
		t.Run(name, func(t *testing.T) {
			rec := load(t, fsys, name)
			steps := replay.Run(rec, claude.Driver{}, replay.Options{})
			all := truths(t, fsys, name)
			v := judge(steps, all, rec.End().Seconds())
			t.Logf("wrong for %v, longest %v, %d transitions, %d prompts, %d missed", v.wrong, v.longest, len(steps), v.prompts, v.missed)
			if got, want := sequence(steps), wanted(all); got != want {
				t.Errorf("in this order:\n%s\nwant\n%s", got, want)
			}
			if v.longest > tolerance || v.missed > 0 {
				t.Errorf("wrong:\n%s", strings.Join(v.at, "\n"))
			}
		})
	}
}

// sequence is the states in their order, each once however often its prompt
// changes.
func sequence(steps []replay.Step) string {
	var out []string
	for _, s := range steps {
		if n := len(out); n == 0 || out[n-1] != string(s.Next) {
			out = append(out, string(s.Next))
		}
	}
	return strings.Join(out, " ")
}

// wanted is the true order. A stretch that was left unjudged is an error here:
// the model refused, and Claude itself says that the turn failed.
func wanted(all []truth) string {
	var out []string
	for _, w := range all {
		state := w.State
		if state == "unjudged" {
			state = string(agent.InError)
		}
		if n := len(out); n == 0 || out[n-1] != state {
			out = append(out, state)
		}
	}
	return strings.Join(out, " ")
}
