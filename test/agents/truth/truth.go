// Package truth compares the results of a driver and of detection on recordings with the true states, which a person
// read from the screens. The drivers' tests use it.
package truth

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
	"berth/detect"
	"berth/detect/replay"
)

// Reference is an archive of recordings, and of the truth over each.
type Reference struct {
	fs.FS
	// Classes are what the agent's own words for an error may be sorted into.
	Classes map[string][]agent.Class
	loaded  map[string]*replay.Recording
}

// Open opens the archive for the time of the test.
func Open(t testing.TB, file string) *Reference {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = z.Close() })
	return &Reference{FS: z, loaded: map[string]*replay.Recording{}}
}

// Names are those of the recordings with a truth.
func (r *Reference) Names(t testing.TB) []string {
	t.Helper()
	files, err := fs.Glob(r, "expected/*.states.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no expectations: %v", err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".states.jsonl")
	}
	return files
}

// Recording is the one of that name. It does not change and is read once.
func (r *Reference) Recording(t testing.TB, name string) *replay.Recording {
	t.Helper()
	if rec := r.loaded[name]; rec != nil {
		return rec
	}
	rec, err := replay.Load(r, "recordings/"+name+".cast")
	if err != nil {
		t.Fatal(err)
	}
	r.loaded[name] = rec
	return rec
}

// Unjudged is the state of a stretch that is left out.
const Unjudged = "unjudged"

// Stretch is one stretch of a recording. A right detector switches to it
// within its window.
type Stretch struct {
	T      float64
	Window [2]float64
	State  string
	Prompt string
	Tool   string
	Error  string
}

// Truth is what is true over the recording.
func (r *Reference) Truth(t testing.TB, name string) []Stretch {
	t.Helper()
	data, err := fs.ReadFile(r, "expected/"+name+".states.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []Stretch
	s := bufio.NewScanner(bytes.NewReader(data))
	for first := true; s.Scan(); first = false {
		var one Stretch
		if err := json.Unmarshal(s.Bytes(), &one); err != nil {
			t.Fatal(err)
		}
		if !first { // the first line is about the recording
			all = append(all, one)
		}
	}
	return all
}

// span is the time during which the stretch's state may be shown.
func span(all []Stretch, i int) (from, until float64) {
	from, until = all[i].Window[0], 1e9
	if all[i].State == Unjudged {
		from = all[i].T
	}
	if i+1 < len(all) {
		until = all[i+1].Window[1]
		if all[i+1].State == Unjudged {
			until = all[i+1].T + 0.6
		}
	}
	return from, until
}

// agrees reports whether a step has the true state.
func (r *Reference) agrees(w Stretch, s replay.Step) bool {
	if w.State == Unjudged {
		return true
	}
	if string(s.Next) != w.State {
		return false
	}
	switch {
	case w.Prompt != "":
		kind := string(s.Request.Type)
		if s.Request.Subtype != nil && *s.Request.Subtype == agent.SubtypeTrust {
			kind = startup // the truth counts it among them
		}
		tool := ""
		if s.Request.Tool != nil {
			tool = *s.Request.Tool
		}
		return kind == w.Prompt && (w.Tool == "" || tool == w.Tool)
	case w.Error != "":
		return slices.Contains(r.Classes[w.Error], s.Failure.Class)
	}
	return true
}

// Verdict is how a run compares with the truth.
type Verdict struct {
	Wrong   time.Duration // in all
	Longest time.Duration
	Prompts int      // asked, by the truth
	Missed  int      // of them
	Shown   int      // prompts that the run had
	False   int      // of those shown: that were never true
	Twice   int      // of those shown: more than the truth has. Several dialogs of a start are one stretch there
	At      []string // where it was wrong
}

// Judge compares a run that ends at end, in seconds, with the truth.
func (r *Reference) Judge(steps []replay.Step, all []Stretch, end float64) Verdict {
	var v Verdict
	r.stretches(&v, steps, all, end)
	for i, w := range all {
		if w.Prompt == "" {
			continue
		}
		v.Prompts++
		from, until := span(all, i)
		if !slices.ContainsFunc(steps, func(s replay.Step) bool {
			at := s.At.Seconds()
			return s.Next == agent.Prompt && r.agrees(w, s) && at <= until && lasts(steps, s) >= from
		}) {
			v.Missed++
			v.At = append(v.At, fmt.Sprintf("%.3f missed %s %s", w.T, w.Prompt, w.Tool))
		}
	}
	r.shown(&v, steps, all)
	return v
}

// shown counts the prompts by their ids, and those that no true stretch has.
func (r *Reference) shown(v *Verdict, steps []replay.Step, all []Stretch) {
	kinds := map[string]string{} // of each prompt, by the truth
	for _, s := range steps {
		if s.Next != agent.Prompt {
			continue
		}
		if _, ok := kinds[s.Request.ID]; !ok {
			kinds[s.Request.ID] = ""
		}
		for i, w := range all {
			from, until := span(all, i)
			if w.Prompt != "" && s.At.Seconds() <= until && lasts(steps, s) >= from && r.agrees(w, s) {
				kinds[s.Request.ID] = w.Prompt
			}
		}
	}
	v.Shown = len(kinds)
	single := 0 // of those shown: that are not of a start
	for id, kind := range kinds {
		switch kind {
		case "":
			v.False++
			v.At = append(v.At, fmt.Sprintf("prompt %s was never true", id))
		case startup:
		default:
			single++
		}
	}
	for _, w := range all {
		if w.Prompt != "" && w.Prompt != startup {
			single--
		}
	}
	v.Twice = max(single, 0)
}

// startup is the truth's word for the dialogs of a start, and for all of them that follow each other.
const startup = "setup"

// lasts is when what the step says ends.
func lasts(steps []replay.Step, s replay.Step) float64 {
	for _, o := range steps {
		if o.At > s.At {
			return o.At.Seconds()
		}
	}
	return 1e9
}

// stretches adds up the time during which no allowed state is shown.
func (r *Reference) stretches(v *Verdict, steps []replay.Step, all []Stretch, end float64) {
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
				right = right || mid >= lo && mid <= hi && r.agrees(w, s)
			}
			if right {
				run = 0
				continue
			}
			run += b - a
			v.Wrong += time.Duration((b - a) * float64(time.Second))
			v.At = append(v.At, fmt.Sprintf("%.3f to %.3f is %s (%s)", a, b, s.Next, s.Cause))
			v.Longest = max(v.Longest, time.Duration(run*float64(time.Second)))
		}
	}
}

// Sequence is the states in their order, each once however often its prompt
// changes.
func Sequence(steps []replay.Step) string {
	var out []string
	for _, s := range steps {
		if n := len(out); n == 0 || out[n-1] != string(s.Next) {
			out = append(out, string(s.Next))
		}
	}
	return strings.Join(out, " ")
}

// NoMismatch: no source is contradicted by another, in any of the recordings.
func (r *Reference) NoMismatch(t *testing.T, d agent.Driver) {
	t.Helper()
	for _, name := range r.Names(t) {
		replay.Run(r.Recording(t, name), d, replay.Options{Each: func(at time.Duration, f *detect.Fold) {
			for _, doubt := range f.Status().Doubts {
				t.Fatalf("%s: at %v %s, which said %s, was doubted: %s said %s", name, at, doubt.Source, doubt.Said, doubt.Against, doubt.AgainstSaid)
			}
		}})
	}
}
