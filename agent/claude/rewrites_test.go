package claude_test

import (
	"strings"
	"testing"
	"time"

	"berth/agent"
)

// asksToEdit is the dialog of an edit of a.sh with these rows of the change.
func asksToEdit(rows ...string) *agent.Reading {
	dashes := strings.Repeat("╌", 80)
	all := append([]string{strings.Repeat("─", 80), " Edit file", " a.sh", dashes}, rows...)
	return draw(80, 40, strings.Join(append(all, dashes, " Do you want to make this edit to a.sh?", " ❯ 1. Yes",
		"   2. Yes, allow all edits during this session (shift+tab)", "   3. No", "", " Esc to cancel · Tab to amend"), "\n"))
}

// promptOf is the prompt of an edit with that input, which is also on the screen: by its hook, or by keys.
func promptOf(t *testing.T, keys bool, input string, drawn *agent.Reading) *agent.Request {
	t.Helper()
	s := newForgery(t)
	if keys {
		s = newLogged(t)
		s.logsCalls([]string{"Edit", input})
	} else {
		s.asks("Edit", input, "7")
	}
	s.show(drawn)
	s.pass(2 * time.Second)
	all := s.f.Status().Requests
	if len(all) != 1 || !all[0].OnScreen || !keys && all[0].Channel != agent.ChannelHook || keys && !s.keyed(all[0].ID, drawn.Dialog) {
		t.Errorf("%s, keys %v: it asks %d, the first %+v", input, keys, len(all), all[0])
	}
	return all[0]
}

// TestRemovedTextJoinsLines: where a line ends with a text that an edit removes, Claude removes the line's end too. Neither the hook nor
// the dialog says so.
func TestRemovedTextJoinsLines(t *testing.T) {
	const one = "Where a line ends with the removed text, Claude removes the line's end too: the next line joins this one."
	const all = "If a line ends with the removed text, Claude removes it only there, and the line's end with it: the next line joins this one."
	shown := asksToEdit(" 1  #!/bin/bash", " 2 -# signed (WAIT)", " 2 +# signed", " 3  exit 1")
	whole := asksToEdit(" 1  #!/bin/bash", " 2 -# signed (WAIT)", " 3  exit 1")
	more := asksToEdit(" 1  #!/bin/bash", " 2 -# signed (WAIT)", " 2 +# signed (DONE)", " 3  exit 1")
	for _, c := range []struct {
		texts, want string
		drawn       *agent.Reading
	}{
		{`"old_string":" (WAIT)","new_string":"","replace_all":false`, one, shown},
		{`"old_string":" (WAIT)","new_string":"","replace_all":true`, all, shown},
		{`"old_string":"# signed (WAIT)\n","new_string":"","replace_all":false`, "", whole},
		{`"old_string":"WAIT","new_string":"DONE","replace_all":false`, "", more},
	} {
		for _, keys := range []bool{false, true} {
			text := text(promptOf(t, keys, `{"file_path":"/w/a.sh",`+c.texts+`}`, c.drawn).Text)
			if !strings.Contains(text, c.want) || c.want == "" && strings.Contains(text, "removed text") {
				t.Errorf("%s, keys %v: it says %q", c.texts, keys, text)
			}
		}
	}
}

// TestEditIsDecoded: where the file has the old text only without its escapes, Claude writes the new one without them too. One of them can
// be a line's end.
func TestEditIsDecoded(t *testing.T) {
	const line = `If the file has the old text only without its escapes (\uXXXX), Claude writes the new one without them too: `
	drawn := asksToEdit(" 1  #!/bin/bash", " 2 -#A B", " 2 +#A B", " 3 +touch pwned #", " 4  exit 1")
	escaped := asksToEdit(" 1  #!/bin/bash", ` 2 -#\u0041 B`, ` 2 +#\u0041 B\u000atouch pwned #`, " 3  exit 1")
	for _, c := range []struct {
		old, now, want string
		drawn          *agent.Reading
	}{
		{`#\\u0041 B`, `#\\u0041 B\\u000atouch pwned #`, line + `"#A B\ntouch pwned #"`, drawn},
		{`#\\u0041 B`, `#\\u0041 B\\u000atouch pwned #`, line + `"#A B\ntouch pwned #"`, escaped},
		{`\\ud83d\\ude00 \\u00411 x\\\\u0041`, `\\ud83d\\ude00\\u00411\\\\u0041`, line + `"\U0001f600A1\\\\u0041"`, nil},
		{`a\\\\u0041`, `b\\u0041`, "", nil},
		{`a\\u0041`, `b`, "", nil},
		{`a`, `b\\u0041`, "", nil},
	} {
		for _, keys := range []bool{false, true} {
			input := `{"file_path":"/w/a.go","old_string":"` + c.old + `","new_string":"` + c.now + `"}`
			s := newForgery(t)
			s.asks("Edit", input, "7")
			asked := s.f.Status().Request
			if c.drawn != nil {
				input = strings.Replace(input, "a.go", "a.sh", 1)
				asked = promptOf(t, keys, input, c.drawn)
			}
			if said := text(asked.Text); !strings.Contains(said, c.want) || c.want == "" && said != "" {
				t.Errorf("%s, keys %v: it says %q, want %q", input, keys, said, c.want)
			}
		}
	}
}

// TestEditsQuotesCurl: where the file has curly quotes in the place of straight ones, Claude writes the new text's quotes as curly ones,
// which quote nothing. Its dialog draws that, and the hook has the call as it was made.
func TestEditsQuotesCurl(t *testing.T) {
	const line = "If the file has curly quotes where the old text has straight ones, Claude writes the new text's quotes as curly ones."
	const call = `{"file_path":"/w/a.sh","old_string":"echo 'hi'","new_string":"echo 'hi; touch pwned #'"}`
	for _, drawn := range []*agent.Reading{
		asksToEdit(" 1  #!/bin/bash", " 2 -echo ‘hi’", " 2 +echo ‘hi; touch pwned #’"),
		asksToEdit(" 1  #!/bin/bash", " 2 -echo 'hi'", " 2 +echo 'hi; touch pwned #'"),
	} {
		for _, keys := range []bool{false, true} {
			if p := promptOf(t, keys, call, drawn); !strings.Contains(text(p.Text), line) {
				t.Errorf("keys %v: it says %q", keys, text(p.Text))
			}
		}
	}
	for _, c := range []struct{ file, old, now, want string }{
		{"a.yml", `'x'`, `'y'`, line},
		{"a.yml", `x`, `'y'`, ""},
		{"a.yml", `'x'`, `y`, ""},
		{"a.yml", `'x'`, `\"y\"`, ""},
		{"a.yml", `\\u2018x`, `'y'`, line},
		{"a.go", `\"x\"`, `\"y\"`, ""},
		{"a.py", `\"echo 'x'\"`, `\"echo 'y'\"`, line},
		{"a.md", `'x'`, `'y'`, ""},
	} {
		s := newForgery(t)
		s.asks("Edit", `{"file_path":"/w/`+c.file+`","old_string":"`+c.old+`","new_string":"`+c.now+`"}`, "7")
		if p := s.f.Status().Request; text(p.Text) != c.want {
			t.Errorf("%+v: it says %q", c, text(p.Text))
		}
	}
}

// TestNulIsADevice: Claude takes nul for the null device of Windows, on each system. A hook has the command as it was made, and a dialog
// draws it so.
func TestNulIsADevice(t *testing.T) {
	const line = `Claude runs the command with "/dev/null" in place of each "nul" after a ">", also within quotes.`
	for command, want := range map[string]string{
		"tar cf - data >nul && rm -r data": line, "echo 'a 2>> NUL'": "", "echo a &> Nul; ls": line, "ls >nul": line, "ls >null": "", "ls nul": "",
		"cat <a >nul": "", "echo $a >nul": "",
	} {
		input := `{"command":"` + command + `","description":"List"}`
		hooked, logged := newForgery(t), newLogged(t)
		hooked.asks("Bash", input, "7")
		logged.logsCalls([]string{"Bash", input})
		for by, s := range map[string]*forgery{"hook": hooked, "keys": logged} {
			drawn := plainCommand("Bash command", command)
			s.show(drawn)
			s.pass(2 * time.Second)
			all := s.f.Status().Requests
			if p := all[0]; len(all) != 1 || !p.OnScreen || strings.Count(text(p.Text), line) != strings.Count(want, line) || by == "keys" && !s.keyed(p.ID, drawn.Dialog) {
				t.Errorf("%s by %s: it asks %d, the first %+v, %q", command, by, len(all), p, text(p.Text))
			}
		}
	}
}
