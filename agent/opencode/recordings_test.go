package opencode_test

import (
	"archive/zip"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"berth/agent"
	"berth/agent/opencode"
	"berth/detect"
	"berth/detect/replay"
	"berth/test/agents/truth"
)

var sizes = []string{"40x20", "60x20", "80x24", "200x50"}

// recording is opencode in a terminal of that size, with the reports of the plugin. The
// recorded plugin's hooks wait for a person's answer, but the recording does not say so.
func recording(t testing.TB, size string) *replay.Recording {
	t.Helper()
	z, err := zip.OpenReader("testdata/recordings.zip")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = z.Close() })
	rec, err := replay.Load(z, "recordings/"+size+".cast")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// The states of a recording. A turn that is refused, dismissed or answered has a prompt.
const (
	turn     = "working idle "
	accepted = "working prompt working idle "
	refused  = "working prompt idle "
)

// reported is the order of states with the plugin: a turn, a command that is allowed, four that are
// refused, the page of "Allow always", a file that is refused and one that is allowed, a folder and
// a page that are refused, three questions, an interrupted turn, an error, a turn that is retried, two
// turns at once, the last turn.
func reported() string {
	return "starting idle " + turn + accepted + strings.Repeat(refused, 5) + accepted + strings.Repeat(refused, 2) +
		strings.Repeat(accepted, 3) + turn + "working error " + turn + turn + "working idle"
}

// brief leaves out the work after an answer: a refused turn's end is reported some milliseconds after
// its dialog is gone, and more while the machine is busy.
func brief(states string) string {
	return strings.ReplaceAll(states, "prompt working idle", "prompt idle")
}

// TestRecordings: with the plugin's reports every recording gives the right states in the right
// order, also when the reports or the screen are late.
func TestRecordings(t *testing.T) {
	for _, size := range sizes {
		rec := recording(t, size)
		for name, o := range map[string]replay.Options{
			"as recorded":        {},
			"reports by 60 ms":   {Late: map[agent.Source]time.Duration{agent.SourceHook: 60 * time.Millisecond}},
			"reports by 150 ms":  {Late: map[agent.Source]time.Duration{agent.SourceHook: 150 * time.Millisecond}},
			"a screen by 100 ms": {Pace: 100 * time.Millisecond},
		} {
			t.Run(size+" "+name, func(t *testing.T) {
				got := brief(truth.Sequence(replay.Run(rec, opencode.Driver{}, o)))
				if want := brief(reported()); got != want {
					t.Errorf("%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// TestWithoutPlugin: the screen alone shows each prompt and the work, and rest after two seconds of it.
// The recordings' turns follow each other faster, and in
// one of them a dialog changes its size before it is believed.
func TestWithoutPlugin(t *testing.T) {
	for _, size := range sizes {
		t.Run(size, func(t *testing.T) {
			o := replay.Options{Without: map[agent.Source]bool{agent.SourceHook: true}}
			got := truth.Sequence(replay.Run(recording(t, size), opencode.Driver{}, o))
			if want := strings.Count(reported(), "prompt"); strings.Count(got, "prompt") < want-1 || !strings.HasPrefix(got, "starting idle working ") {
				t.Errorf("%s\nwant %d prompts", got, want)
			}
		})
	}
}

// TestHonestPromptsAreNotContested: in no recording is a prompt contested, without the plugin and with it.
func TestHonestPromptsAreNotContested(t *testing.T) {
	for _, size := range sizes {
		for _, reported := range []bool{false, true} {
			if n := truth.Honest(t, recording(t, size), opencode.Driver{}, map[agent.Source]bool{agent.SourceHook: !reported}, func(detect.Pending) bool { return true }); n < 10 {
				t.Errorf("%s, reported %v: only %d prompts", size, reported, n)
			}
		}
	}
}

// unasked is the driver in a session where another process ends each report of what is asked.
type unasked struct{ opencode.Driver }

func (d unasked) Hook(payload []byte) ([]agent.Fact, error) {
	return truth.ReportsNothingAsked(d.Driver.Hook(payload))
}

// TestReportsThatAreEnded: no dialog takes keys then, because it doesn't draw all.
func TestReportsThatAreEnded(t *testing.T) {
	for _, size := range sizes {
		if n := truth.Unreported(t, recording(t, size), unasked{}); n < 10 {
			t.Errorf("%s: only %d prompts", size, n)
		}
	}
}

// TestLostReports: each report of the plugin is lost once, because another process ended its hook. The state is right
// again within 6 s, by the next report or by the screen. A person's typing is output too: it puts off the end of a turn that
// no report ends.
func TestLostReports(t *testing.T) {
	const size = "80x24"
	z, err := zip.OpenReader("testdata/recordings.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	cast, hooks := read(t, z, "recordings/"+size+".cast"), strings.SplitAfter(read(t, z, "recordings/"+size+".hooks.jsonl"), "\n")
	run := func(hooks []string) []replay.Step {
		rec, err := replay.Load(fstest.MapFS{"a.cast": {Data: []byte(cast)}, "a.hooks.jsonl": {Data: []byte(strings.Join(hooks, ""))}}, "a.cast")
		if err != nil {
			t.Fatal(err)
		}
		return replay.Run(rec, opencode.Driver{}, replay.Options{})
	}
	whole := run(hooks)
	for i, line := range hooks {
		if !strings.Contains(line, `"event": "turn"`) && !strings.Contains(line, `"event": "idle"`) && !strings.Contains(line, `.asked"`) && !strings.Contains(line, `.replied"`) {
			continue
		}
		most := 6 * time.Second
		if strings.Contains(line, `"text": "second"`) {
			most = 11 * time.Second // a person types until the next turn
		}
		if from, lasts := differ(whole, run(slices.Concat(hooks[:i], hooks[i+1:]))); lasts > most {
			t.Errorf("without report %d: another state from %v for %v: %.200s", i, from, lasts, line)
		}
	}
}

func read(t *testing.T, z fs.FS, name string) string {
	t.Helper()
	data, err := fs.ReadFile(z, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// differ is the longest time with another state.
func differ(a, b []replay.Step) (from, lasts time.Duration) {
	at := func(steps []replay.Step, t time.Duration) (state agent.State) {
		for _, s := range steps {
			if s.At <= t {
				state = s.Next
			}
		}
		return state
	}
	var since, now time.Duration
	for end := max(a[len(a)-1].At, b[len(b)-1].At); now <= end; now += 20 * time.Millisecond {
		if at(a, now) == at(b, now) {
			since = now
		} else if now-since > lasts {
			from, lasts = since, now-since
		}
	}
	return from, lasts
}
