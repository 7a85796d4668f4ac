package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"berth/agent/gemini"
)

// TestUndrawnBlanks: Gemini draws a tab as blanks, no blank at a line's end, a CR neither, and a change without the indent of all its
// lines. What a prompt's text says of them differs between any two calls that are drawn alike.
func TestUndrawnBlanks(t *testing.T) {
	for _, c := range []struct{ old, text, want string }{
		{"", "echo a\n  touch b\n\nend\n", ""},
		{"", "echo \\\r\n  touch b\r\n", `content, lines 1-2: ending with "\r"`},
		{"", "echo \\ \n  touch b\n", `content, line 1: ending with " "`},
		{"", "cat <<-EOF\n    a\n\tEOF\n    b\nEOF\n", "content, line 3: beginning with \"\\t\"\n" + ofContent},
		{"", "f:\n\ta\n\tb\n\t\tc\n\td\n", "content, lines 2-3, 5: beginning with \"\\t\"\ncontent, line 4: beginning with \"\\t\\t\""},
		{"", "a\tb\nc\u00a0# d\n", "content, line 1: \"a\\tb\"\ncontent, line 2: \"c\\u00a0# d\""},
		{"", "a\n  \n", `content, line 2: ending with "  "`},
		{"", "  cat <<EOF\n  EOF\n", "content, lines 1-2: beginning with \"  \"\n" + ofContent},
		{"", "a\n\n\n\n  b\n\n\n\nc\n", `content, line 5: beginning with "  "`},
		{"", "\tx\u200b\n", "content: \"\\tx\\u200b\"\ncontent, line 1: beginning with \"\\t\""},
		{"", strings.Repeat("a\tb\nc\td\n", 500), "content: 4000 bytes, SHA-256 58a7dd6effccdf74…: the dialog leaves out blanks, and prompt --full has the whole"},
		{"  true", "\u00a0\u00a0return 1", `new_string, line 1: beginning with "\u00a0\u00a0"`},
		{"  true", "  return 1\n", ""},
		{"  true\n", "  true\n  return 1\n", ""},
		{"true\n\n\n\n", "true\n\n\n\n  a\n", `new_string, line 5: beginning with "  "`},
		{"\n", "  a\n", `new_string, line 1: beginning with "  "`},
	} {
		tool, input := "replace", map[string]string{"file_path": "/w/s.js", "old_string": c.old, "new_string": c.text}
		if c.old == "" {
			tool, input = "write_file", map[string]string{"file_path": "/w/s.js", "content": c.text}
		}
		if got := undrawn(t, tool, input); got != c.want {
			t.Errorf("of %.40q: %s\nwant %s", c.text, got, c.want)
		}
	}
	every := gemini.Driver{}.Undrawn("replace", []byte(`{"file_path":"/w/a.go","old_string":"a","new_string":"b","allow_multiple":true}`), "/w")
	if every != "allow_multiple: true" {
		t.Errorf("of each place: %s", every)
	}
	path := "\u00e4" + strings.Repeat("x", 40)
	for command, want := range map[string]string{
		"ls -l 'a b'\n":         "",
		"echo a: \\ \n  rm b":   "command, line 1: \"echo a: \\\\ \"\ncommand, line 2: \"  rm b\"",
		"cat <<-E\n\tE\nrm b":   "command, line 1: \"cat <<-E\"\ncommand, line 2: \"\\tE\"\ncommand, line 3: \"rm b\"",
		"echo\u00a0# ; rm b":    `command, line 1: "echo\u00a0# ; rm b"`,
		"rm 'a  b'":             `command, line 1: "rm 'a  b'"`,
		"rm " + path + "\u200b": `command, line 1: "rm \u00e4` + path[2:] + `\u200b"`,
	} {
		if got := undrawn(t, "run_shell_command", map[string]string{"command": command}); got != want {
			t.Errorf("of %q: %s\nwant %s", command, got, want)
		}
	}
}

// Lines about the ends of lines.
const (
	ofEdit    = "line ends: CRLF on each line if the file has a CRLF, else LF"
	ofContent = "line ends: CRLF on each line if the file has a CRLF, else as in content"
)

// TestLineEnds: Gemini writes CRLF on each line of a file that has one, and otherwise takes the CRs of an edit away. The text says so where a
// CR changes what a line means, and names no CR of an edit that isn't written.
func TestLineEnds(t *testing.T) {
	for _, c := range []struct{ file, old, text, want string }{
		{"a.js", "x", "a\nb", ""},
		{"a.js", "x", "a \\\nb #", ofEdit},
		{"a.js", "x", "cat <<E\nE", ofEdit},
		{"a.js", "x", "E\r\nb", ofEdit},
		{"a.js", "x", "E\r\r\nb\r", "new_string: \"E\\r\"\nnew_string, lines 1-2: ending with \"\\r\"\n" + ofEdit},
		{"a.js", "", "E\r\n", `new_string, line 1: ending with "\r"`},
		{"a.sh", "x", "cd y", ofEdit},
		{".bashrc", "x", "cd y", ofEdit},
		{"a.sh", "", "cd y", ""},
		{"a.js", "-", "a\nb\n", ""},
		{"a.js", "-", "a \\\nb #\n", ofContent},
		{"a.js", "-", "#!/bin/sh\ncd y\n", ofContent},
		{"Makefile", "-", "a:\n", ofContent},
		{"a.sh", "-", "cd y", ""},
		{"a.sh", "-", "cd y\r\n", `content, line 1: ending with "\r"`},
	} {
		tool, input := "replace", map[string]string{"file_path": "/w/" + c.file, "old_string": c.old, "new_string": c.text}
		if c.old == "-" {
			tool, input = "write_file", map[string]string{"file_path": "/w/" + c.file, "content": c.text}
		}
		if got := undrawn(t, tool, input); got != c.want {
			t.Errorf("of %+q: %s", c, got)
		}
	}
}

func undrawn(t *testing.T, tool string, input map[string]string) string {
	t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return gemini.Driver{}.Undrawn(tool, raw, "/w")
}

// twoLines is the dialog of a command of two lines.
func twoLines(first, second string) []string {
	row := func(s string) string { return "│ " + s + strings.Repeat(" ", 28-len(s)) + " │" }
	edge := strings.Repeat("─", 30)
	return box("? Shell  "+first, "╭"+edge+"╮", row(first), row(second), "╰"+edge+"╯", "Allow execution of [Shell]?", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)")
}

// TestBlanksOfACommand: two commands that are drawn alike have different prompts, and keys answer both.
func TestBlanksOfACommand(t *testing.T) {
	for command, want := range map[string]string{
		"echo a: \\\n  touch b":  "command, line 1: \"echo a: \\\\\"\ncommand, line 2: \"  touch b\"",
		"echo a: \\ \n  touch b": "command, line 1: \"echo a: \\\\ \"\ncommand, line 2: \"  touch b\"",
	} {
		s := tell(t)
		s.begin(1000).at(1100).call("pwd").call(command).at(1200).asks(command).screen(twoLines(`echo a: \`, "  touch b")...).at(3500)
		if p := s.fold.Status().Request; p == nil || text(p.Text) != want || !s.keyed(p.ID) {
			t.Errorf("%q: it asks %+v: %s", command, p, text(p.Text))
		}
		s = tell(t)
		s.begin(1000).at(1100).screen(twoLines(`echo a: \`, "  touch b")...).at(1500).call(command).asks(command).at(4500)
		if p := s.fold.Status().Request; p == nil || text(p.Text) != want || !s.keyed(p.ID) {
			t.Errorf("%q, seen first: it asks %+v: %s", command, p, text(p.Text))
		}
	}
}

// TestBlanksOfTwoFiles: two changes of one file in a turn have blanks that aren't drawn. A key answers each, and its prompt has the lines.
func TestBlanksOfTwoFiles(t *testing.T) {
	const one, two = "if a {\n\tb\n}", "\tc"
	const line1, line2 = `content, line 2: beginning with "\t"`, `content, line 1: beginning with "\t"`
	for _, parallel := range []bool{false, true} {
		s := tell(t)
		s.begin(1000).at(1100).writes("BeforeTool", one)
		if parallel {
			s.writes("BeforeTool", two)
		}
		s.at(1200).asksToWrite(one).screen(written("if a {")...).at(3500)
		if p := s.fold.Status().Request; p == nil || !strings.Contains(text(p.Text), line1) || strings.Contains(text(p.Text), line2) != parallel || !s.keyed(p.ID) {
			t.Fatalf("%v: first it asks %+v: %s", parallel, p, text(p.Text))
		}
		s.accept().at(3600).screen(work...).at(4000).writes("AfterTool", one)
		if !parallel {
			s.hook("PreCompress", `"trigger":"auto"`).at(5000).writes("BeforeTool", two)
		}
		s.at(5100).asksToWrite(two).screen(written("c")...).at(8000)
		if p := s.fold.Status().Request; p == nil || !strings.Contains(text(p.Text), line2) || !s.keyed(p.ID) {
			t.Errorf("%v: then it asks %+v: %s", parallel, p, text(p.Text))
		}
	}
}

// TestEscapesTakenOut: of a model that isn't one of Gemini 2 or 3 Gemini takes escapes out of the text that it writes, after its first
// report. The prompt has the characters that no dialog draws, from the report of the change.
func TestEscapesTakenOut(t *testing.T) {
	const content = `// a\rb` + "\nend\n"
	for adds, want := range map[string]string{
		"+// a\rb\n+end":      `content: "// a\rb"`,
		`+// a\rb` + "\n+end": "",
	} {
		s := tell(t)
		s.begin(1000).at(1100).writes("BeforeTool", content).at(1200).asksToWrite("\n@@ -0,0 +1,2 @@\n" + adds).screen(written("// ab")...).at(3500)
		if p := s.fold.Status().Request; p == nil || !strings.HasPrefix(text(p.Text), want) || want == "" && p.Text != nil || !s.keyed(p.ID) {
			t.Errorf("it asks %+v: %s", p, text(p.Text))
		}
	}
}
