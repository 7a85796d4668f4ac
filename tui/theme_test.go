package tui

import "testing"

func TestIsLight(t *testing.T) {
	for reply, want := range map[string][2]bool{
		"]11;rgb:ffff/ffff/ffff": {true, true}, "]11;rgb:00/00/00": {false, true}, "]11;rgb:fd/f6/e3": {true, true},
		"]11;rgb:0000/2b2b/3636": {false, true}, "]11;rgb:x/y/z": {false, false}, "]10;rgb:f/f/f": {false, false}, "]11;rgb:fffff/0/0": {false, false},
	} {
		if light, ok := isLight(reply); light != want[0] || ok != want[1] {
			t.Errorf("%q: %v %v", reply, light, ok)
		}
	}
}
