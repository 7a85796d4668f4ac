package claude_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/claude"
	"berth/detect"
)

const build = `{"command":"./build.sh","description":"Build"}`

// described is the text of a prompt that was only seen.
const described = `description: "Build"`

// callsIn reports the call of a tool in a folder: the hook of its start or of its permission.
func (s *forgery) callsIn(event, folder, tool, input, id string) {
	s.t.Helper()
	call := ""
	if event == "PreToolUse" {
		call = `,"tool_use_id":"k"`
	}
	s.hook(fmt.Sprintf(`{"session_id":"s","hook_event_name":%q,"prompt_id":"t","cwd":%q,"tool_name":%q,"tool_input":%s%s}`, event, folder, tool, input, call), id)
}

// logsIn applies a line of the log with a call in a folder.
func (s *forgery) logsIn(folder, call, tool, input string) {
	s.t.Helper()
	s.logs(fmt.Sprintf(`{"type":"assistant","sessionId":"s","cwd":%q,"message":{"content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}`, folder, call, tool, input))
}

// TestFolderOfACommand: a command before has changed the folder that commands run in, and no dialog draws it. The prompt shows it where
// it isn't the session's, and its digest covers it.
func TestFolderOfACommand(t *testing.T) {
	digests := map[string]string{}
	for folder, want := range map[string]string{"/w": "", "/w/": "", "/w/sub": `workdir: "/w/sub"`, "/w/a&\u202eb": `workdir: "/w/a&\u202eb"`} {
		s, r := newForgery(t), asksOfCommand("Build", "./build.sh")
		s.logsIn(folder, "k", "Bash", build)
		s.callsIn("PreToolUse", folder, "Bash", build, "")
		s.callsIn("PermissionRequest", folder, "Bash", build, "7")
		s.show(r)
		p := s.f.Status().Request
		if text(p.Text) != want || text(p.Input) != "./build.sh" {
			t.Errorf("in %s it asks %+v", folder, p)
		}
		if other, known := digests[p.Digest]; known && other != want {
			t.Errorf("%q and %q have one digest", want, other)
		}
		digests[p.Digest] = want
		if s.gone("7"); !s.keyed(p.ID, r.Dialog) {
			t.Errorf("in %s no key answers %+v", folder, p)
		}
	}
}

// TestFolderOfTheLog: the session log has the folder too. Without hooks the prompt shows the log's, and no key answers a prompt of a
// hook that says another one.
func TestFolderOfTheLog(t *testing.T) {
	for _, c := range []struct{ logged, reported, want string }{ // want is the text that a key answers; "-": none does
		{"/w", "", ""}, {"/w/sub", "", `workdir: "/w/sub"`}, {"/w/sub", "/w", "-"}, {"/w", "/w/sub", "-"}, {"/w/sub", "/w/sub", `workdir: "/w/sub"`}, {"/w", "/w", ""},
	} {
		s, r := newLogged(t), asksOfCommand("Build", "./build.sh")
		s.logsIn(c.logged, "k", "Bash", build)
		if c.reported != "" {
			s.callsIn("PermissionRequest", c.reported, "Bash", build, "")
		}
		s.show(r)
		s.pass(2 * time.Second)
		s.show(r)
		got := "-"
		for _, p := range s.f.Status().Requests {
			if s.keyed(p.ID, r.Dialog) {
				got = strings.TrimPrefix(strings.TrimPrefix(text(p.Text), described), "\n\n")
			}
		}
		if got != c.want {
			t.Errorf("logged in %s, reported in %q: a key answers %q", c.logged, c.reported, got)
		}
	}
}

// TestFolderThroughALink: Claude reports the path without links of the folder that it was started in.
func TestFolderThroughALink(t *testing.T) {
	for folder, want := range map[string]string{"/w": "", "/link": `workdir: "/link"`, "/w/sub": `workdir: "/w/sub"`} {
		s := newForgery(t)
		s.f = detect.New(claude.Driver{}, detect.Options{Start: s.now, Dir: "/link", RealDir: "/w"})
		s.callsIn("PermissionRequest", folder, "Bash", build, "7")
		if p := s.f.Status().Request; text(p.Text) != want {
			t.Errorf("in %s it asks %q", folder, text(p.Text))
		}
	}
}

// TestFolderWithinAMessage: the log has several commands of one message before the first of them runs, which may change the folder of
// the others. A hook comes later, and has the folder.
func TestFolderWithinAMessage(t *testing.T) {
	for _, hooks := range []bool{false, true} {
		s, r := newLogged(t), asksOfCommand("Build", "./build.sh")
		want := `workdir: "not known: a command before this one may change it"`
		if hooks {
			s.hook(`{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt_id":"t","prompt":"begin"}`, "")
			want = `workdir: "/w/sub"`
		}
		s.logsIn("/w", "c", "Bash", `{"command":"cd sub"}`)
		s.logsIn("/w", "k", "Bash", build)
		s.logs(`{"type":"user","sessionId":"s","message":{"content":[{"type":"tool_result","tool_use_id":"c"}]}}`)
		if hooks {
			s.callsIn("PreToolUse", "/w/sub", "Bash", build, "")
			s.callsIn("PermissionRequest", "/w/sub", "Bash", build, "7")
		}
		s.show(r)
		s.pass(2 * time.Second)
		p := s.f.Status().Request
		if p == nil || strings.TrimPrefix(text(p.Text), described+"\n\n") != want || !hooks && !s.keyed(p.ID, r.Dialog) {
			t.Fatalf("hooks %v: it asks %+v", hooks, p)
		}
		if !hooks {
			continue
		}
		s.gone("7")
		s.hook(`{"session_id":"s","hook_event_name":"PostToolUse","prompt_id":"t","cwd":"/w/other","tool_name":"Bash","tool_use_id":"k","tool_input":`+build+`}`, "")
		s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: &agent.Reading{}, Time: s.step()})
		s.pass(time.Second)
		if all := s.f.Status().Requests; len(all) > 0 {
			t.Errorf("after its end it asks %+v", all[0])
		}
	}
}

// TestFolderThatTheModelNames: the model's own field of that name does nothing.
func TestFolderThatTheModelNames(t *testing.T) {
	for folder, want := range map[string]string{"/w": `workdir: "/w"`, "/etc": `workdir: "/etc"`} {
		s := newForgery(t)
		s.callsIn("PermissionRequest", folder, "Bash", `{"command":"./build.sh","workdir":"/srv"}`, "7")
		if p := s.f.Status().Request; text(p.Text) != want {
			t.Errorf("in %s it asks %q", folder, text(p.Text))
		}
	}
}
