package codex_test

import (
	"strconv"
	"strings"
	"testing"

	"berth/agent"
	"berth/agent/codex"
)

// replaces is in the text of the prompt of a patch with a new file.
const replaces = "A file that is added or moved replaces one that is there."

// TestPatchBeyondItsLines: Codex ends added lines as most lines of their file do, and a CR can make a command of a line that a
// backslash continues. It replaces a file that is there by a new or a moved one. The prompt says so.
func TestPatchBeyondItsLines(t *testing.T) {
	const ends = "Added lines end as most lines of their file do: each may get a CR."
	for files, want := range map[string]string{
		"*** Update File: /a.c\n@@\n-one\n+two \\\n+  three #":                                ends,
		"*** Update File: /a.sh\n@@\n-one\n+two\n *** Add File: /b\n+one":                     ends + "\n" + replaces,
		"*** Update File: /a.go\n@@\n-one\n+two\n*** Update File: /run\n@@\n-one\n+exit":      ends,
		"*** Update File: /a.go\n@@\n-one\n+two\n*** End of File\n@@\n+three\n":               "",
		"*** Update File: /a.go\n*** Move to: /b.sh\n@@\n one\n*** End of File\n@@\n+two":     ends + "\n" + replaces,
		"*** Update File: /a.go\n@@\n-one\n+two\n*** Delete File: /run\n*** Add File: /b\n+x": replaces,
		"*** Update File: /a\n*** Move to: /b\n@@\n-one":                                      replaces,
		"*** Add File: /a\n+one":        replaces,
		"*** Update File: /a\n@@\n-one": "",
		"*** Delete File: /a":           "",
	} {
		for description, above := range map[string]string{"": "", `,"description":"May I?"`: "May I?\n\n"} {
			s := newSeen()
			for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"apply_patch","tool_input":{"command":`+strconv.Quote("*** Begin Patch\n"+files+"\n*** End Patch")+description+`}`) {
				f.Hook, f.Time = "7", s.now
				s.f.Apply(f)
			}
			if p, held := s.f.HeldBy("7"); !held || text(p.Text) != strings.TrimSuffix(above+want, "\n\n") {
				t.Errorf("%s: it asks (%v) %+v", files, held, p)
			}
		}
	}
}

// TestFolderOfAPatch: Codex's hook reports a patch without the folder that its names are relative to. The
// prompt shows the folder as the call reports it; without the call no hook waits for the answer.
func TestFolderOfAPatch(t *testing.T) {
	patch := func(name string) string { return "*** Begin Patch\n*** Add File: " + name + "\n+one\n*** End Patch" }
	in := func(words, name string) string { return words + "apply_patch <<'EOF'\n" + patch(name) + "\nEOF" }
	for name, c := range map[string]struct {
		calls [][2]string // the folder and the command of each call
		tool  string
		file  string
		held  bool
		text  string
	}{
		"here":                 {[][2]string{{"/w", in("", "a.txt")}}, "Bash", "a.txt", true, ""},
		"another folder":       {[][2]string{{"/etc", in("", "a.txt")}}, "Bash", "a.txt", true, `workdir: "/etc"`},
		"a change of folders":  {[][2]string{{"/w", in("cd /etc && ", "a.txt")}}, "Bash", "a.txt", true, `command: "cd /etc && apply_patch <<'EOF'"`},
		"both":                 {[][2]string{{"/srv", in("cd etc && ", "a.txt")}}, "Bash", "a.txt", true, `command: "cd etc && apply_patch <<'EOF'"` + "\n" + `workdir: "/srv"`},
		"an absolute name":     {nil, "", "/w/a.txt", true, ""},
		"no call":              {nil, "", "a.txt", false, ""},
		"another call":         {[][2]string{{"/w", in("", "b.txt")}}, "Bash", "a.txt", false, ""},
		"two of them":          {[][2]string{{"/w", in("", "a.txt")}, {"/etc", in("", "a.txt")}}, "Bash", "a.txt", true, "one of several calls:\n\nworkdir: \"/w\"\n\nworkdir: \"/etc\""},
		"the same twice":       {[][2]string{{"/w", in("", "a.txt")}, {"/w", in("", "a.txt")}}, "Bash", "a.txt", true, ""},
		"the tool for patches": {[][2]string{{"/w", patch("a.txt")}}, "apply_patch", "a.txt", true, ""},
		"a name with blanks":   {[][2]string{{"/etc", in("", "  a.txt")}}, "Bash", "  a.txt", true, `workdir: "/etc"`},
	} {
		s := newSeen()
		for i, call := range c.calls {
			for _, f := range hook(t, "PreToolUse", `,"cwd":"`+call[0]+`","tool_use_id":"`+strconv.Itoa(i)+`","tool_name":"`+c.tool+`","tool_input":{"command":`+strconv.Quote(call[1])+`}`) {
				f.Time = s.now
				s.f.Apply(f)
			}
		}
		var asked *agent.Request
		for _, f := range hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"apply_patch","tool_input":{"command":`+strconv.Quote(patch(c.file))+`}`) {
			f.Hook, f.Time = "7", s.now
			s.f.Apply(f)
		}
		_, held := s.f.HeldBy("7")
		asked = s.f.Status().Request
		if asked == nil || held != c.held || agent.Value(asked.Text) != strings.TrimSuffix(replaces+"\n\n"+c.text, "\n\n") || !strings.Contains(asked.FullInput, "*** Add File: ") || strings.Contains(string(asked.Raw), "workdir") {
			t.Errorf("%s: held %v, %+v", name, held, asked)
		}
	}
}

// TestPatchOfTheLog: the session log and the call's own hook report one call, each in its form. It is one call in the prompt.
func TestPatchOfTheLog(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch"
	command := "cd etc && apply_patch <<'EOF'\n" + patch + "\nEOF"
	for workdir, c := range map[string]struct{ cwd, want string }{
		``:                  {"/w", `command: "cd etc && apply_patch <<'EOF'"`},
		`,"workdir":"sub"`:  {"/w/sub", `command: "cd etc && apply_patch <<'EOF'"` + "\n" + `workdir: "/w/sub"`},
		`,"workdir":"/srv"`: {"/srv", `command: "cd etc && apply_patch <<'EOF'"` + "\n" + `workdir: "/srv"`},
	} {
		s := newSeen()
		facts, err := codex.Driver{}.Log([]byte(`{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":` + strconv.Quote(`{"cmd":`+strconv.Quote(command)+workdir+`}`) + `,"call_id":"k"}}`))
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, hook(t, "PreToolUse", `,"cwd":"`+c.cwd+`","tool_use_id":"k","tool_name":"Bash","tool_input":{"command":`+strconv.Quote(command)+`}`)...)
		asks := hook(t, "PermissionRequest", `,"cwd":"/w","tool_name":"apply_patch","tool_input":{"command":`+strconv.Quote(patch)+`}`)
		asks[0].Hook = "7"
		for _, f := range append(facts, asks...) {
			f.Time = s.now
			s.f.Apply(f)
		}
		if p, held := s.f.HeldBy("7"); !held || text(p.Text) != replaces+"\n\n"+c.want {
			t.Errorf("%s: it asks (%v) %+v", workdir, held, p)
		}
	}
}

// TestPatchReportedBefore: a forged hook reports a patch first, in a folder of its choice, and doesn't wait.
// The true call's hook then waits for an answer about another folder, so that is another prompt.
func TestPatchReportedBefore(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch"
	s := newSeen()
	tell := func(id, event, more string) {
		for _, f := range hook(t, event, more) {
			f.Hook, f.Time = id, s.now
			s.f.Apply(f)
		}
	}
	starts := func(call, dir string) {
		tell("", "PreToolUse", `,"cwd":"`+dir+`","tool_use_id":"`+call+`","tool_name":"Bash","tool_input":{"command":`+strconv.Quote("apply_patch <<'EOF'\n"+patch+"\nEOF")+`}`)
	}
	asks := `,"cwd":"/w","tool_name":"apply_patch","tool_input":{"command":` + strconv.Quote(patch) + `}`
	starts("forged", "/w/safe")
	tell("", "PermissionRequest", asks)
	before := s.f.Status().Request
	starts("true", "/etc")
	tell("7", "PermissionRequest", asks)
	p, held := s.f.HeldBy("7")
	if !held || !strings.Contains(text(p.Text), `workdir: "/etc"`) || p.ID == before.ID {
		t.Errorf("after %s with %q the hook waits (%v) for %+v", before.ID, text(before.Text), held, p)
	}
}

// TestPatchOfACallReportedOver: forged hooks report that the true call is over, or so many other calls that
// it has no room, and then a call with the same patch in another folder. The prompt names that folder only
// together with the true one.
func TestPatchOfACallReportedOver(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch"
	for name, forge := range map[string]func(tell func(event, more string), starts func(call, dir, more string)){
		"its end": func(tell func(event, more string), _ func(call, dir, more string)) {
			tell("PostToolUse", `,"turn_id":"1","tool_use_id":"true","tool_name":"Bash","tool_input":{}`)
		},
		"a step's end": func(tell func(event, more string), _ func(call, dir, more string)) {
			tell("PreModelRequest", `,"turn_id":"1"`)
		},
		"a turn's end": func(tell func(event, more string), _ func(call, dir, more string)) { tell("Stop", `,"turn_id":"1"`) },
		"another turn": func(tell func(event, more string), _ func(call, dir, more string)) {
			tell("UserPromptSubmit", `,"turn_id":"2","prompt":"x"`)
		},
		"its id": func(_ func(event, more string), starts func(call, dir, more string)) { starts("true", "/w/safe", "") },
		"many calls": func(_ func(event, more string), starts func(call, dir, more string)) {
			for i := range 100 {
				starts(strconv.Itoa(i), "/w", strconv.Itoa(i))
			}
		},
		"too many calls": func(_ func(event, more string), starts func(call, dir, more string)) {
			for i := range 300 {
				starts(strconv.Itoa(i), "/w", strconv.Itoa(i))
			}
		},
	} {
		s := newSeen()
		tell := func(event, more string) {
			for _, f := range hook(t, event, more) {
				if f.Time = s.now; f.Kind == agent.Asked {
					f.Hook = "7"
				}
				s.f.Apply(f)
			}
		}
		starts := func(call, dir, more string) {
			tell("PreToolUse", `,"turn_id":"1","cwd":"`+dir+`","tool_use_id":"`+call+`","tool_name":"Bash","tool_input":{"command":`+strconv.Quote("apply_patch <<'EOF'\n"+strings.Replace(patch, "one", "one"+more, 1)+"\nEOF")+`}`)
		}
		tell("UserPromptSubmit", `,"turn_id":"1","prompt":"x"`)
		starts("true", "/etc", "")
		forge(tell, starts)
		starts("forged", "/w/safe", "")
		s.restart(t)
		tell("PermissionRequest", `,"turn_id":"1","cwd":"/w","tool_name":"apply_patch","tool_input":{"command":`+strconv.Quote(patch)+`}`)
		if p, held := s.f.HeldBy("7"); held && !strings.Contains(text(p.Text), `workdir: "/etc"`) {
			t.Errorf("%s: the hook waits for an answer about %q", name, text(p.Text))
		}
	}
}
