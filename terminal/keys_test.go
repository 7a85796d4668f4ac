package terminal

import (
	"errors"
	"testing"
)

func TestEncodeKey(t *testing.T) {
	legacy := Modes{}
	app := Modes{AppCursor: true}
	kitty := Modes{KittyFlags: 1}
	all := Modes{KittyFlags: 1 | 8 | 16}
	other1, other2 := Modes{ModifyOther: 1}, Modes{ModifyOther: 2}
	for _, c := range []struct {
		name string
		m    Modes
		want string
	}{
		{"Enter", legacy, "\r"}, {"enter", legacy, "\r"}, {"Escape", legacy, "\x1b"}, {"Esc", legacy, "\x1b"},
		{"Enter", Modes{NewLine: true}, "\r\n"}, {"Enter", Modes{NewLine: true, KittyFlags: 1}, "\r"},
		{"Tab", legacy, "\t"}, {"BTab", legacy, "\x1b[Z"}, {"Shift-Tab", legacy, "\x1b[Z"},
		{"Backspace", legacy, "\x7f"}, {"Space", legacy, " "},
		{"Up", legacy, "\x1b[A"}, {"Up", app, "\x1bOA"}, {"Ctrl-Up", app, "\x1b[1;5A"}, {"Shift-Left", legacy, "\x1b[1;2D"},
		{"Home", legacy, "\x1b[H"}, {"End", app, "\x1bOF"}, {"Alt-End", legacy, "\x1b[1;3F"},
		{"PageUp", legacy, "\x1b[5~"}, {"PageDown", legacy, "\x1b[6~"}, {"Ctrl-PageDown", legacy, "\x1b[6;5~"},
		{"Insert", legacy, "\x1b[2~"}, {"Delete", legacy, "\x1b[3~"}, {"Shift-Delete", legacy, "\x1b[3;2~"},
		{"F1", legacy, "\x1bOP"}, {"F4", legacy, "\x1bOS"}, {"F5", legacy, "\x1b[15~"}, {"F12", legacy, "\x1b[24~"},
		{"Shift-F1", legacy, "\x1b[1;2P"}, {"Ctrl-F5", legacy, "\x1b[15;5~"},
		{"Ctrl-c", legacy, "\x03"}, {"Ctrl-C", legacy, "\x03"}, {"C-c", legacy, "\x03"}, {"Ctrl-]", legacy, "\x1d"},
		{"Ctrl-Space", legacy, "\x00"}, {"Ctrl-@", legacy, "\x00"}, {"Ctrl-_", legacy, "\x1f"}, {"Ctrl-/", legacy, "\x1f"},
		{"Ctrl-?", legacy, "\x7f"}, {"Ctrl--", other2, "\x1b[27;5;45~"}, {"Ctrl-[", legacy, "\x1b"},
		{"Alt-x", legacy, "\x1bx"}, {"Alt-Enter", legacy, "\x1b\r"}, {"Ctrl-Alt-a", legacy, "\x1b\x01"},
		{"Alt-Backspace", legacy, "\x1b\x7f"}, {"Ctrl-Backspace", legacy, "\x08"}, {"Shift-Enter", legacy, "\r"},
		{"a", legacy, "a"}, {"-", legacy, "-"}, {"Shift-a", legacy, "A"}, {"\u00e9", legacy, "\u00e9"}, {"Ctrl+x", legacy, "\x18"},
		{"Shift-Enter", other1, "\x1b[27;2;13~"}, {"Ctrl-c", other1, "\x03"}, {"Alt-x", other1, "\x1bx"}, {"Enter", other2, "\r"},
		{"Ctrl-c", other2, "\x1b[27;5;99~"}, {"Alt-x", other2, "\x1b[27;3;120~"}, {"Shift-Tab", other2, "\x1b[Z"},
		{"Enter", kitty, "\r"}, {"Shift-Enter", kitty, "\x1b[13;2u"}, {"Escape", kitty, "\x1b[27u"}, {"Tab", kitty, "\t"},
		{"Shift-Tab", kitty, "\x1b[9;2u"}, {"Ctrl-c", kitty, "\x1b[99;5u"}, {"Ctrl-]", kitty, "\x1b[93;5u"}, {"Alt-x", kitty, "\x1b[120;3u"},
		{"Ctrl-X", kitty, "\x1b[120;6u"}, {"a", kitty, "a"}, {"A", kitty, "A"}, {"Shift-a", kitty, "A"}, {"Space", kitty, " "},
		{"Ctrl-Space", kitty, "\x1b[32;5u"}, {"Backspace", kitty, "\x7f"}, {"Alt-Backspace", kitty, "\x1b[127;3u"},
		{"Up", kitty, "\x1b[A"}, {"Up", Modes{KittyFlags: 1, AppCursor: true}, "\x1b[A"}, {"Ctrl-Up", kitty, "\x1b[1;5A"}, {"F1", kitty, "\x1b[P"}, {"F3", kitty, "\x1b[13~"}, {"Super-a", kitty, "\x1b[97;9u"},
		{"Enter", all, "\x1b[13u"}, {"a", all, "\x1b[97;;97u"}, {"A", all, "\x1b[97;2;65u"}, {"Ctrl-a", all, "\x1b[97;5u"},
	} {
		got, err := EncodeKey(c.name, c.m)
		if err != nil || string(got) != c.want {
			t.Errorf("%s in %+v: %q, %v; want %q", c.name, c.m, got, err, c.want)
		}
	}
	for key, want := range map[string]string{"Enter": "\r", "1": "1", "Space": " ", "Escape": "\x1b[27u", "Up": "\x1b[A", "Ctrl-d": "\x1b[100;5u"} {
		if got, err := EncodeKey(key, Modes{NewLine: true, KittyFlags: 1 | 8 | 16}.ForAnswers(false)); err != nil || string(got) != want {
			t.Errorf("%s of an answer: %q, %v", key, got, err)
		}
	}
	if got, err := EncodeKey("Ctrl-d", Modes{ModifyOther: 2}.ForAnswers(false)); err != nil || string(got) != "\x04" {
		t.Errorf("Ctrl-d of an answer: %q, %v", got, err)
	}
	unknown := Modes{NewLine: true, KittyFlags: 1, ModifyOther: 2, AppCursor: true}.ForAnswers(true)
	for key, want := range map[string]string{"Enter": "\r", "Escape": "\x1b", "Ctrl-u": "\x15", "Up": "\x1bOA"} {
		if got, err := EncodeKey(key, unknown); err != nil || string(got) != want {
			t.Errorf("%s of an answer to a program that may not know the modes: %q, %v", key, got, err)
		}
	}
	for _, name := range []string{"", "Nope", "Ctrl-", "Hyper-x", "ab", "Ctrl-Ctrl", "F13", "\x1b", "Alt-\x00", "Ctrl-\u00e9", "Super-a"} {
		if got, err := EncodeKey(name, legacy); !errors.Is(err, ErrKey) {
			t.Errorf("%q: %q, %v; want ErrKey", name, got, err)
		}
	}
}
