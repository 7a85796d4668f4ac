package hooks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestUserFile(t *testing.T) {
	group := func(command string) any {
		return map[string]any{"hooks": []any{map[string]string{"type": "command", "command": command}}}
	}
	groups := func(program string) []Group {
		return []Group{{"Stop", group(InSession(program, "--tell Stop"))}, {"Start", group(InSession(program, "--tell Start"))}}
	}
	disk := fstest.MapFS{"s.json": {Data: []byte(`{"z":1.50,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine <&>"}]}]},"a":[1]}`)}}
	first, err := UserFile(disk, "/s.json", "{}", groups("/old/berth-hold"))
	if err != nil {
		t.Fatal(err)
	}
	after := string(first.After)
	for _, want := range []string{`"z": 1.50`, `"command": "mine <&>"`, "hook --tell Stop", "hook --tell Start"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %s in %s", want, after)
		}
	}
	if strings.Index(after, `"z"`) > strings.Index(after, `"hooks"`) || strings.Index(after, `"hooks"`) > strings.Index(after, `"a"`) {
		t.Errorf("another order: %s", after)
	}
	if at, err := Position(first.After, "Stop"); err != nil || at != 1 {
		t.Errorf("it is at %d %v", at, err)
	}
	flat := []Group{{"Stop", map[string]any{"type": "command", "command": InSession("/old/berth-hold", "--tell Stop")}}}
	for range 2 { // an agent's hooks without groups
		file, err := UserFile(disk, "/flat.json", `{"version":1}`, flat)
		if err != nil || !strings.Contains(string(file.After), `"version": 1`) || strings.Count(string(file.After), "hook --tell Stop") != 1 {
			t.Errorf("without groups: %v %s", err, file.After)
		}
		disk["flat.json"] = &fstest.MapFile{Data: file.After}
	}
	disk["s.json"].Data = first.After
	again, err := UserFile(disk, "/s.json", "{}", groups("/old/berth-hold"))
	if err != nil || string(again.After) != after {
		t.Errorf("a second time: %v %s", err, again.After)
	}
	newer, err := UserFile(disk, "/s.json", "{}", groups("/new/berth-hold"))
	if err != nil || strings.Contains(string(newer.After), "/old/") || strings.Count(string(newer.After), "exec '/new/berth-hold'") != 2 {
		t.Errorf("of another program: %v %s", err, newer.After)
	}
	for _, wrong := range []string{`[]`, `{"hooks":3}`, `{"hooks":{"Stop":{}}}`, "{// comment\n}", `{} {}`, `{"a":1}}`, `{}]`, `{} x`, `{"a":`} {
		disk["s.json"].Data = []byte(wrong)
		if f, err := UserFile(disk, "/s.json", "{}", groups("/x")); err == nil {
			t.Errorf("%s gives %s", wrong, f.After)
		}
	}
}

// TestInSession: outside of a session the command is silent, has status 0, and runs nothing.
func TestInSession(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "it's a program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\"\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ program, env, out string }{
		{program, "A=1", ""},
		{program, "BERTH_HOOK_SOCKET=", ""},
		{program, "BERTH_HOOK_SOCKET=/s", "hook --tell Stop\n"},
		{program, "BERTH_HOOK_SOCKET=/s BERTH_HOOKS=1", ""},
		{program + " that is gone", "BERTH_HOOK_SOCKET=/s", ""},
	} {
		cmd := exec.Command("/bin/sh", "-c", InSession(c.program, "--tell Stop"))
		cmd.Env = strings.Fields(c.env)
		out, err := cmd.CombinedOutput()
		if string(out) != c.out || (err != nil) != (c.out != "") {
			t.Errorf("with %s: %v %q", c.env, err, out)
		}
	}
}
