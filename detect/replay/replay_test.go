package replay

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/agent/codex"
	"berth/detect"
)

func recording(t *testing.T, driver agent.Driver, name string) *Recording {
	t.Helper()
	z, err := zip.OpenReader("../../agent/" + driver.Name() + "/testdata/reference.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	rec, err := Load(z, "recordings/"+name+".cast")
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// TestRestart stops detection in the middle of recordings, again and again, and restores it from
// its saved state. The transitions stay the same.
func TestRestart(t *testing.T) {
	for name, driver := range map[string]agent.Driver{
		"08_ask_multi": claude.Driver{}, "14_hook_answers": claude.Driver{}, "22_hook_coverage": claude.Driver{}, "23_errors_retries1": claude.Driver{},
		"28_sessions_status_file": claude.Driver{}, "04_plan_mode_question_plan": codex.Driver{}, "14_permission_hook_deny": codex.Driver{},
		"17_codex_queue_cmd": codex.Driver{}, "09_resume": codex.Driver{},
	} {
		rec := recording(t, driver, name)
		whole := Run(rec, driver, Options{})
		p := newPlayer(rec, driver, Options{})
		taken := 0
		p.o.Each = func(at time.Duration, f *detect.Fold) {
			if taken++; taken%7 != 0 {
				return
			}
			data, err := f.Checkpoint()
			if err != nil {
				t.Fatal(err)
			}
			if p.fold, err = detect.Restore(p.driver, p.options(), data, rec.Start.Add(at)); err != nil {
				t.Fatal(err)
			}
		}
		broken := p.run()
		if len(whole) != len(broken) {
			t.Errorf("%s: %d transitions, %d with restarts", name, len(whole), len(broken))
			continue
		}
		for i := range whole {
			a, _ := json.Marshal(whole[i])
			b, _ := json.Marshal(broken[i])
			if !bytes.Equal(a, b) {
				t.Errorf("%s:\n%s\nwith restarts\n%s", name, a, b)
			}
		}
	}
}

func TestLoad(t *testing.T) {
	cast := `{"version": 2, "width": 40, "height": 10, "timestamp": 1000}` + "\n" +
		`[0.5, "o", "\u001b]0;✳ Claude Code\u0007────────────────────────────────────────\r\n❯ \r\n────────────────────────────────────────"]` + "\n" + `[0.6, "i", "x"]` + "\n" + `[1.5, "r", "60x20"]` + "\n" + `[2.0, "o", "bye"]` + "\n"
	for name, c := range map[string]struct {
		files map[string]string
		ok    bool
	}{
		"alone":          {map[string]string{"a.cast": cast}, true},
		"with its hooks": {map[string]string{"a.cast": cast, "a.hooks.jsonl": `{"t":1,"payload":{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt_id":"p"}}`}, true},
		"a torn log":     {map[string]string{"a.cast": cast, "a.log.jsonl": "{\"type\":\"us\n{\"type\":\"system\"}"}, true},
		"none":           {map[string]string{}, false},
		"no header":      {map[string]string{"a.cast": `[0.5, "o", "x"]`}, false},
		"version 1":      {map[string]string{"a.cast": `{"version": 1}`}, false},
		"a bad event":    {map[string]string{"a.cast": cast + "[1]\n{}"}, false},
		"a bad size":     {map[string]string{"a.cast": cast + `[3, "r", "wide"]`}, false},
		"bad hooks":      {map[string]string{"a.cast": cast, "a.hooks.jsonl": "x"}, false},
		"a bad registry": {map[string]string{"a.cast": cast, "a.sessions-dir.json": `[["x"]]`}, false},
	} {
		files := fstest.MapFS{}
		for file, text := range c.files {
			files[file] = &fstest.MapFile{Data: []byte(text)}
		}
		rec, err := Load(files, "a.cast")
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrRecording) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			steps := Run(rec, claude.Driver{}, Options{})
			if steps[1].At != 500*time.Millisecond || steps[1].Next != "idle" || rec.End != 2*time.Second {
				t.Errorf("%s: %+v, ends at %v", name, steps[1], rec.End)
			}
		}
	}
}

// TestStepJSON pins the line that explain prints.
func TestStepJSON(t *testing.T) {
	for _, step := range Run(recording(t, claude.Driver{}, "05_permission_bash"), claude.Driver{}, Options{}) {
		line, err := json.Marshal(step)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(line, &got); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"t", "prev", "next", "tier", "cause"} {
			if _, ok := got[key]; !ok {
				t.Errorf("no %s in %s", key, line)
			}
		}
		if _, ok := got["prompt"]; ok != (got["next"] == "prompt") {
			t.Errorf("a prompt or none in %s", line)
		}
	}
}
