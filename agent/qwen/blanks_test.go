package qwen_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"berth/agent"
	"berth/agent/qwen"
	"berth/detect"
)

// TestUndrawnBlanks: Qwen Code's comparison leaves out lines that differ in their blanks alone, once any other line differs. Of a file
// that is written the old text isn't known.
func TestUndrawnBlanks(t *testing.T) {
	long := strings.Repeat("x\n", 1500)
	for _, c := range []struct{ tool, old, text, want string }{
		{"edit", "v = 1\nif x:\n    rm()", "v = 2\nif x:\n  rm()", `new_string, line 3: "  rm()"`},
		{"edit", "a\nb\n", "c\nb\n", ""},
		{"edit", "a\r\nb", "c\nb\na", `new_string, line 3: "a"`},
		{"edit", "a\nb", "c\nb ", `new_string, line 2: "b "`},
		{"edit", "a\nb", "c\nb\u200b", "new_string, line 2: \"b\\u200b\"\nnew_string: \"b\\u200b\""},
		{"edit", "a\n\nb", "c\n  \nb", `new_string, line 2: "  "`},
		{"edit", "x", "  x\n\tx", "new_string, line 1: \"  x\"\nnew_string, line 2: \"\\tx\""},
		{"edit", long, strings.ReplaceAll(long, "x", " x"), "new_string: 4500 bytes, SHA-256 "},
		{"write_file", "", "a\n\n\u3042 b\n", "content, line 1: \"a\"\ncontent, line 2: \"\"\ncontent, line 3: \"\u3042 b\""},
		{"write_file", "", "", ""},
		{"write_file", "", "a\u202e\n", `content, line 1: "a\u202e"`},
		{"write_file", "", long, "content: 3000 bytes, SHA-256 "},
	} {
		input := map[string]string{"file_path": "/w/a.py", "new_string": c.text, "old_string": c.old}
		if c.tool == "write_file" {
			input = map[string]string{"file_path": "/w/a.py", "content": c.text}
		}
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		got := qwen.Driver{}.Undrawn(c.tool, raw, "/w")
		if long := strings.HasSuffix(c.want, "SHA-256 "); got != c.want && !(long && strings.HasPrefix(got, c.want)) {
			t.Errorf("%s of %.40q to %.40q: %q, want %q", c.tool, c.old, c.text, got, c.want)
		}
	}
}

// TestLineTaken: an edit that takes a text away takes the line's end after it too, which nothing but its prompt's text says.
func TestLineTaken(t *testing.T) {
	for c, want := range map[[2]string]bool{
		{" # scratch", ""}: true, {"a\nb", ""}: true, {"a\n", "\n"}: true, {"a\n", "\r\n"}: true,
		{"a\n", ""}: false, {"a", "b"}: false, {"", ""}: false, {"", "\n"}: false, {"a", "\n"}: false, {"a\n", "b\n"}: false,
	} {
		raw, err := json.Marshal(map[string]string{"file_path": "/w/a.py", "old_string": c[0], "new_string": c[1]})
		if err != nil {
			t.Fatal(err)
		}
		got := qwen.Driver{}.Undrawn("edit", raw, "/w")
		if strings.Contains(got, "Where a line of the file ends after old_string, the edit takes that line's end too") != want {
			t.Errorf("%q to %q: %q", c[0], c[1], got)
		}
	}
}

// changes is the screen of a change of clean.py that draws only its version.
func changes(head string) *agent.Reading {
	return draw(80, 24, "  ? "+head+" ←\n\n   1 - VERSION = \"1.0\"\n   1 + VERSION = \"1.1\"\n\n   Apply this change?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)\n"+waiting)
}

// TestChangeOfBlanks: the prompt of a change says what its dialog doesn't draw, whatever reported the call, and a key or the waiting
// hook takes its answer.
func TestChangeOfBlanks(t *testing.T) {
	const old, lines = `VERSION = "1.0"\nif force:\n    rm()\n`, `new_string, line 3: "  rm()"`
	edit := `{"file_path":"/w/clean.py","old_string":"` + strings.ReplaceAll(old, `"`, `\"`) + `","new_string":"VERSION = \"1.1\"\nif force:\n  rm()\n"}`
	write := `{"content":"VERSION = \"1.1\"\n` + strings.Repeat("  rm()", 400) + `","file_path":"/w/clean.py"}`
	const many = "content: 2416 bytes, SHA-256 d10be39256e1eba1…: the dialog leaves out changes of blanks, and prompt --full has the whole"
	for _, c := range []struct{ tool, input, head, want, full string }{
		{"edit", edit, "Edit clean.py", lines, ""},
		{"edit", strings.Replace(edit, "/w/", `/w/\\[id\\]/`, 1), "Edit [id]/clean.py", `file_path: "/w/[id]/clean.py"` + "\n" + lines, ""},
		{"write_file", write, "WriteFile Writing to clean.py", many, write},
		// a command of sed is drawn as an edit
		{"run_shell_command", `{"command":"sed -i 's/1.0/1.1/' clean.py"}`, "Shell sed -i 's/1.0/1.1/' clean.py (d)", `command: "sed -i 's/1.0/1.1/' clean.py"` + "\n" +
			"Qwen Code may draw this as an edit and make it itself: with JavaScript's patterns, and without what else the command has.", ""},
	} {
		for _, by := range []string{"the log", "a hook", "both", "a waiting hook"} {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			fold := detect.New(qwen.Driver{}, detect.Options{Start: now, Dir: "/w"})
			apply := func(facts ...agent.Fact) {
				for _, f := range facts {
					now = now.Add(200 * time.Millisecond)
					f.Time = now
					fold.Apply(f)
				}
			}
			if by != "the log" {
				apply(hook(t, `"hook_event_name":"UserPromptSubmit","prompt":"go"`))
			}
			if by == "the log" || by == "both" {
				logged, err := qwen.Driver{}.Log([]byte(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"c","name":"` + c.tool + `","args":` + c.input + `}}]}}`))
				if err != nil {
					t.Fatal(err)
				}
				apply(logged...)
			}
			if by != "the log" {
				asks := hook(t, `"hook_event_name":"PermissionRequest","tool_name":"`+c.tool+`","tool_input":`+c.input)
				asks.Hook = "7"
				apply(asks)
			}
			if by == "a waiting hook" {
				p, held := fold.HeldBy("7")
				if !held || agent.Value(p.Text) != c.want || !strings.Contains(c.input, p.FullInput) || p.Channel != agent.ChannelHook {
					t.Errorf("%s: the hook waits (%v) for %.200q: %s", c.tool, held, p.FullInput, agent.Value(p.Text))
				}
				continue
			}
			apply(agent.Fact{Kind: agent.HookGone, Source: agent.SourceHook, Cause: "hook:gone", Hook: "7"})
			r := changes(c.head)
			for range 12 {
				apply(agent.Fact{Kind: agent.ScreenShows, Source: agent.SourceScreen, Reading: r})
			}
			p := fold.Status().Request
			if d, ok := fold.Pending(p.ID); !ok || !d.Whole || p.Contested || !fold.Asks(r.Dialog, p.ID) || p.InPart() {
				t.Errorf("%s, reported by %s: no key answers %.200q: %s", c.tool, by, p.FullInput, agent.Value(p.Text))
			}
			if text, whole := agent.Value(p.Text), "\n"+c.full; text != c.head+"\n\n"+c.want || c.full != "" && (!strings.HasSuffix(p.FullInput, whole) || p.InputBytes != len(p.FullInput) || !p.InputTruncated) {
				t.Errorf("%s, reported by %s: it says %s\nof %.200q", c.tool, by, text, p.FullInput)
			}
		}
	}
}
