package keys

import "testing"

func TestParsePrefixes(t *testing.T) {
	for s, want := range map[string]string{
		"Ctrl-]": "\x1d", "ctrl-a": "\x01", "Ctrl-B": "\x02", "Ctrl-^": "\x1e", "Ctrl-_": "\x1f", `Ctrl-\`: "\x1c", `Ctrl-] ctrl-\`: "\x1d\x1c",
		"": "", "a": "", "Ctrl-": "", "Ctrl-[": "", "Ctrl-m": "", "Ctrl-i": "", "Ctrl-j": "", "Ctrl-5": "", "Ctrl-@": "", "Alt-x": "", "Ctrl-ab": "",
		"Ctrl-a Ctrl-b Ctrl-c": "", "Ctrl-a Tab": "", "Ctrl-a,Ctrl-b": "",
	} {
		if got, err := ParsePrefixes(s); got != want || (err != nil) != (want == "") {
			t.Errorf("%q: %q %v", s, got, err)
		}
	}
}
