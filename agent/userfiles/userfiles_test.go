package userfiles_test

import (
	"errors"
	"maps"
	"testing"
	"testing/fstest"

	"berth/agent/pattern"
	"berth/agent/userfiles"
)

// TestReadObject: a missing file is empty, and comments can be left out.
func TestReadObject(t *testing.T) {
	disk := fstest.MapFS{"a.json": {Data: []byte("// mine\n{\"x\":1}")}, "bad.json": {Data: []byte("[]")}}
	if got, err := userfiles.ReadObject(disk, "/none.json", nil); err != nil || got == nil || len(got) != 0 {
		t.Errorf("a missing file: %v %v", got, err)
	}
	if got, err := userfiles.ReadObject(disk, "/a.json", pattern.New(`(?m)^//.*$`)); err != nil || len(got) != 1 {
		t.Errorf("a comment: %v %v", got, err)
	}
	for _, file := range []string{"/a.json", "/bad.json"} {
		if _, err := userfiles.ReadObject(disk, file, nil); !errors.Is(err, userfiles.ErrNoObject) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// TestReplace: each text is replaced with its path known, and the settings stay as they are.
func TestReplace(t *testing.T) {
	settings := map[string]any{"a": map[string]any{"key": "secret", "n": 1}, "key": "open"}
	got, ok := userfiles.Replace(settings, func(text string, path []string) string {
		if len(path) == 2 && path[1] == "key" {
			return "hidden"
		}
		return text
	}).(map[string]any)
	inner, _ := got["a"].(map[string]any)
	if !ok || got["key"] != "open" || !maps.Equal(inner, map[string]any{"key": "hidden", "n": 1}) || settings["a"].(map[string]any)["key"] != "secret" {
		t.Errorf("%v of %v", got, settings)
	}
}

// TestHome: the variable names the folder, or it is in the user's home.
func TestHome(t *testing.T) {
	for _, c := range []struct{ variable, want string }{{"", "/home/ann/.a"}, {"/srv/a/", "/srv/a"}} {
		if got := userfiles.Home(map[string]string{"HOME": "/home/ann", "A_HOME": c.variable}, "A_HOME", ".a"); got != c.want {
			t.Errorf("%q: %s, want %s", c.variable, got, c.want)
		}
	}
}
