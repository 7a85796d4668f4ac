package gemini_test

import "testing"

// TestShellTakenOff: Gemini takes a shell, and the first and the last quote, off a command after its dialog. The prompt's text has what runs.
func TestShellTakenOff(t *testing.T) {
	const as, read = "run without its shell, as: ", "run without its shell, and maybe with quotes, escapes and variables read by Gemini CLI itself, as: "
	for command, want := range map[string]string{
		"ls":                   "",
		"bash x.sh":            "",
		"bash -n -c 'ls'":      "",
		"echo bash -c 'ls'":    "",
		"ba\u017fh -c 'ls'":    "",
		"bash -c 'ls'":         as + `"ls"`,
		"bash -c ls -l":        as + `"ls -l"`,
		"/bin/SH -c \"ls -l\"": as + `"ls -l"`,
		`bash -c 'echo all is well' '; touch pwned; :'`: as + `"echo all is well' '; touch pwned; :"`,
		`zsh -c "echo a" "; touch pwned; :"`:            read + `"echo a\" \"; touch pwned; :"`,
		`sh -c "echo $HOME"`:                            read + `"echo $HOME"`,
		`sh -C "a" "b"`:                                 as + `"a\" \"b"`,
		`cmd.exe /c "a" "b"`:                            as + `"a\" \"b"`,
		`pwsh -NoProfile -Command 'a' 'b'`:              as + `"a' 'b"`,
		"sh\u00a0-c 'a\u200b'":                          "command, line 1: \"sh\\u00a0-c 'a\\u200b'\"\n" + as + `"a\u200b"`,
	} {
		if got := undrawn(t, "run_shell_command", map[string]string{"command": command}); got != want {
			t.Errorf("of %q: %s\nwant %s", command, got, want)
		}
	}
	const command = "sh -c x"
	s := tell(t)
	s.begin(1000).at(1100).call(command).at(1200).asks(command).screen(confirm(command)...).at(3500)
	if p := s.fold.Status().Request; p == nil || text(p.Text) != as+`"x"` || !s.keyed(p.ID) {
		t.Errorf("it asks %+v", p)
	}
}
